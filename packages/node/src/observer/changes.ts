import type { FileChange } from "@holdfast/protocol";
import type { Contents } from "./content.ts";
import { lineChanges, splitLines } from "@holdfast/runtime/lines";
import { linePath } from "@holdfast/runtime/paths/quoted";
import type { FileRecord, Manifest } from "./manifest.ts";

/** Line counts are worked out for this many files, and for texts up to this size. */
const mostCounted = 400;
const largestText = 1024 * 1024;
const contextLines = 3;

interface Pair {
  readonly path: string;
  readonly before: FileRecord | null;
  readonly after: FileRecord | null;
}

/** `qualified` names a file by root id and path where there are several roots. */
export function pairsOf(before: Manifest, after: Manifest): Pair[] {
  const roots = new Set([...before.records, ...after.records].map((record) => record.root));
  const name = (record: FileRecord): string => (roots.size > 1 ? `${record.root}:${record.path}` : record.path);
  const old = new Map(before.records.map((record) => [name(record), record]));
  const pairs: Pair[] = [];
  for (const record of after.records) {
    const path = name(record);
    const earlier = old.get(path) ?? null;
    old.delete(path);
    if (earlier === null || earlier.digest !== record.digest || earlier.kind !== record.kind)
      pairs.push({ path, before: earlier, after: record });
  }
  for (const [path, record] of old) pairs.push({ path, before: record, after: null });
  return pairs.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export async function fileChanges(contents: Contents, before: Manifest, after: Manifest): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const pair of pairsOf(before, after)) {
    const change = pair.before === null ? "added" : pair.after === null ? "deleted" : "modified";
    const texts = changes.length < mostCounted ? await textsOf(contents, pair) : null;
    const counts = texts === null ? { added: null, removed: null } : countLines(texts.old, texts.next);
    changes.push({ path: pair.path, change, ...counts });
  }
  const repositories = repositoryChanges(before, after);
  return repositories.length === 0 ? changes : [...changes, ...repositories].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Repositories below a root that came or went: what git keeps in them is no file of the workspace. */
function repositoryChanges(before: Manifest, after: Manifest): FileChange[] {
  const isNamed = new Set([...Object.keys(before.rules), ...Object.keys(after.rules)]).size > 1;
  const placesIn = ({ rules }: Manifest): ReadonlySet<string> =>
    new Set(
      Object.entries(rules).flatMap(([root, repositories]) =>
        Object.keys(repositories).flatMap((folder) => (folder === "" ? [] : [`${isNamed ? `${root}:` : ""}${folder}/.git`])),
      ),
    );
  const [old, now] = [placesIn(before), placesIn(after)];
  const told = (path: string, change: FileChange["change"]): FileChange => ({ path, change, added: 0, removed: 0 });
  return [
    ...[...now].filter((path) => !old.has(path)).map((path) => told(path, "added")),
    ...[...old].filter((path) => !now.has(path)).map((path) => told(path, "deleted")),
  ];
}

export async function fileDiff(contents: Contents, before: Manifest, after: Manifest, path: string): Promise<string | null> {
  const pair = pairsOf(before, after).find((candidate) => candidate.path === path);
  if (pair === undefined) return "";
  const name = linePath(path);
  const head = [`--- ${pair.before === null ? "/dev/null" : `a/${name}`}`, `+++ ${pair.after === null ? "/dev/null" : `b/${name}`}`];
  const modes =
    pair.before !== null && pair.after !== null && pair.before.kind !== pair.after.kind ? [`${pair.before.kind} → ${pair.after.kind}`] : [];
  const [old, next] = [await bytesOf(contents, pair.before), await bytesOf(contents, pair.after)];
  if (old === null || next === null) return null;
  if (isBinary(old) || isBinary(next)) return [...modes, ...head, "Binary files differ", ""].join("\n");
  return [...modes, ...head, ...hunks(decode(old), decode(next))].join("\n") + "\n";
}

/** Unified hunks between two contents; null where one of them is no text, or too large. */
export function textDiff(old: Uint8Array, next: Uint8Array): string[] | null {
  if (Math.max(old.length, next.length) > largestText || isBinary(old) || isBinary(next)) return null;
  return hunks(decode(old), decode(next));
}

async function textsOf(contents: Contents, pair: Pair): Promise<{ old: string; next: string } | null> {
  if ((pair.before?.size ?? 0) > largestText || (pair.after?.size ?? 0) > largestText) return null;
  const [old, next] = [await bytesOf(contents, pair.before), await bytesOf(contents, pair.after)];
  if (old === null || next === null || isBinary(old) || isBinary(next)) return null;
  return { old: decode(old), next: decode(next) };
}

async function bytesOf(contents: Contents, record: FileRecord | null): Promise<Uint8Array | null> {
  return record === null ? new Uint8Array() : contents.read(record);
}

function countLines(old: string, next: string): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const change of lineChanges(splitLines(old), splitLines(next))) {
    added += change.newEnd - change.newStart;
    removed += change.oldEnd - change.oldStart;
  }
  return { added, removed };
}

/** Unified hunks with three lines of context. */
function hunks(old: string, next: string): string[] {
  const [a, b] = [splitLines(old), splitLines(next)];
  const changes = lineChanges(a, b);
  const out: string[] = [];
  for (let first = 0; first < changes.length;) {
    let last = first;
    while (last + 1 < changes.length && (changes[last + 1]?.oldStart ?? 0) - (changes[last]?.oldEnd ?? 0) <= 2 * contextLines) last += 1;
    const group = changes.slice(first, last + 1);
    const [start, end] = [group[0], group.at(-1)];
    if (start === undefined || end === undefined) break;
    const from = Math.max(0, start.oldStart - contextLines);
    const to = Math.min(a.length, end.oldEnd + contextLines);
    const newFrom = start.newStart - (start.oldStart - from);
    const newTo = end.newEnd + (to - end.oldEnd);
    out.push(`@@ -${range(from, to)} +${range(newFrom, newTo)} @@`);
    let line = from;
    for (const change of group) {
      for (; line < change.oldStart; line += 1) push(out, " ", a[line]);
      for (; line < change.oldEnd; line += 1) push(out, "-", a[line]);
      for (let added = change.newStart; added < change.newEnd; added += 1) push(out, "+", b[added]);
    }
    for (; line < to; line += 1) push(out, " ", a[line]);
    first = last + 1;
  }
  return out;
}

function range(from: number, to: number): string {
  const count = to - from;
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`;
}

function push(out: string[], sign: string, line = ""): void {
  if (line.endsWith("\n")) out.push(sign + line.slice(0, -1));
  else out.push(sign + line, "\\ No newline at end of file");
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
