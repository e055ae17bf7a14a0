import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const page = join(import.meta.dirname, "../../../docs/durability.md");

/** Parts of docs/durability.md that are made from what tests have seen. */
export const sections = ["sessions", "edits", "commands"] as const;
export type Section = (typeof sections)[number];

function partOf(text: string, section: Section): { readonly start: number; readonly end: number } {
  const opening = `<!-- begin: ${section}, made by npm run durability -->\n\n`;
  const start = text.indexOf(opening) + opening.length;
  const end = text.indexOf(`\n\n<!-- end: ${section} -->`);
  if (start < opening.length || end < start) throw new Error(`${page} has no part ${section}`);
  return { start, end };
}

export function generatedIn(section: Section): string {
  const text = readFileSync(page, "utf8");
  const { start, end } = partOf(text, section);
  return text.slice(start, end);
}

export function writeSection(section: Section, content: string): void {
  const text = readFileSync(page, "utf8");
  const { start, end } = partOf(text, section);
  writeFileSync(page, text.slice(0, start) + content + text.slice(end));
}
