/** The protocol a provider speaks: OpenAI's Responses and Chat Completions, Anthropic's Messages, Google's Gemini. */
export type WireName = "responses" | "chat" | "messages" | "gemini";

/** A provider that is known by name, without any configuration. */
export interface Preset {
  readonly wire: WireName;
  /** The API root, its version included. Null: the person names it. */
  readonly baseUrl: string | null;
  /** Environment variables that may hold the key; the first that is set counts. */
  readonly keyVariables: readonly string[];
  /** Environment variable that names another API root. */
  readonly baseUrlVariable: string | null;
  /** Served on this machine: needs no key and bills nothing. */
  readonly isLocal: boolean;
}

/** Where each server listens when nobody says otherwise: its own documentation. */
const local = (port: number): Preset => ({
  wire: "chat",
  baseUrl: `http://127.0.0.1:${port}/v1`,
  keyVariables: [],
  baseUrlVariable: null,
  isLocal: true,
});

export const presets: Readonly<Record<string, Preset>> = {
  openai: {
    wire: "responses",
    baseUrl: "https://api.openai.com/v1",
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariable: "OPENAI_BASE_URL",
    isLocal: false,
  },
  anthropic: {
    wire: "messages",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    isLocal: false,
  },
  google: {
    wire: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    baseUrlVariable: "GEMINI_BASE_URL",
    isLocal: false,
  },
  openrouter: {
    wire: "chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    baseUrlVariable: null,
    isLocal: false,
  },
  "openai-compatible": {
    wire: "chat",
    baseUrl: null,
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariable: "OPENAI_BASE_URL",
    isLocal: false,
  },
  ollama: local(11434),
  lmstudio: local(1234),
  vllm: local(8000),
  "llama-server": local(8080),
};

/** Hosts that serve nobody without a key, with the vendor whose prices they charge. */
const vendors: Readonly<Record<string, string>> = {
  "api.openai.com": "openai",
  "api.anthropic.com": "anthropic",
  "generativelanguage.googleapis.com": "google",
  "openrouter.ai": "openrouter",
  "api.deepseek.com": "deepseek",
  "api.mistral.ai": "mistral",
  "api.z.ai": "zai",
};

/** Whose price list counts for a provider: its host's, else that of the preset of its name. Null where neither tells. */
export function vendorOf(provider: string, baseUrl: string): string | null {
  const known = vendors[URL.parse(baseUrl)?.hostname ?? ""];
  if (known !== undefined) return known;
  const preset = Object.hasOwn(presets, provider) ? presets[provider] : undefined;
  return preset?.baseUrl != null && !preset.isLocal ? provider : null;
}

/** True for a host that is known to refuse requests without a key. */
export function needsKey(baseUrl: string): boolean {
  return Object.hasOwn(vendors, URL.parse(baseUrl)?.hostname ?? "");
}

/** True where the address is this machine's own: 127.0.0.0/8, `::1` or `localhost`. */
export function isLoopback(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname ?? "";
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
