import { isLoopback, presets } from "@holdfast/models/providers";
import type { Config } from "./config.ts";
import { providerOf, type Env, type Provider } from "./provider.ts";

/** A server of models that answers on this machine. */
export interface LocalServer {
  readonly provider: string;
  readonly baseUrl: string;
  /** Names of its models, as it lists them. */
  readonly models: readonly string[];
}

/** A server of this machine that is up answers within a few milliseconds. */
const answerMs = 300;
/** One that computes at this moment may take longer to tell what it has loaded. */
const askMs = 1_500;
const mostBytes = 512 * 1024;
const mostModels = 100;

/** Which of the local presets answer, all asked at once: who isn't there costs nobody more than 0.3 seconds. */
export async function findLocalServers(config: Config, env: Env): Promise<LocalServer[]> {
  const local = Object.keys(presets).flatMap((name) => {
    const provider = providerOf(name, config, env);
    return provider?.isLocal === true && provider.baseUrl !== null && isLoopback(provider.baseUrl) ? [provider] : [];
  });
  const answers = await Promise.all(local.map(listModels));
  return local.flatMap((provider, index) => {
    const models = answers[index];
    return models == null || provider.baseUrl === null ? [] : [{ provider: provider.name, baseUrl: provider.baseUrl, models }];
  });
}

/** Names of the models that a provider's server lists; null where none answers as such a server does. */
export async function listModels(provider: Provider): Promise<string[] | null> {
  const found = modelsIn(await getJson(`${provider.baseUrl}/models`, provider, answerMs));
  return found === null ? null : found.map(({ id }) => id).slice(0, mostModels);
}

/** Whether nothing listens where a server of this machine should. One that is slow to answer, or answers oddly, is there. */
export async function isAbsent({ baseUrl }: Pick<Provider, "baseUrl">): Promise<boolean> {
  if (baseUrl === null || !isLoopback(baseUrl)) return false;
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(answerMs), redirect: "manual" });
    await response.body?.cancel();
    return false;
  } catch (error) {
    const codes = [error, fieldsOf(error)["cause"]].map((one) => fieldsOf(one)["code"]);
    return codes.includes("ECONNREFUSED");
  }
}

interface Listed {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function modelsIn(answer: unknown): Listed[] | null {
  const data = fieldsOf(answer)["data"];
  if (!Array.isArray(data)) return null;
  return data.flatMap((one: unknown) => {
    const fields = fieldsOf(one);
    const { id } = fields;
    return typeof id === "string" && /^[^\s\p{C}]{1,200}$/u.test(id) ? [{ id, fields }] : [];
  });
}

/**
 * The window that a local server has loaded a model with, in tokens; null where it doesn't tell, or hasn't loaded it yet.
 * Each tells it in its own place: vLLM in its list (`max_model_len`), llama-server at `/props` (`n_ctx` of a slot), LM
 * Studio at `/api/v0/models` (`loaded_context_length`), Ollama at `/api/ps` (`context_length`). Only on this machine.
 */
export async function loadedWindow(provider: Provider, model: string): Promise<number | null> {
  if (provider.baseUrl === null || !isLoopback(provider.baseUrl)) return null;
  const root = provider.baseUrl.replace(/\/v\d+$/, "");
  const get = (url: string) => getJson(url, provider, askMs);
  const [list, props, studio, running] = await Promise.all([
    get(`${provider.baseUrl}/models`),
    get(`${root}/props`),
    get(`${root}/api/v0/models`),
    get(`${root}/api/ps`),
  ]);
  const listed = (modelsIn(list) ?? []).find(({ id }) => id === model)?.fields;
  const loaded = (modelsIn(studio) ?? []).find(({ id }) => id === model)?.fields;
  const processes = fieldsOf(running)["models"];
  const ollama = Array.isArray(processes)
    ? processes.map(fieldsOf).find(({ name }) => name === model || name === `${model}:latest`)
    : undefined;
  return (
    count(listed?.["max_model_len"]) ??
    count(loaded?.["loaded_context_length"]) ??
    count(ollama?.["context_length"]) ??
    count(fieldsOf(fieldsOf(props)["default_generation_settings"])["n_ctx"])
  );
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The JSON at an address; null for anything else: nobody there, an error, a page, too much, too late. */
async function getJson(url: string, { apiKey, headers }: Provider, timeoutMs: number): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const response = await fetch(url, { signal, redirect: "error", headers: { accept: "application/json", ...authorization, ...headers } });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return null;
    }
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > mostBytes) return null;
    }
    return JSON.parse(text);
  } catch {
    return null;
  }
}
