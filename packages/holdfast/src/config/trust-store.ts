import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { ensureHome, writeAtomically } from "./home.ts";

/** Trusted project folders by real path, with when each was trusted (ISO 8601). */
export type TrustStore = Readonly<Record<string, string>>;

export function trustPath(home: string): string {
  return join(home, "trust.json");
}

/** `removed` are folders that were trusted no longer from then on. */
interface Stored {
  readonly trusted: TrustStore;
  readonly removed: TrustStore;
}

/** Throws `config_invalid` where the file is damaged: guessing here could grant trust. */
export async function readTrust(home: string): Promise<TrustStore> {
  return (await readStored(home)).trusted;
}

async function readStored(home: string): Promise<Stored> {
  const path = trustPath(home);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { trusted: {}, removed: {} };
    throw new HoldfastError("config_invalid", `can't read ${path}`, { hint: "check its permissions", cause: error });
  }
  try {
    const parsed = JSON.parse(text) as { version?: unknown; trusted?: unknown; removed?: unknown };
    const { trusted, removed = {} } = parsed;
    if (parsed.version === 1 && isStore(trusted) && isStore(removed)) return { trusted, removed };
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
  const { trusted, removed } = await readStored(home);
  const { [real]: _, ...others } = removed;
  if (!Object.hasOwn(trusted, real)) await write(home, { trusted: { ...trusted, [real]: at.toISOString() }, removed: others });
  return real;
}

/** False where it wasn't trusted. A folder that is gone can be removed by the path it had. */
export async function distrust(home: string, folder: string, at: Date): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  const { trusted, removed } = await readStored(home);
  const { [real]: found, ...rest } = trusted;
  await write(home, { trusted: rest, removed: { ...removed, [real]: at.toISOString() } });
  return found !== undefined;
}

/** Whether trust in it was taken back, and not given again: it then ends for sessions that began with it, too. */
export async function isDistrusted(home: string, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  return Object.hasOwn((await readStored(home)).removed, real);
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new HoldfastError("workspace_invalid", `there is no folder ${folder}`, { cause: error });
  }
}

async function write(home: string, stored: Stored): Promise<void> {
  await ensureHome(home);
  await writeAtomically(trustPath(home), `${JSON.stringify({ version: 1, ...stored }, null, 2)}\n`, 0o600);
}
