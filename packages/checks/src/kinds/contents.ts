import type { CheckFiles, ManifestEntry, Observer, PieceReader } from "@holdfast/runtime";
import { lineChanges, splitLines } from "@holdfast/runtime/lines";
import { countSecrets } from "./secrets.ts";

/** Larger contents are counted and looked through piece by piece; as a text they are not read. */
const mostBytes = 16 * 1024 * 1024;
/** Where both sides have more lines, all of them count as replaced. */
const mostCompared = 100_000;

/** What a file holds. */
export interface Content {
  /** Null where it is too large. */
  readonly text: string | null;
  readonly lines: number;
  readonly secrets: number;
  /** Whether it is no text, as far as its beginning tells. */
  readonly isBinary: boolean;
}

/** Of a file that is not there. */
const nothing: Content = { text: "", lines: 0, secrets: 0, isBinary: false };

/** What changed files held and hold. */
export interface Contents {
  /** All paths in scope, before or now. */
  readonly paths: readonly string[];
  /** Null where something is there, and can't be read. */
  before(path: string): Promise<Content | null>;
  after(path: string): Promise<Content | null>;
}

export async function openContents(files: Observer & CheckFiles, before: string, after: string): Promise<Contents> {
  const [old, now] = [await files.list(before), await files.list(after)];
  const hasRoots = new Set([...old, ...now].map(({ root }) => root)).size > 1;
  // As changes name them.
  const named = (entries: readonly ManifestEntry[]): ReadonlyMap<string, ManifestEntry> =>
    new Map(entries.map((entry) => [hasRoots ? `${entry.root}:${entry.path}` : entry.path, entry]));
  const reading = (manifest: string, entries: ReadonlyMap<string, ManifestEntry>) => async (path: string) => {
    const entry = entries.get(path);
    // What a submodule holds is in a repository of its own.
    return entry === undefined || entry.kind === "submodule" ? nothing : files.look(manifest, entry, () => readContent(entry.size));
  };
  const [olds, nows] = [named(old), named(now)];
  return { paths: [...new Set([...olds.keys(), ...nows.keys()])], before: reading(before, olds), after: reading(after, nows) };
}

function readContent(size: number): PieceReader<Content> {
  const decoder = new TextDecoder();
  const secrets = countSecrets();
  const parts: string[] = [];
  let [lines, last, isBinary, isFirst] = [0, "\n", false, true];
  const take = (text: string): void => {
    if (text === "") return;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
    last = text.at(-1) ?? last;
    secrets.take(text);
    if (size <= mostBytes) parts.push(text);
  };
  return {
    take(piece) {
      if (isFirst) isBinary = piece.subarray(0, 8_000).includes(0);
      isFirst = false;
      take(decoder.decode(piece, { stream: true }));
    },
    end() {
      take(decoder.decode());
      const all = lines + (last === "\n" ? 0 : 1);
      return { text: size <= mostBytes ? parts.join("") : null, lines: all, secrets: secrets.end(), isBinary };
    },
  };
}

/** How many lines came and went. Of large contents all count as replaced: which of them stay is not looked for. */
export function changedLines(was: Content, is: Content): number {
  if (was.text === null || is.text === null || Math.min(was.lines, is.lines) > mostCompared) return was.lines + is.lines;
  const changes = lineChanges(splitLines(was.text), splitLines(is.text));
  return changes.reduce((sum, { oldStart, oldEnd, newStart, newEnd }) => sum + oldEnd - oldStart + newEnd - newStart, 0);
}
