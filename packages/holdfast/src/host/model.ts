import { readFile } from "node:fs/promises";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Model, SecretStore } from "@holdfast/runtime";
import type { Config } from "../config/config.ts";
import { endpointOf } from "../config/model-choice.ts";

/** Resolves the models of a host: `provider/name` by config and environment, `script:FILE` from the file. */
export function createModels(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  secrets: SecretStore,
): (name: string) => Promise<Model> {
  const models = new Map<string, Promise<Model>>();
  const resolve = async (name: string): Promise<Model> => {
    const models = await import("@holdfast/models");
    if (name.startsWith("script:")) {
      return models.createScriptModel(models.parseScript(await readScript(name.slice("script:".length)), name), {
        id: name,
        isRecording: false,
      });
    }
    const { provider, wire, baseUrl, contextWindow } = endpointOf(name, config, env);
    const settings = { wire, baseUrl, contextWindow, apiKey: async () => (await secrets.get(provider))?.value ?? null };
    return models.createModelResolver({ providers: { [provider]: settings } })(name);
  };
  return (name) => {
    const known = models.get(name) ?? resolve(name);
    models.set(name, known);
    return known;
  };
}

async function readScript(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new HoldfastError("no_model", `can't read the script ${path}`, {
      hint: "--model script:FILE takes a file of scripted answers (YAML or JSON)",
      cause: error,
    });
  }
}
