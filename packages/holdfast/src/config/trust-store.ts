import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { changeHome } from "./change.ts";
import { writeAtomically } from "./home.ts";

/** Trusted project folders by real path, with when each was trusted (ISO 8601). */
export type TrustStore = Readonly<Record<string, string>>;

export function trustPath(home: string): string {
  return join(home, "trust.json");
}

/**
 * `removed` are folders that were trusted no longer from then on. `origins` says what was in a trusted folder: a digest of
 * the address that its repository came from, "" where it had none. Another repository in its place has other authors.
 */
interface Stored {
  readonly trusted: TrustStore;
  readonly removed: TrustStore;
  readonly origins: TrustStore;
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
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { trusted: {}, removed: {}, origins: {} };
    throw new HoldfastError("config_invalid", `can't read ${path}`, { hint: "check its permissions", cause: error });
  }
  try {
    const parsed = JSON.parse(text) as { version?: unknown; trusted?: unknown; removed?: unknown; origins?: unknown };
    const { trusted, removed = {}, origins = {} } = parsed;
    if (parsed.version === 1 && isStore(trusted) && isStore(removed) && isStore(origins)) return { trusted, removed, origins };
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
  const stored = await readStored(home);
  const real = await realFolder(folder);
  return Object.hasOwn(stored.trusted, real) && (await isSameProject(stored, real));
}

async function isSameProject({ origins }: Stored, real: string): Promise<boolean> {
  return !Object.hasOwn(origins, real) || origins[real] === (await originOf(real));
}

/** "" where there is no repository with a remote `origin` right in the folder. */
async function originOf(real: string): Promise<string> {
  const config = await readFile(join(await gitFolder(real), "config"), "utf8").catch(() => "");
  const url = /^\s*\[remote "origin"\][^[]*?^\s*url\s*=\s*(\S+)\s*$/m.exec(config)?.[1];
  // The address may hold a key.
  return url === undefined ? "" : createHash("sha256").update(url).digest("hex");
}

/** Where git keeps what it knows of this folder: in a linked work tree and a submodule, `.git` is a file that says so. */
async function gitFolder(real: string): Promise<string> {
  const own = join(real, ".git");
  const linked = /^gitdir: (.+)$/m.exec(await readFile(own, "utf8").catch(() => ""))?.[1];
  if (linked === undefined) return own;
  const folder = resolve(real, linked);
  const common = await readFile(join(folder, "commondir"), "utf8").catch(() => ".");
  return resolve(folder, common.trim());
}

export async function trust(home: string, folder: string, at: Date): Promise<string> {
  const real = await realFolder(folder);
  return changeHome(home, async () => {
    const stored = await readStored(home);
    const { trusted } = stored;
    if (Object.hasOwn(trusted, real) && (await isSameProject(stored, real))) return real;
    const { [real]: _, ...removed } = stored.removed;
    const origins = { ...stored.origins, [real]: await originOf(real) };
    await write(home, { trusted: { ...trusted, [real]: at.toISOString() }, removed, origins });
    return real;
  });
}

/** False where it wasn't trusted. A folder that is gone can be removed by the path it had. */
export async function distrust(home: string, folder: string, at: Date): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  return changeHome(home, async () => {
    const { trusted, removed, origins } = await readStored(home);
    const { [real]: found, ...rest } = trusted;
    const { [real]: _, ...others } = origins;
    await write(home, { trusted: rest, removed: { ...removed, [real]: at.toISOString() }, origins: others });
    return found !== undefined;
  });
}

/** Whether trust in it was taken back, and not given again, or another project is there now: it then ends for sessions that began with it, too. */
export async function isDistrusted(home: string, folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => resolve(folder));
  const stored = await readStored(home);
  return Object.hasOwn(stored.removed, real) || !(await isSameProject(stored, real));
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    throw new HoldfastError("workspace_invalid", `there is no folder ${folder}`, { cause: error });
  }
}

async function write(home: string, stored: Stored): Promise<void> {
  await writeAtomically(trustPath(home), `${JSON.stringify({ version: 1, ...stored }, null, 2)}\n`, 0o600);
}
