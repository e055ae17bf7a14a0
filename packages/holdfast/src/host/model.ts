import { readFile } from "node:fs/promises";
import { HoldfastError } from "@holdfast/protocol/error";
import { clock } from "@holdfast/node/host/clock";
import type { Model, SecretStore } from "@holdfast/runtime";
import type { Fetch, ResolvedFacts } from "@holdfast/models";
import { isLoopback, vendorOf } from "@holdfast/models/providers";
import type { Config } from "../config/config.ts";
import { loadedWindow } from "../config/local-servers.ts";
import { endpointOf, type Endpoint } from "../config/model-choice.ts";
import type { Env } from "../config/provider.ts";
import { sharingLimit } from "./shared-limit.ts";
import { describeUnknown } from "../render/model-facts.ts";

export interface ModelHost {
  readonly config: Config;
  readonly env: Env;
  readonly secrets: SecretStore;
  /** Told once of each model about which something is not known. */
  readonly onNote: (message: string) => void;
  /** A request is on its way: what comes after the answer can be made ready. */
  readonly onSent: () => void;
  /** The model that plays a recorded session back. */
  readonly replay: (name: string) => Promise<Model>;
}

/**
 * Resolves the models of a host: `provider/name` by config and environment, `script:FILE` from the file, `replay:SESSION`
 * from the store. The same model comes each time, except that a local server is asked again until it has loaded it and says
 * with which window.
 */
export function createModels(host: ModelHost): (name: string) => Promise<Model> {
  const bare = new Map<string, Promise<Model>>();
  const whole = new Map<string, Promise<Model>>();
  const told = new Set<string>();
  const asked = new Map<string, number>();
  let streamFetch: Fetch | undefined;

  const resolve = async (name: string): Promise<Model> => {
    if (name.startsWith("script:")) {
      const [{ createScriptModel }, { parseScript }] = await Promise.all([
        import("@holdfast/models/script/model"),
        import("@holdfast/models/script/parse"),
      ]);
      return createScriptModel(parseScript(await readScript(name.slice("script:".length)), name), { id: name, isRecording: false });
    }
    if (name.startsWith("replay:")) return host.replay(name);
    const { name: provider, wire, baseUrl, headers, isStored, loadsTools } = endpointOf(name, host.config, host.env);
    const { maxOutput, contextWindow, windowFrom } = await factsOf(name, null);
    const apiKey = async () => (await host.secrets.get(provider))?.value ?? null;
    const known = windowFrom === "assumed" ? null : contextWindow;
    const settings = { wire, baseUrl, headers, apiKey, contextWindow: known, maxOutputTokens: maxOutput, isStored, loadsTools };
    const [{ createModelResolver }, { createStreamFetch }] = await Promise.all([
      import("@holdfast/models/resolve"),
      import("@holdfast/node/network/stream"),
    ]);
    const { idleTimeoutMs } = host.config.network;
    streamFetch ??= createStreamFetch(host.onSent);
    return createModelResolver({ providers: { [provider]: settings }, idleTimeoutMs, fetch: streamFetch })(name);
  };
  const factsOf = async (name: string, window: number | null): Promise<ResolvedFacts> => {
    const { resolveFacts } = await import("@holdfast/models/catalog/find");
    return resolveFacts(queryOf(endpointOf(name, host.config, host.env), host.config, window));
  };
  const withKnown = async (name: string): Promise<Model> => {
    const model = await kept(bare, name, () => resolve(name));
    if (name.startsWith("script:") || name.startsWith("replay:")) return model;
    const endpoint = endpointOf(name, host.config, host.env);
    let facts = await factsOf(name, null);
    const times = asked.get(name) ?? 0;
    if (facts.windowFrom === "assumed" && times < mostAsked && isOwnServer(endpoint)) {
      asked.set(name, times + 1);
      facts = await factsOf(name, await loadedWindow(endpoint, endpoint.model));
      // Once it is loaded its window is known.
      if (facts.windowFrom === "assumed") whole.delete(name);
    }
    const unknown = describeUnknown(name, facts);
    if (unknown !== null && !told.has(name)) host.onNote(unknown);
    told.add(name);
    return sharingLimit((await import("@holdfast/models/priced")).withFacts(model, facts), hostOf(endpoint), clock);
  };
  return (name) => kept(whole, name, () => withKnown(name));
}

function hostOf({ baseUrl }: Endpoint): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

/** Samplings before which a server that doesn't tell its window is asked for it. */
const mostAsked = 3;

/** One on this machine that loads each model with a window of its own choice; no proxy to a vendor. */
function isOwnServer({ name, baseUrl }: Endpoint): boolean {
  return isLoopback(baseUrl) && vendorOf(name, baseUrl) === null;
}

/** What resolves the facts of a model: its place, and what the person says of it. */
export function queryOf(endpoint: Endpoint, config: Config, window: number | null) {
  const { name: provider, model: name, baseUrl, contextWindow } = endpoint;
  const full = `${provider}/${name}`;
  const override = Object.hasOwn(config.modelFacts, full) ? config.modelFacts[full] : undefined;
  return { provider, name, baseUrl, override, providerWindow: contextWindow, loadedWindow: window };
}

/** One that failed is asked for anew. */
function kept(map: Map<string, Promise<Model>>, name: string, make: () => Promise<Model>): Promise<Model> {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  made.catch(() => map.delete(name));
  return made;
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
