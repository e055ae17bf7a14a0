import type { McpServerConfig } from "./config.ts";

/** Whether a tool's own name is among patterns in which `*` stands for any text. */
export function isNamed(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => matches(pattern, tool));
}

/** Whether the config lets a tool be offered at all. */
export function isPicked({ tools, disabledTools }: McpServerConfig, tool: string): boolean {
  return (tools === null || isNamed(tools, tool)) && !isNamed(disabledTools, tool);
}

function matches(pattern: string, text: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  if (parts.length === 0) return pattern === text;
  const last = parts.pop()!;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}
