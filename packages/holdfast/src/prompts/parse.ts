/** What a prompt file says: its front matter, and the text that is sent. */
export interface PromptText {
  readonly description: string;
  /** Names of its arguments, in their order; one that ends in `?` may be left out. */
  readonly arguments: readonly string[];
  readonly body: string;
}

/**
 * Reads a prompt file: Markdown, with `description` and `arguments` between two lines of `---` before it. Other keys are
 * those of other programs and stay unread. Null where the front matter has no end. Pure.
 */
export function parsePrompt(text: string): PromptText | null {
  const lines = text
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  const hasFront = lines[0]?.trim() === "---";
  const end = hasFront ? lines.findIndex((line, index) => index > 0 && line.trim() === "---") : -1;
  if (hasFront && end === -1) return null;
  const front = new Map(lines.slice(1, Math.max(1, end)).flatMap(entryOf));
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  const names = (front.get("arguments") ?? "")
    .replace(/^\[|\]$/g, "")
    .split(/[\s,]+/)
    .map(unquoted);
  return {
    description: front.get("description") ?? body.split("\n", 1)[0] ?? "",
    arguments: names.filter((name) => name !== ""),
    body,
  };
}

function entryOf(line: string): [string, string][] {
  const match = /^([A-Za-z][\w-]*)\s*:\s*(.*)$/.exec(line);
  return match === null ? [] : [[match[1] ?? "", unquoted((match[2] ?? "").trim())]];
}

function unquoted(text: string): string {
  const match = /^(["'])(.*)\1$/.exec(text);
  return match === null ? text : (match[2] ?? "");
}
