import { type HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Config } from "./config.ts";
import { chooseModel, isPlayed } from "./model-choice.ts";
import type { Env } from "./provider.ts";
import { addressProblem, providerOf, unknownProvider } from "./provider.ts";
import type { Problem, Setting } from "./settings.ts";
import { whereOf } from "./settings.ts";

/**
 * What a session would refuse of a config that was read without a mistake: providers without an address that can be used, and
 * models of no provider. That a key is missing is no mistake of the config.
 */
export function unusable(config: Config, settings: readonly Setting[], env: Env, cwd: string): Problem[] {
  const told = new Set<string>();
  return settings.flatMap(({ path, value, source }) => {
    const [table = "", name = ""] = path;
    if (path.length !== 2 || (table !== "providers" && table !== "models")) return [];
    const provider = table === "providers" ? name : null;
    const wrong = refusal(() =>
      provider === null ? modelProblem(String(value), config, env, cwd) : providerProblem(provider, config, env),
    );
    if (wrong === null || told.has(wrong.message)) return [];
    told.add(wrong.message);
    const hint = wrong.hint === undefined ? {} : { hint: wrong.hint };
    return [{ severity: "error" as const, where: whereOf(source), message: wrong.message, ...hint }];
  });
}

function providerProblem(name: string, config: Config, env: Env): HoldfastError | null {
  const provider = providerOf(name, config, env);
  return provider === null ? null : addressProblem(provider);
}

function modelProblem(model: string, config: Config, env: Env, cwd: string): HoldfastError | null {
  if (isPlayed(chooseModel(model, config, env, cwd))) return null;
  const [name = ""] = model.split("/");
  return providerOf(name, config, env) === null ? unknownProvider(model, config) : providerProblem(name, config, env);
}

function refusal(judge: () => HoldfastError | null): HoldfastError | null {
  try {
    return judge();
  } catch (error) {
    if (isHoldfastError(error)) return error;
    throw error;
  }
}
