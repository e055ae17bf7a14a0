import type { ModelSurvey, SurveyedModel, SurveyedProvider } from "../session/models.ts";
import { pad, table, wrap } from "./layout.ts";
import { describePrices } from "./model-facts.ts";
import { count } from "./numbers.ts";
import { sanitizeLine } from "./sanitize.ts";
import type { Style } from "./style.ts";

/** The survey as a person reads it: who can be used, then their models, then which model does what. */
export function renderModels(survey: ModelSurvey, showsAll: boolean, style: Style, width: number): string[] {
  const room = Math.max(60, width);
  const shown = survey.providers.filter((provider) => (showsAll || provider.isUsable) && provider.models.length > 0);
  return [
    ...survey.providers.flatMap((provider) => renderProvider(provider, style, room)),
    ...(shown.length === 0
      ? []
      : [
          "",
          ...renderTable(
            shown.flatMap(({ models }) => models),
            room,
          ),
        ]),
    ...(shown.length === 0
      ? []
      : wrap(`US dollars per million tokens: input / cached input / output, as of ${survey.pricesAsOf}`, room).map(style.dim)),
    "",
    ...renderRoles(survey),
  ];
}

function renderProvider(surveyed: SurveyedProvider, style: Style, width: number): string[] {
  const { provider, isUsable, problem, hint, baseUrl, wire, key, keyFrom } = surveyed;
  const held = key === "present" ? `key from ${keyFrom.join(", ")}` : key === "missing" ? "no key" : "needs no key";
  const place = baseUrl === null ? "no base URL" : `${baseUrl} · ${wire} · ${held}`;
  // The variable that a key is missing from is named already.
  const wrong = [problem, key === "missing" ? null : hint].filter((part) => part !== null).join(": ");
  const text = sanitizeLine(isUsable || wrong === "" ? place : wrong);
  return wrap(text, width - 23).map((line, index) =>
    index === 0
      ? `${(isUsable ? style.good : style.dim)(pad(isUsable ? "ok" : "-", 3))} ${pad(sanitizeLine(provider), 18)} ${line}`
      : `${" ".repeat(23)}${line}`,
  );
}

function renderTable(models: readonly SurveyedModel[], width: number): string[] {
  const rows = models.map((one) => [
    sanitizeLine(one.model),
    `${count(one.contextWindow)}${one.windowFrom === "assumed" ? " assumed" : ""}`,
    describePrices(one),
  ]);
  return table([["model", "window", "price"], ...rows], width);
}

function renderRoles({ main, roles }: ModelSurvey): string[] {
  const own = Object.entries(roles).filter(([role, model]) => role !== "main" && model !== null && model !== main);
  return [
    main === null
      ? "no model by default: name one with --model, or as main under [models] in config.toml"
      : `main     ${sanitizeLine(main)}`,
    ...own.map(([role, model]) => `${pad(role, 8)} ${sanitizeLine(model ?? "")}`),
  ];
}
