import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { RunFolder } from "./folders.ts";

/**
 * The secrets that a command gets are kept beside its raw output, for as long: who takes the run over after our death may hold
 * other values by then, and has to take these out all the same. Throws where there is no room.
 */
export function noteGiven(folder: RunFolder, environment: Readonly<Record<string, string>>, secrets: readonly string[]): void {
  const held = new Set(secrets);
  const given = Object.values(environment).filter((value) => held.has(value));
  if (given.length > 0) writeFileSync(folder.given, JSON.stringify(given), { mode: 0o600 });
}

/** None where none were given, or they have been taken out. */
export function readGiven(folder: RunFolder): readonly string[] {
  try {
    return JSON.parse(readFileSync(folder.given, "utf8")) as readonly string[];
  } catch {
    return [];
  }
}

/** Of a run that will never start: its secrets, and what its wrapper was to read, which holds them too. */
export function forgetGiven(folder: RunFolder): void {
  const secret = readdirSync(folder.base).filter((name) => name === basename(folder.given) || name.startsWith(request));
  for (const name of secret) rmSync(join(folder.base, name), { force: true });
}

const request = "request.";

/** What a wrapper is to read, as this process's command of this number. */
export function requestPath(folder: RunFolder, number: number): string {
  return join(folder.base, `${request}${process.pid}.${number}`);
}
