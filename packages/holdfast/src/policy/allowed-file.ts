import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RuleData } from "@holdfast/policy/rules/rule-data";
import { renderRule } from "@holdfast/policy/rules/rule-data";
import { ensureHome } from "../config/home.ts";

/** Files of the user's own rules, each `*.toml`. */
export function policyFolder(home: string): string {
  return join(home, "policy");
}

/** Where what a person allowed at a question is kept, for every project: its rules name theirs. */
export function allowedPath(home: string): string {
  return join(policyFolder(home), "allowed.toml");
}

/** Keeps what a person allowed at a question: once, also where the answer is taken in again after a crash. */
export async function keepAllowed(home: string, rule: RuleData): Promise<string> {
  const path = allowedPath(home);
  const kept = await readFile(path, "utf8").catch(() => "");
  return kept.includes(renderRule(rule)) ? path : appendAllowed(home, rule);
}

/**
 * Appends a rule to the file of what the person allowed, just as `renderRule` shows it, and returns the file. One write at
 * the end of the file: of two at once neither is lost. It holds for hosts that are opened later; the session that asked
 * has its answer.
 */
export async function appendAllowed(home: string, rule: RuleData): Promise<string> {
  await ensureHome(home);
  await mkdir(policyFolder(home), { recursive: true, mode: 0o700 });
  const path = allowedPath(home);
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(`\n${renderRule(rule)}`);
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}
