import type { Offer } from "@holdfast/protocol";

const words: Readonly<Record<string, string>> = {
  command: "commands that begin with",
  tool: "the tool",
  read: "reading",
  write: "changing",
  host: "requests to",
  mcp: "the MCP tool",
  fact: "what is",
  network: "reaching",
  writable: "with writing in",
  secret: "with the secret",
  project: "in the project",
};

/** What a rule that is offered covers, in one line. Not yet sanitized. */
export function describeOffer({ rule }: Pick<Offer, "rule">): string {
  const data = new Map(Object.entries(rule ?? {}));
  const exact = data.get("match") === "exact" ? { ...words, command: "the command" } : words;
  const parts = Object.entries(exact).flatMap(([key, word]) => {
    const value = listOf(data.get(key));
    return value === "" ? [] : [`${word} ${value}`];
  });
  const clean = data.get("untrusted_content") === false ? ["while nothing untrusted was read"] : [];
  return [...parts, ...clean].join(", ");
}

function listOf(value: unknown): string {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string").join(", ");
}
