import { relative, sep } from "node:path";
import { lstat, realpath } from "node:fs/promises";
import { compileGlob, globBase } from "@holdfast/runtime/paths/glob";
import type { Found, ListedFile, SearchHit, SearchQuery } from "@holdfast/runtime/ports/files";
import { contains } from "../sandbox/mounts.ts";
import { lookAt } from "./missing.ts";
import { ripgrep } from "./ripgrep.ts";
import { openStart, type SearchStart } from "./search-start.ts";

/** Bytes of a line that ripgrep prints; the rest is replaced by its own mark. */
const maxLine = 1000;

/** Of more than these files it is only said that there are many. */
const mostLeftOut = 1000;

/** What the searches of a workspace have in common. */
export interface SearchPlaces {
  readonly roots: readonly { readonly path: string }[];
  /** Real paths whose content is never shown, at the time of asking. */
  hidden(): readonly string[];
}

/** `path` is absolute and real. Results are absolute, the newest change first. Throws `file_missing` and `file_unreadable`. */
export async function glob(
  pattern: string,
  path: string,
  limit: number,
  places: SearchPlaces,
): Promise<{ paths: string[]; truncated: boolean }> {
  return names([pattern], path, limit, places, ["--sortr", "modified"]);
}

/** The same files in order of path. One that goes meanwhile is left out. */
export async function list(
  pattern: string,
  path: string,
  limit: number,
  places: SearchPlaces,
): Promise<{ files: ListedFile[]; truncated: boolean }> {
  const { paths, truncated } = await names([pattern], path, limit, places, ["--sort", "path"]);
  const files = await Promise.all(
    paths.map(async (each) => {
      const found = await lstat(each).catch(() => null);
      return found === null ? [] : [{ path: each, size: found.size }];
    }),
  );
  return { files: files.flat(), truncated };
}

async function names(
  globs: readonly string[],
  path: string,
  limit: number,
  places: SearchPlaces,
  order: readonly string[],
  isMeant: (path: string) => boolean = () => true,
): Promise<{ paths: string[]; truncated: boolean }> {
  const wanted = filter(globs, path, places.hidden());
  const paths: string[] = [];
  const at = await start(globs, path);
  const from = openStart(at);
  const args = ["--files", ...order, ...ignoreRules(at, places), "--", from.argument];
  let truncated = false;
  const take = (record: string): boolean => {
    const found = from.pathOf(record);
    if (!wanted(found) || !isMeant(found)) return true;
    truncated = paths.length === limit;
    if (!truncated) paths.push(found);
    return !truncated;
  };
  const isWhole = await ripgrep(args, from, "\0", take, new AbortController().signal).finally(from.close);
  return { paths, truncated: truncated || !isWhole };
}

/** Hits in order of path and line; `limit` counts matches, not the context around them. Throws as `glob`. */
export async function search(query: SearchQuery, signal: AbortSignal, places: SearchPlaces): Promise<Found> {
  const { leaveOut = () => false } = query;
  const wanted = filter(query.glob, query.path, places.hidden());
  const hits: SearchHit[] = [];
  let matches = 0;
  let truncated = false;
  const at = await start(query.glob, query.path);
  const from = openStart(at);
  const take = (record: string): boolean => {
    const parsed = parse(record, from);
    if (parsed === null || !wanted(parsed.path) || leaveOut(parsed.path)) return true;
    if (!parsed.isContext && matches++ === query.limit) truncated = true;
    if (!truncated) hits.push(parsed);
    return !truncated;
  };
  const args = [
    ...["--line-number", "--with-filename", "--no-heading", "--sort", "path", "--engine", "auto", "--no-context-separator"],
    ...["--max-columns", String(maxLine), "--max-columns-preview"],
    ...(query.isRegex ? [] : ["--fixed-strings"]),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(/\n|\\n/.test(query.pattern) ? ["--multiline"] : []),
    ...(query.context > 0 ? ["--context", String(query.context)] : []),
    ...byName(query.glob),
    ...ignoreRules(at, places),
    ...["--regexp", query.pattern, "--", from.argument],
  ];
  const isWhole = await ripgrep(args, from, "\0\n", take, signal).finally(from.close);
  // Looked for by name: a count of those with a match would tell what is in them.
  const out =
    query.leaveOut === undefined || signal.aborted ? [] : (await names(query.glob, query.path, mostLeftOut, places, [], leaveOut)).paths;
  return { hits, truncated: truncated || !isWhole, leftOut: out.length };
}

/** `path NUL line : text`, or `-` instead of the colon for context. Without a NUL it is a remark of ripgrep's, at the end. */
function parse(record: string, from: SearchStart): SearchHit | null {
  const found = /^([^\0]*)\0(\d+)([:-])(.*)$/s.exec(record);
  if (found === null) return null;
  const [, said = "", line, mark, text = ""] = found;
  const path = pathIn(said, from);
  return path === null ? null : { path, line: Number(line), text: text.replace(/\r$/, ""), isContext: mark === "-" };
}

/** A remark on a binary file has a line of its own, in the same words as a name may have: that of a file which is there counts. */
const remark = /: (?:WARNING: stopped searching binary file after match|binary file matches) \(found .* byte around offset \d+\)\n/g;

/** Of any name below a folder, as systems have it. */
const longestPath = 4096;

function pathIn(said: string, from: SearchStart): string | null {
  const begins = said.includes("\n") ? [...said.matchAll(remark)].map((one) => one.index + one[0].length) : [];
  if (begins.length === 0) return from.pathOf(said);
  const paths = [0, ...begins].filter((begin) => said.length - begin <= longestPath).map((begin) => from.pathOf(said.slice(begin)));
  return paths.find((path) => lookAt(path) !== undefined) ?? null;
}

/** Globs with a leading `!` leave out; of the others one must match. They are read below `path`. */
function filter(globs: readonly string[], path: string, hidden: readonly string[]): (found: string) => boolean {
  const out = globs.filter((each) => each.startsWith("!")).map((each) => compileGlob(each.slice(1)));
  const into = globs.filter((each) => !each.startsWith("!")).map(compileGlob);
  return (found) => {
    if (hidden.some((each) => contains(each, found))) return false;
    const below = relative(path, found).replaceAll(sep, "/") || found.slice(found.lastIndexOf(sep) + 1);
    return (into.length === 0 || into.some((matches) => matches(below))) && !out.some((matches) => matches(below));
  };
}

/** A type spares ripgrep the files whose names can't match, and unlike `--glob` leaves the ignore rules in force. */
function byName(globs: readonly string[]): string[] {
  const names = globs.filter((each) => !each.startsWith("!"));
  if (names.length === 0 || names.some((each) => !/^[\w.*?-]+$/.test(each) || each.includes("**"))) return [];
  return [...names.flatMap((each) => ["--type-add", `wanted:${each}`]), "--type", "wanted"];
}

/**
 * Ignore files above a root are not the workspace's: a home folder that ignores everything must not hide it. Below the
 * root ripgrep reads them from the top, so a search that starts there keeps to them.
 */
function ignoreRules(path: string, { roots }: SearchPlaces): string[] {
  return roots.some((root) => root.path === path) ? ["--no-ignore-parent"] : [];
}

/** Where the walk starts: one glob's own folder, so that an ignored folder that is named is looked into. Never through a link. */
async function start(globs: readonly string[], path: string): Promise<string> {
  const [only, ...others] = globs.filter((each) => !each.startsWith("!"));
  if (only === undefined || others.length > 0 || globBase(only) === "") return path;
  const folder = path + sep + globBase(only).replaceAll("/", sep);
  return (await realpath(folder).catch(() => null)) === folder && (await lstat(folder)).isDirectory() ? folder : path;
}
