import { relative, sep } from "node:path";
import { lstat, realpath } from "node:fs/promises";
import { compileGlob, globBase } from "@holdfast/runtime/paths/glob";
import type { SearchHit, SearchQuery } from "@holdfast/runtime/ports/files";
import { ripgrep } from "./ripgrep.ts";

/** Bytes of a line that ripgrep prints; the rest is replaced by its own mark. */
const maxLine = 1000;

type Roots = readonly { readonly path: string }[];

/** `path` is absolute and real. Results are absolute, the newest change first. */
export async function glob(pattern: string, path: string, limit: number, roots: Roots): Promise<{ paths: string[]; truncated: boolean }> {
  const wanted = filter([pattern], path);
  const paths: string[] = [];
  const from = await start([pattern], path);
  const args = ["--files", "--sortr", "modified", ...ignoreRules(from, roots), "--", from];
  let truncated = false;
  const take = (found: string): boolean => {
    if (!wanted(found)) return true;
    truncated = paths.length === limit;
    if (!truncated) paths.push(found);
    return !truncated;
  };
  const isWhole = await ripgrep(args, await folderOf(path), "\0", take, new AbortController().signal);
  return { paths, truncated: truncated || !isWhole };
}

/** Hits in order of path and line; `limit` counts matches, not the context around them. */
export async function search(query: SearchQuery, signal: AbortSignal, roots: Roots): Promise<{ hits: SearchHit[]; truncated: boolean }> {
  const wanted = filter(query.glob, query.path);
  const hits: SearchHit[] = [];
  let matches = 0;
  let truncated = false;
  const take = (record: string): boolean => {
    const parsed = parse(record);
    if (parsed === null || !wanted(parsed.path)) return true;
    if (!parsed.isContext && matches++ === query.limit) truncated = true;
    if (!truncated) hits.push(parsed);
    return !truncated;
  };
  const from = await start(query.glob, query.path);
  const args = [
    ...["--line-number", "--with-filename", "--no-heading", "--sort", "path", "--engine", "auto", "--no-context-separator"],
    ...["--max-columns", String(maxLine), "--max-columns-preview"],
    ...(query.isRegex ? [] : ["--fixed-strings"]),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(/\n|\\n/.test(query.pattern) ? ["--multiline"] : []),
    ...(query.context > 0 ? ["--context", String(query.context)] : []),
    ...byName(query.glob),
    ...ignoreRules(from, roots),
    ...["--regexp", query.pattern, "--", from],
  ];
  const isWhole = await ripgrep(args, await folderOf(query.path), "\n", take, signal);
  return { hits, truncated: truncated || !isWhole };
}

/** `path NUL line : text`, or `-` instead of the colon for context. Anything else is a remark of ripgrep's. */
function parse(record: string): SearchHit | null {
  const found = /^([^\0]*)\0(\d+)([:-])(.*)$/s.exec(record);
  if (found === null) return null;
  const [, path, line, mark, text] = found;
  return { path: path!, line: Number(line), text: text!.replace(/\r$/, ""), isContext: mark === "-" };
}

/** Globs with a leading `!` leave out; of the others one must match. They are read below `path`. */
function filter(globs: readonly string[], path: string): (found: string) => boolean {
  const out = globs.filter((each) => each.startsWith("!")).map((each) => compileGlob(each.slice(1)));
  const into = globs.filter((each) => !each.startsWith("!")).map(compileGlob);
  return (found) => {
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
function ignoreRules(path: string, roots: Roots): string[] {
  return roots.some((root) => root.path === path) ? ["--no-ignore-parent"] : [];
}

/** Where the walk starts: one glob's own folder, so that an ignored folder that is named is looked into. Never through a link. */
async function start(globs: readonly string[], path: string): Promise<string> {
  const [only, ...others] = globs.filter((each) => !each.startsWith("!"));
  if (only === undefined || others.length > 0 || globBase(only) === "") return path;
  const folder = path + sep + globBase(only).replaceAll("/", sep);
  return (await realpath(folder).catch(() => null)) === folder && (await lstat(folder)).isDirectory() ? folder : path;
}

/** The process starts in the folder that is searched, so that relative ignore rules hold. */
async function folderOf(path: string): Promise<string> {
  return (await lstat(path).catch(() => null))?.isDirectory() ? path : sep;
}
