import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Env } from "../config/provider.ts";

const run = promisify(execFile);
const longestMs = 60_000;

export interface Refreshed {
  readonly value: string;
  readonly expiresAt: number | null;
}

/**
 * A new value from a command of the user's config. It puts out the value alone, or JSON with `value` and `expires_at` (an
 * ISO time, or seconds since 1970); without that it holds for `lifetimeMs`. Null where it fails.
 */
export async function refreshSecret(command: string, env: Env, lifetimeMs: number | null, now: number): Promise<Refreshed | null> {
  const { stdout } = await run("/bin/sh", ["-c", command], { env: { ...env }, timeout: longestMs, maxBuffer: 1024 * 1024 }).catch(() => ({
    stdout: "",
  }));
  const text = stdout.trim();
  if (text === "") return null;
  const parsed = parse(text);
  const ends = lifetimeMs === null ? null : now + lifetimeMs;
  return parsed === null ? { value: text, expiresAt: ends } : { value: parsed.value, expiresAt: parsed.expiresAt ?? ends };
}

function parse(text: string): Refreshed | null {
  if (!text.startsWith("{")) return null;
  try {
    const found = JSON.parse(text) as { readonly value?: unknown; readonly expires_at?: unknown };
    if (typeof found.value !== "string" || found.value === "") return null;
    const at = typeof found.expires_at === "number" ? found.expires_at * 1000 : Date.parse(String(found.expires_at));
    return { value: found.value, expiresAt: Number.isFinite(at) ? at : null };
  } catch {
    return null;
  }
}
