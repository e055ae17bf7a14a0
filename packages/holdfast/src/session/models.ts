import type { Prices, ResolvedFacts } from "@holdfast/models";
import { isLoopback, vendorOf } from "@holdfast/models/providers";
import { showUrls } from "@holdfast/runtime/show-url";
import type { Config } from "../config/config.ts";
import { listModels, loadedWindow } from "../config/local-servers.ts";
import { modelForRole, type Role } from "../config/model-choice.ts";
import { problemOf, providerNames, providerOf, type Env, type Provider } from "../config/provider.ts";
import { queryOf } from "../host/model.ts";

export interface SurveyedModel {
  /** `provider/name`, as `--model` takes it. */
  readonly model: string;
  readonly contextWindow: number;
  readonly windowFrom: ResolvedFacts["windowFrom"];
  readonly maxOutput: number | null;
  /** US dollars per million tokens; null where they are not known. */
  readonly prices: Prices | null;
  readonly longPrompt: ResolvedFacts["longPrompt"];
}

export interface SurveyedProvider {
  readonly provider: string;
  readonly isUsable: boolean;
  /** What is missing; null where nothing is known to be. */
  readonly problem: string | null;
  /** What to do about it. */
  readonly hint: string | null;
  readonly wire: string;
  readonly baseUrl: string | null;
  /** `keyFrom`: the variables that hold the key or could. Keys themselves are never shown. */
  readonly key: "present" | "missing" | "not needed";
  readonly keyFrom: readonly string[];
  /** Whether its server answers; null where nobody asked, as it is not on this machine. */
  readonly isReachable: boolean | null;
  readonly models: readonly SurveyedModel[];
}

export interface ModelSurvey {
  readonly type: "models";
  /** The model that is used where none is named; null where there is none. */
  readonly main: string | null;
  readonly roles: Readonly<Record<Role, string | null>>;
  /** The date of the price list. */
  readonly pricesAsOf: string;
  readonly providers: readonly SurveyedProvider[];
}

const roles: readonly Role[] = ["main", "compact", "review", "judge", "child"];

/** What can be used here and why not. Only this machine is asked anything. */
export async function surveyModels(config: Config, env: Env): Promise<ModelSurvey> {
  const { factsDate } = await import("@holdfast/models/catalog/table");
  const all = providerNames(config).flatMap((name) => {
    const provider = providerOf(name, config, env);
    return provider === null ? [] : [provider];
  });
  const main = config.model ?? null;
  return {
    type: "models",
    main,
    roles: Object.fromEntries(
      roles.map((role) => [role, main === null ? (config.models[role] ?? null) : modelForRole(role, config, main)]),
    ) as Record<Role, string | null>,
    pricesAsOf: factsDate,
    providers: await Promise.all(all.map((provider) => survey(provider, config))),
  };
}

async function survey(provider: Provider, config: Config): Promise<SurveyedProvider> {
  const { name, baseUrl, apiKey, keyFrom, wire } = provider;
  const wrong = problemOf(provider);
  const isHere = baseUrl !== null && isLoopback(baseUrl);
  const served = isHere && wrong === null ? await listModels(provider) : null;
  const isReachable = isHere ? served !== null : null;
  const away =
    isReachable === false ? (provider.isLocal ? "its server does not run" : "nothing answers there as a model server does") : null;
  return {
    provider: name,
    isUsable: wrong === null && (isReachable ?? true),
    problem: wrong === null ? away : wrong.message,
    hint: wrong?.hint ?? null,
    wire,
    baseUrl: baseUrl === null ? null : showUrls(baseUrl),
    key: apiKey !== null ? "present" : provider.needsKey ? "missing" : "not needed",
    keyFrom,
    isReachable,
    models: await modelsOf(provider, served ?? [], config),
  };
}

/** What its server lists, what the price list knows, and what the person's configuration describes. */
async function modelsOf(provider: Provider, served: readonly string[], config: Config): Promise<SurveyedModel[]> {
  const { name, baseUrl } = provider;
  if (baseUrl === null) return [];
  const [{ table }, { resolveFacts }] = await Promise.all([
    import("@holdfast/models/catalog/table"),
    import("@holdfast/models/catalog/find"),
  ]);
  const vendor = vendorOf(name, baseUrl);
  const listed = served.length > 0 || vendor === null || !Object.hasOwn(table, vendor) ? [] : [...(table[vendor]?.keys() ?? [])];
  const described = Object.keys(config.modelFacts).flatMap((full) => (full.startsWith(`${name}/`) ? [full.slice(name.length + 1)] : []));
  return Promise.all(
    [...new Set([...served, ...listed, ...described])].map(async (model) => {
      const window = served.includes(model) && vendor === null ? await loadedWindow(provider, model) : null;
      const { contextWindow, windowFrom, maxOutput, prices, longPrompt } = resolveFacts(
        queryOf({ ...provider, baseUrl, model }, config, window),
      );
      return { model: `${name}/${model}`, contextWindow, windowFrom, maxOutput, prices, longPrompt };
    }),
  );
}
