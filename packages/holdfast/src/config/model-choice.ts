import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Config } from "./config.ts";
import type { LocalServer } from "./local-servers.ts";
import { preparedProviders, problemOf, providerOf, unknownProvider, type Env, type Provider } from "./provider.ts";

/** Where a model's requests go. */
export interface Endpoint extends Provider {
  readonly baseUrl: string;
  /** The provider's own name of the model. */
  readonly model: string;
}

/** What a model is used for. */
export type Role = keyof Config["models"];

/**
 * The model of a role: its own, else the main one, which a flag may have named. So a role is never without a model while
 * the session has one.
 */
export function modelForRole(role: Role, config: Config, main: string): string {
  return (role === "main" ? undefined : config.models[role]) ?? main;
}

/** Models that no server serves: a script from a file, a recorded session that is played back. */
export function isPlayed(model: string): boolean {
  return model.startsWith("script:") || model.startsWith("replay:");
}

/**
 * The model a session starts with: the flag, else the config's. There is no silent default, not even where one local
 * server has one model: which model runs, and what it costs, is the person's choice. Throws `no_model` with the ways to go
 * on, `found` among them.
 */
export function chooseModel(flag: string | undefined, config: Config, env: Env, cwd: string, found: readonly LocalServer[] = []): string {
  const chosen = flag ?? config.model;
  if (chosen === undefined) throw noModel(config, env, found);
  for (const [kind, what] of [
    ["script:", "FILE"],
    ["replay:", "SESSION"],
  ] as const) {
    if (!chosen.startsWith(kind)) continue;
    const rest = chosen.slice(kind.length);
    if (rest === "") throw new HoldfastError("usage", `${kind} names no ${what.toLowerCase()}`, { hint: `write --model ${kind}${what}` });
    return kind === "script:" ? `script:${resolve(cwd, rest)}` : chosen;
  }
  if (!/^[^/\s]+\/\S+$/.test(chosen)) {
    throw new HoldfastError("usage", `${JSON.stringify(chosen)} is not a model`, {
      hint: "a model is written PROVIDER/NAME (anthropic/NAME, openai/NAME, ollama/NAME …), script:FILE or replay:SESSION; holdfast models lists what can be used",
    });
  }
  return chosen;
}

function noModel(config: Config, env: Env, found: readonly LocalServer[]): HoldfastError {
  const prepared = preparedProviders(config, env);
  const here = found.flatMap(({ provider, models }) =>
    models.map((model) => `  ${provider.padEnd(14)} holdfast exec --model ${provider}/${model} "…"`),
  );
  const served = here.length === 0 ? [] : ["served on this machine:", ...here];
  if (prepared.length === 0) {
    return new HoldfastError("no_model", "no model was named, and there is no key for one", { hint: [...served, ...waysOn].join("\n") });
  }
  const names = prepared.map(({ name }) => `--model ${name}/NAME`);
  const hint = [
    `name one: ${names.join(", ")}  (holdfast models lists them)`,
    'or put main = "PROVIDER/NAME" under [models] in config.toml',
  ];
  return new HoldfastError("no_model", "no model was named", { hint: [...hint, ...served].join("\n") });
}

/** Ways to go on without a key, from the quickest. */
const waysOn = [
  "ways to go on:",
  "  a key          export OPENAI_API_KEY=…, ANTHROPIC_API_KEY=… or GEMINI_API_KEY=…  and  --model openai/NAME, anthropic/NAME or google/NAME",
  "  a base URL     export OPENAI_BASE_URL=https://…/v1  and  --model openai-compatible/NAME",
  "  a local server --model ollama/NAME, lmstudio/NAME, vllm/NAME or llama-server/NAME once it runs",
  "  the demo       holdfast demo  (scripted model, no key)",
];

/** Resolves `provider/name` to where it is served. Throws `no_model` for an unknown provider or a missing key. */
export function endpointOf(model: string, config: Config, env: Env): Endpoint {
  const slash = model.indexOf("/");
  const name = model.slice(0, slash);
  const own = model.slice(slash + 1);
  const provider = providerOf(name, config, env);
  if (provider === null) throw unknownProvider(model, config);
  const problem = problemOf(provider);
  if (problem !== null || provider.baseUrl === null) throw problem ?? new HoldfastError("no_model", `${name} can't be used`);
  return { ...provider, baseUrl: provider.baseUrl, model: own };
}
