import { HoldfastError } from "@holdfast/protocol/error";
import type { Model } from "@holdfast/runtime";
import { createHttpModel, type Fetch } from "./http-model.ts";
import { needsKey, presets, vendorOf, type WireName } from "./providers.ts";
import { createScriptModel } from "./script/model.ts";
import type { Script, ScriptFunction } from "./script/script.ts";
import { loadWire } from "./wires.ts";

/** A provider as the host's configuration describes it. */
export interface ProviderSettings {
  readonly wire: WireName;
  /**
   * The API root. For `responses` and `chat` as it is (it already holds `/v1` where there is one); for the others with or
   * without the version. Empty or left out: the preset's, for those that have one.
   */
  readonly baseUrl?: string | null;
  /** Asked at each sampling. Null where there is none: local servers need none. */
  readonly apiKey: () => Promise<string | null>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contextWindow?: number | null;
  /** Most tokens an answer may have, for wires that must name a number; their own default where it is left out. */
  readonly maxOutputTokens?: number | null;
  /** The provider may keep requests and answers, so that a request needs only what is new (`responses`). Default false. */
  readonly isStored?: boolean;
  /** Its models load found tools in its own way (`responses`). Default false. */
  readonly loadsTools?: boolean;
}

export interface ModelResolverOptions {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Scripts by the name behind `script/`; a host that reads them from files gives a function. */
  readonly scripts?: Readonly<Record<string, ScriptSource>> | ((name: string) => Promise<ScriptSource | null>);
  readonly fetch?: Fetch;
  readonly idleTimeoutMs?: number;
}
export type ScriptSource = Script | ScriptFunction;

/**
 * Resolves `provider/name` to a model, the same one each time: what it keeps of a session's encoding lives with it.
 * Throws `no_model` for a name that leads nowhere, listing what is known, and where a provider that wants a key has none;
 * `config_invalid` for a provider without a usable base URL.
 */
export function createModelResolver(options: ModelResolverOptions): (name: string) => Promise<Model> {
  const models = new Map<string, Model>();

  async function resolve(full: string): Promise<Model> {
    const slash = full.indexOf("/");
    const provider = full.slice(0, slash);
    const name = full.slice(slash + 1);
    if (slash <= 0 || name === "") throw unknown(`${JSON.stringify(full)} is no model: a model is named provider/name`, options);
    if (provider === "script" && options.scripts !== undefined) return scripted(full, name, options);
    const settings = Object.hasOwn(options.providers, provider) ? options.providers[provider] : undefined;
    if (settings === undefined) throw unknown(`there is no provider ${JSON.stringify(provider)}`, options);
    return overHttp(full, provider, name, settings, options);
  }
  return async (full) => {
    const known = models.get(full);
    if (known !== undefined) return known;
    const model = await resolve(full);
    // Two that asked at once get one model.
    const winner = models.get(full) ?? model;
    models.set(full, winner);
    return winner;
  };
}

async function overHttp(
  id: string,
  provider: string,
  model: string,
  settings: ProviderSettings,
  options: ModelResolverOptions,
): Promise<Model> {
  const given = settings.baseUrl?.trim() ?? "";
  const baseUrl = given === "" ? ownBaseUrl(provider) : given;
  if (baseUrl === null) {
    throw new HoldfastError("config_invalid", `the provider ${provider} has no base URL`, {
      hint: "Set OPENAI_BASE_URL, or base_url of the provider in the configuration, to the server's API root, such as http://localhost:11434/v1.",
    });
  }
  if (needsKey(baseUrl) && !(await settings.apiKey())?.trim()) {
    const { keyVariables = [], baseUrlVariable = null } = presets[vendorOf(provider, baseUrl) ?? ""] ?? {};
    const elsewhere = baseUrlVariable === null ? "" : `, or ${baseUrlVariable} to a server that needs no key`;
    throw new HoldfastError("no_model", `there is no key for ${new URL(baseUrl).host}, which ${id} needs`, {
      ...(keyVariables[0] === undefined ? {} : { hint: `Set ${keyVariables[0]}${elsewhere}.` }),
    });
  }
  const wire = (await loadWire(settings.wire))(
    { provider, model },
    { maxOutputTokens: settings.maxOutputTokens ?? null, isStored: settings.isStored ?? false, loadsTools: settings.loadsTools ?? false },
  );
  return createHttpModel(wire, {
    id,
    baseUrl,
    apiKey: settings.apiKey,
    contextWindow: settings.contextWindow ?? null,
    ...(settings.headers === undefined ? {} : { headers: settings.headers }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }),
  });
}

async function scripted(id: string, name: string, options: ModelResolverOptions): Promise<Model> {
  const { scripts } = options;
  const source =
    typeof scripts === "function" ? await scripts(name) : scripts !== undefined && Object.hasOwn(scripts, name) ? scripts[name] : null;
  if (source === null || source === undefined) throw unknown(`there is no script ${JSON.stringify(name)}`, options);
  return createScriptModel(source, { id, isRecording: false });
}

function unknown(problem: string, options: ModelResolverOptions): HoldfastError {
  const names = Object.keys(options.providers).map((name) => `${name}/NAME`);
  if (typeof options.scripts === "function") names.push("script/NAME");
  else names.push(...Object.keys(options.scripts ?? {}).map((name) => `script/${name}`));
  const list = names.length === 0 ? "none" : names.join(", ");
  return new HoldfastError("no_model", `${problem}; known: ${list}`, { hint: "Name one with --model, such as openai/gpt-5." });
}

function ownBaseUrl(provider: string): string | null {
  return (Object.hasOwn(presets, provider) ? presets[provider] : undefined)?.baseUrl ?? null;
}
