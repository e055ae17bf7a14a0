import { join } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import { readForeign } from "../mcp/formats.ts";
import type { Table } from "./kinds.ts";
import type { Problem, Setting } from "./settings.ts";
import { problemText, readSettings } from "./settings.ts";
import { readConfigText } from "./toml-file.ts";

export function mcpJsonPath(project: string): string {
  return join(project, ".mcp.json");
}

/** What was said about a project's `.mcp.json` when its config was read: the servers that are left out, and why. */
export function mcpJsonNotes(problems: readonly Problem[], project: string): string[] {
  return problems.filter(({ where }) => where === mcpJsonPath(project)).map(problemText);
}

/**
 * The servers of a trusted project's `.mcp.json` as settings of the project's. What a project may not say (headers, the
 * user's environment), and names that its own config has (`taken`), are left out, with a note. What can't be read is one, too:
 * the file is for many programs, and none of them should stop at it.
 */
export async function readMcpJson(
  project: string,
  taken: ReadonlySet<string>,
  top: Table,
  problems: Problem[],
): Promise<readonly Setting[]> {
  const where = mcpJsonPath(project);
  const note = (message: string, hint?: string): void => {
    problems.push({ severity: "note", where, message, ...(hint === undefined ? {} : { hint }) });
  };
  let text: string | null;
  try {
    text = await readConfigText(where, project);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    note(`ignored: ${error.message}`, error.hint);
    return [];
  }
  if (text === null) return [];
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    note("ignored: it is not valid JSON");
    return [];
  }
  const { servers, skipped } = readForeign(tree, null);
  for (const { name, why } of skipped) note(`${name} is left out: ${why}`);
  const settings: Setting[] = [];
  for (const { name, entry } of servers.filter((one) => !taken.has(one.name))) {
    const read = readSettings({ mcp: { [name]: entry } }, top, () => ({ layer: "project", name: where, line: null, profile: null }));
    const [wrong] = read.problems;
    if (/\$\{/.test(JSON.stringify(entry)) || "headers" in entry) {
      note(`${name} is left out: it wants values from your environment, or headers`, "take it over with holdfast mcp import .mcp.json");
    } else if (wrong !== undefined) note(`${name} is left out: ${wrong.message}`);
    else settings.push(...read.settings);
  }
  return settings;
}
