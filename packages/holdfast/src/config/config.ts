import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { nearest } from "../cli/nearest.ts";
import type { WrittenLimits } from "./limits.ts";
import { parseDuration } from "./limits.ts";

export interface ProviderConfig {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly apiKeyEnv?: string;
  readonly wire?: "responses" | "chat";
  readonly contextWindow?: number;
}

export interface Config {
  readonly model?: string;
  readonly effort?: string;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly limits: WrittenLimits;
}

const noConfig: Config = { providers: {}, limits: {} };

export function configPath(home: string): string {
  return join(home, "config.toml");
}

/** Reads `config.toml`; without one everything is at its default. Throws `config_invalid` with file, line and nearest key. */
export async function readConfig(home: string): Promise<Config> {
  const path = configPath(home);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return noConfig;
    throw new HoldfastError("config_invalid", `can't read ${path}`, { hint: "check its permissions", cause: error });
  }
  return parseConfig(text, path);
}

type Kind = "string" | "count" | "money" | "duration" | "table" | readonly string[];

const topKeys: Record<string, Kind> = { model: "string", effort: "string", providers: "table", limits: "table" };
const providerKeys: Record<string, Kind> = {
  base_url: "string",
  api_key: "string",
  api_key_env: "string",
  wire: ["responses", "chat"],
  context_window: "count",
};
const limitKeys: Record<string, Kind> = {
  preset: ["default", "strict"],
  max_steps: "count",
  max_tool_calls: "count",
  max_tokens: "count",
  max_cost: "money",
  timeout: "duration",
};

/** Pure: the meaning of a config file's text. `path` is for the errors. */
export async function parseConfig(text: string, path: string): Promise<Config> {
  const toml = await import("smol-toml");
  let parsed: unknown;
  try {
    parsed = toml.parse(text);
  } catch (error) {
    // The library's message repeats the line, which may hold a key: only the place is taken from it.
    const line = error instanceof toml.TomlError ? error.line : 1;
    throw new HoldfastError("config_invalid", `${path}:${line}: this is not valid TOML`, { hint: "see https://toml.io for the syntax" });
  }
  const where = (keys: readonly string[]) => `${path}:${lineOf(text, keys)}`;
  const top = readTable(parsed, topKeys, [], where);
  const providers: Record<string, ProviderConfig> = {};
  for (const [name, value] of Object.entries((top["providers"] ?? {}) as Record<string, unknown>)) {
    const at = ["providers", name];
    const provider = readTable(value, providerKeys, at, where);
    if (provider["api_key"] !== undefined && provider["api_key_env"] !== undefined) {
      throw new HoldfastError("config_invalid", `${where([...at, "api_key_env"])}: api_key and api_key_env are both set`, {
        hint: "keep one of them",
      });
    }
    const baseUrl = provider["base_url"] as string | undefined;
    if (baseUrl !== undefined && !/^https?:\/\//.test(baseUrl)) {
      throw new HoldfastError("config_invalid", `${where([...at, "base_url"])}: base_url is not an http(s) URL`, {
        hint: 'for instance base_url = "http://127.0.0.1:11434/v1"',
      });
    }
    providers[name] = defined({
      baseUrl,
      apiKey: provider["api_key"] as string | undefined,
      apiKeyEnv: provider["api_key_env"] as string | undefined,
      wire: provider["wire"] as "responses" | "chat" | undefined,
      contextWindow: provider["context_window"] as number | undefined,
    });
  }
  const limits = readTable(top["limits"] ?? {}, limitKeys, ["limits"], where);
  return {
    ...defined({ model: top["model"] as string | undefined, effort: top["effort"] as string | undefined }),
    providers,
    limits: defined({
      preset: limits["preset"] as "default" | "strict" | undefined,
      maxSteps: limits["max_steps"] as number | undefined,
      maxToolCalls: limits["max_tool_calls"] as number | undefined,
      maxTokens: limits["max_tokens"] as number | undefined,
      maxCost: limits["max_cost"] as number | undefined,
      timeoutMs: limits["timeout"] === undefined ? undefined : (parseDuration(String(limits["timeout"])) ?? undefined),
    }),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function readTable(
  value: unknown,
  known: Readonly<Record<string, Kind>>,
  at: readonly string[],
  where: (keys: readonly string[]) => string,
): Record<string, unknown> {
  if (!isTable(value)) {
    throw new HoldfastError("config_invalid", `${where(at)}: ${at.join(".")} is not a table`, { hint: `write [${at.join(".")}]` });
  }
  for (const [key, found] of Object.entries(value)) {
    const kind = known[key];
    const keys = [...at, key];
    if (kind === undefined) {
      const close = nearest(key, Object.keys(known));
      throw new HoldfastError(
        "config_invalid",
        `${where(keys)}: unknown key ${JSON.stringify(key)}${at.length === 0 ? "" : ` in [${at.join(".")}]`}`,
        {
          hint: close === null ? `known keys: ${Object.keys(known).join(", ")}` : `did you mean ${close}?`,
        },
      );
    }
    const wanted = mismatch(found, kind);
    if (wanted !== null) throw new HoldfastError("config_invalid", `${where(keys)}: ${key} is not ${wanted}`);
  }
  return value;
}

/** What was wanted, where the value isn't it. The value itself is never shown: it may be a key. */
function mismatch(value: unknown, kind: Kind): string | null {
  if (typeof kind !== "string") return kind.includes(value as string) ? null : `one of ${kind.join(", ")}`;
  switch (kind) {
    case "string":
      return typeof value === "string" && value !== "" ? null : "a non-empty string";
    case "count":
      return Number.isSafeInteger(value) && (value as number) > 0 ? null : "a whole number above 0";
    case "money":
      return typeof value === "number" && value > 0 ? null : "an amount in US dollars above 0";
    case "duration":
      return parseDuration(String(value)) === null ? 'a time such as 90, "30m" or "2h"' : null;
    case "table":
      return isTable(value) ? null : "a table";
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The line that sets a key, or opens its table; 1 where neither can be told from the text. */
function lineOf(text: string, keys: readonly string[]): number {
  let table: readonly string[] = [];
  let tableLine = 1;
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?/.exec(line);
    if (header !== null) {
      table = splitKey(header[1] ?? "");
      if (startsWith(keys, table)) tableLine = index + 1;
      if (startsWith(table, keys)) return index + 1;
      continue;
    }
    const key = /^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(line);
    if (key !== null && startsWith([...table, ...splitKey(key[1] ?? "")], keys)) return index + 1;
  }
  return tableLine;
}

function splitKey(dotted: string): string[] {
  return (dotted.match(/"[^"]*"|'[^']*'|[^.\s]+/g) ?? []).map((part) => part.replace(/^["']|["']$/g, ""));
}

function startsWith(long: readonly string[], short: readonly string[]): boolean {
  return short.length <= long.length && short.every((part, index) => part === long[index]);
}
