import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RuleData } from "@holdfast/policy/rules/rule-data";
import { renderRule } from "@holdfast/policy/rules/rule-data";
import { changeHome } from "../config/change.ts";
import { writeAtomically } from "../config/home.ts";

/** Files of the user's own rules, each `*.toml`. */
export function policyFolder(home: string): string {
  return join(home, "policy");
}

/** Where what a person allowed at a question is kept, for every project: its rules name theirs. */
export function allowedPath(home: string): string {
  return join(policyFolder(home), "allowed.toml");
}

/** Keeps what a person allowed at a question: once, also where the answer is taken in again after a crash. */
export function keepAllowed(home: string, rule: RuleData): Promise<string> {
  return changeHome(home, async () => {
    const kept = await readAllowed(home);
    return kept.includes(renderRule(rule)) ? allowedPath(home) : append(home, kept, rule);
  });
}

/**
 * Appends a rule to the file of what the person allowed, just as `renderRule` shows it, and returns the file. It holds for
 * hosts that are opened later; the session that asked has its answer.
 */
export function appendAllowed(home: string, rule: RuleData): Promise<string> {
  return changeHome(home, async () => append(home, await readAllowed(home), rule));
}

async function append(home: string, kept: string, rule: RuleData): Promise<string> {
  await mkdir(policyFolder(home), { recursive: true, mode: 0o700 });
  const path = allowedPath(home);
  await writeAtomically(path, `${kept}\n${renderRule(rule)}`, 0o600);
  return path;
}

async function readAllowed(home: string): Promise<string> {
  return readFile(allowedPath(home), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}
