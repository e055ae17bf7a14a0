import type { FilePart } from "../parts.ts";

/** Tests that stand inside a source file, in a block of their own. */
const starts: readonly { readonly files: RegExp; readonly start: RegExp }[] = [
  { files: /\.rs$/, start: /#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{/g },
  { files: /\.[cm]?[jt]sx?$/, start: /\bif\s*\(\s*import\.meta\.vitest\s*\)\s*\{/g },
];

/** The inline tests of a file as a part that can be put back; null where its language has none. */
export function inlineTests(path: string): FilePart | null {
  const start = starts.find(({ files }) => files.test(path))?.start;
  if (start === undefined) return null;
  return {
    read: (text) =>
      blocksIn(text, start)
        .map(([from, to]) => text.slice(from, to))
        .join("\n"),
    restore(later, earlier) {
      const old = earlier === null ? [] : blocksIn(earlier, start).map(([from, to]) => earlier.slice(from, to));
      let rest = "";
      let at = 0;
      for (const [index, [from, to]] of blocksIn(later, start).entries()) {
        rest += later.slice(at, from) + (old[index] ?? "");
        at = to;
      }
      const placed = blocksIn(later, start).length;
      return [rest + later.slice(at), ...old.slice(placed)].join("\n");
    },
  };
}

/** From the start of each block to its closing brace; braces in texts, characters and comments don't count. */
function blocksIn(text: string, start: RegExp): (readonly [from: number, to: number])[] {
  const blocks: (readonly [number, number])[] = [];
  for (const match of text.matchAll(start)) {
    const last = blocks.at(-1);
    if (last !== undefined && match.index < last[1]) continue;
    blocks.push([match.index, endOf(text, match.index + match[0].length)]);
  }
  return blocks;
}

const skipped =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|r(#+)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|`(?:\\[\s\S]|[^`\\])*`|'(?:\\[^\n]{1,8}|[^'\\\n])'|[{}]/g;

function endOf(text: string, from: number): number {
  let depth = 1;
  skipped.lastIndex = from;
  for (let found = skipped.exec(text); found !== null; found = skipped.exec(text)) {
    if (found[0] === "{") depth += 1;
    else if (found[0] === "}" && (depth -= 1) === 0) return found.index + 1;
  }
  return text.length;
}
