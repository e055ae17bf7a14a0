import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { ensureHome, writeAtomically } from "./home.ts";

/** Trusted project folders by real path, with when each was trusted (ISO 8601). */
export type TrustStore = Readonly<Record<string, string>>;

export function trustPath(home: string): string {
  return join(home, "trust.json");
}

/** Throws `config_invalid` where the file is damaged: guessing here could grant trust. */
export async function readTrust(home: string): Promise<TrustStore> {
  const path = trustPath(home);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new HoldfastError("config_invalid", `can't read ${path}`, { hint: "check its permissions", cause: error });
  }
  try {
    const parsed = JSON.parse(text) as { version?: unknown; trusted?: unknown };
    if (parsed.version === 1 && isStore(parsed.trusted)) return parsed.trusted;
  } catch {
    // Told below, as any other content that isn't a trust store.
  }
  throw new HoldfastError("config_invalid", `${path} is damaged`, { hint: "delete it and trust your projects again with holdfast trust" });
}

function isStore(value: unknown): value is TrustStore {
  return typeof value === "object" && value !== null && Object.values(value).every((at) => typeof at === "string");
}

/** Exactly this folder: a project inside a trusted one (a dependency, a clone) has its own authors. */
export async function isTrusted(home: string, folder: string): Promise<boolean> {
  const store = await readTrust(home);
  return Object.hasOwn(store, await realFolder(folder));
}

export async function trust(home: string, folder: string, at: Date): Promise<string> {
  const real = await realFolder(folder);
  const store = await readTrust(home);
  if (!Object.hasOwn(store, real)) await write(home, { ...store, [real]: at.toISOString() });
  return real;
}

/** False where it wasn't trusted. A folder that is gone can be removed by the path it had. */
export async function distrust(home: string, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  const { [real]: found, ...rest } = await readTrust(home);
  if (found === undefined) return false;
  await write(home, rest);
  return true;
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new HoldfastError("workspace_invalid", `there is no folder ${folder}`, { cause: error });
  }
}

async function write(home: string, trusted: TrustStore): Promise<void> {
  await ensureHome(home);
  await writeAtomically(trustPath(home), `${JSON.stringify({ version: 1, trusted }, null, 2)}\n`, 0o600);
}
