import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Keyring } from "@holdfast/node/secrets/keyring";
import type { KeptSecrets } from "@holdfast/node/secrets/kept-file";
import type { Io } from "../cli/io.ts";
import { homeFolder, writeAtomically } from "../config/home.ts";
import type { Env } from "../config/provider.ts";

/** Values that `holdfast secrets` keeps: 0600, in a folder that no command sees. */
export function secretsPath(home: string): string {
  return join(home, "secrets.json");
}

/** The machine's keyring; its program is looked for outside of this folder. */
export async function openKeyring(env: Env, cwd: string): Promise<Keyring | null> {
  const [{ findKeyring }, { outerPath }] = await Promise.all([
    import("@holdfast/node/secrets/keyring"),
    import("@holdfast/node/sandbox/programs"),
  ]);
  return findKeyring({ platform: process.platform, path: outerPath(env["PATH"], [cwd]), env });
}

export async function readKeptSecrets(home: string): Promise<KeptSecrets> {
  const path = secretsPath(home);
  return existsSync(path) ? (await import("@holdfast/node/secrets/kept-file")).readKept(path) : {};
}

export async function writeKept(home: string, secrets: KeptSecrets): Promise<void> {
  const { keptText } = await import("@holdfast/node/secrets/kept-file");
  await writeAtomically(secretsPath(home), keptText(secrets), 0o600);
}

/**
 * The process with the secrets that are kept for it: each stands in for the environment variable of its name, where that
 * isn't set. One that has ended doesn't. Every value is hidden from now on.
 */
export async function withKeptSecrets(io: Io): Promise<Io> {
  const home = homeFolder(io.env, io.cwd);
  if (!existsSync(secretsPath(home))) return io;
  const wanted = Object.entries(await readKeptSecrets(home)).filter(
    ([name, { expiresAt }]) => !io.env[name] && (expiresAt === null || expiresAt > Date.now()),
  );
  const keyring = wanted.some(([, kept]) => kept.in === "keyring") ? await openKeyring(io.env, io.cwd) : null;
  const found = await Promise.all(
    wanted.map(async ([name, kept]): Promise<[string, string] | null> => {
      const value = kept.in === "file" ? kept.value : await keyring?.get(name);
      return value === undefined || value === null ? null : [name, value];
    }),
  );
  const values = found.filter((one) => one !== null);
  io.hide(values.map(([, value]) => value));
  return { ...io, env: { ...io.env, ...Object.fromEntries(values) } };
}
