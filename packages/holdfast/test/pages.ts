import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const repository = join(import.meta.dirname, "../../..");

/** A fenced block of a page. */
export interface Fence {
  /** `docs/ci.md:12`, the line of its first fence. */
  readonly at: string;
  readonly tag: string;
  readonly body: string;
  /** The paragraph right before it. */
  readonly before: string;
}

export interface Page {
  readonly name: string;
  readonly text: string;
  readonly fences: readonly Fence[];
  /** The text without its fenced blocks. */
  readonly prose: string;
}

/** README.md and the pages of docs/, without the decisions, which are history. */
export const pages: readonly Page[] = ["README.md", ...globSync("docs/*.md", { cwd: repository }).sort()].map((name) => {
  const text = readFileSync(join(repository, name), "utf8");
  const fence = /^```([^\n]*)\n(.*?)^```$/gms;
  return {
    name,
    text,
    prose: text.replace(fence, ""),
    fences: [...text.matchAll(fence)].map((match) => {
      const above = text.slice(0, match.index);
      return {
        at: `${name}:${above.split("\n").length}`,
        tag: match[1] ?? "",
        body: match[2] ?? "",
        before: above.trimEnd().split("\n\n").at(-1) ?? "",
      };
    }),
  };
});

export function fencesTagged(tag: string): Fence[] {
  return pages.flatMap((page) => page.fences.filter((fence) => fence.tag === tag));
}

/** A command of an `sh` fence: usually a line; with its continuations or its here-document, more. */
export interface ShownCommand {
  readonly text: string;
  /** What the page promises, as `# exits N`; null where it says nothing. */
  readonly exits: number | null;
}

export function commandsOf({ body }: Fence): ShownCommand[] {
  const commands: ShownCommand[] = [];
  const lines = body.split("\n");
  while (lines.length > 0) {
    let text = lines.shift() ?? "";
    if (/^\s*(#|$)/.test(text)) continue;
    while (text.endsWith("\\")) text += `\n${lines.shift() ?? ""}`;
    const end = /<<-?\s*'?"?(\w+)/.exec(text)?.[1];
    while (end !== undefined && text.split("\n").at(-1) !== end && lines.length > 0) text += `\n${lines.shift()}`;
    const exits = /#.*\bexits (\d+)/.exec(text)?.[1];
    commands.push({ text, exits: exits === undefined ? null : Number(exits) });
  }
  return commands;
}
