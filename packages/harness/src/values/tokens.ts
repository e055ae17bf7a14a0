import { wordsOf } from "../discovery/words.ts";

/** What was found in a chunk of text; most come again and again. Emptied when full. */
const known = new Map<string, Chunk>();
const mostKnown = 20_000;

/**
 * What of a text can be asked for: each identifier as a whole (`amber-otter-worker`), without its marks (`sha-256`: sha256), and
 * the stems of its words.
 */
export function tokensOf(text: string): Set<string> {
  const tokens = new Set<string>();
  for (const { whole, words } of chunksOf(text)) {
    for (const token of whole) tokens.add(token);
    for (const token of words) tokens.add(token);
  }
  return tokens;
}

/** What stands between spaces and marks: as a whole where it is an identifier, and as the stems of its words. */
export interface Chunk {
  readonly whole: readonly string[];
  readonly words: readonly string[];
}

export function chunksOf(text: string): Chunk[] {
  return text.split(/[\s"'`()[\]{}<>,;=|/:\\]+/).map((chunk) => {
    let found = known.get(chunk);
    if (found === undefined) {
      if (known.size >= mostKnown) known.clear();
      known.set(chunk, (found = read(chunk)));
    }
    return found;
  });
}

function read(chunk: string): Chunk {
  const piece = chunk.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
  if (piece === "") return { whole: [], words: [] };
  const words = wordsOf(chunk);
  if (!/[-_.\d]/.test(piece)) return { whole: [], words };
  const [head = ""] = piece.split(".");
  const bare = piece.replaceAll(/[-_.]/g, "");
  const whole = [
    piece,
    ...(head !== piece && head.length > 2 ? [head] : []),
    ...(bare !== piece && bare.length <= longestBare ? [bare] : []),
  ];
  return { whole, words: words.filter((word) => !whole.includes(word)) };
}

const longestBare = 24;
