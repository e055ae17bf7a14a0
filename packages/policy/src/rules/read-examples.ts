import type { RuleExample } from "./rule.ts";
import { isTable, type Wrong } from "./problem.ts";

const shapes: readonly (readonly string[])[] = [["tool", "path"], ["tool", "method", "host"], ["mcp"]];
const hint =
  'write "COMMAND", { tool = "read_file", path = "…" }, { tool = "http_request", method = "POST", host = "HOST:PORT" } or { mcp = "SERVER/TOOL" }';

/** Calls to try a rule with. */
export function readExamples(value: unknown, path: readonly string[], wrong: Wrong): readonly RuleExample[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    wrong(path, `${path.at(-1)} is not a list of calls`, { hint });
    return [];
  }
  return value.flatMap((one: unknown, index): RuleExample[] => {
    if (typeof one === "string" && one !== "") return [one];
    if (isTable(one) && Object.values(one).every((part) => typeof part === "string")) {
      const keys = Object.keys(one);
      if (shapes.some((shape) => shape.length === keys.length && shape.every((key) => keys.includes(key))))
        return [one as unknown as RuleExample];
    }
    wrong([...path, String(index)], "this is no call", { hint });
    return [];
  });
}
