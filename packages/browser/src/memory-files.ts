import { HoldfastError } from "@holdfast/protocol/error";
import { compileGlob, globBase } from "@holdfast/runtime/paths/glob";
import { isProtectedPath } from "@holdfast/runtime/paths/protected";
import type { ApplyResult, EditClaim, FileEdit, Found, Files, PathIdentity, SearchHit, SearchQuery } from "@holdfast/runtime/ports/files";
import { ignoreRules } from "./ignore.ts";

interface Entry {
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly mode: number;
  /** Counts up with every change, so that the newest can come first. */
  readonly changed: number;
}

export interface MemoryFilesOptions {
  /** Absolute, with `/`; the one root of the workspace and the base for relative paths. Default: `/workspace`. */
  readonly root?: string;
  /** Content by path relative to the root. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** Beyond the port: what a page needs to show the files, or to keep them. */
export interface MemoryFiles extends Files {
  /** Paths relative to the root, sorted. */
  paths(): string[];
  write(relativePath: string, content: string | Uint8Array, mode?: number): Promise<void>;
  remove(relativePath: string): void;
}

const usualMode = 0o644;

/** A workspace that lives in this page. It has no links; its edits are atomic because nothing else runs meanwhile. */
export async function createMemoryFiles(options: MemoryFilesOptions = {}): Promise<MemoryFiles> {
  const root = options.root ?? "/workspace";
  const entries = new Map<string, Entry>();
  const claims = new Map<string, "taken" | "revoked">();
  let clock = 0;

  async function write(relativePath: string, content: string | Uint8Array, mode = usualMode): Promise<void> {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
    entries.set(`${root}/${relativePath}`, { bytes, digest: await digestOf(bytes), mode, changed: ++clock });
  }
  for (const [path, content] of Object.entries(options.files ?? {})) await write(path, content);

  const isFolder = (path: string) =>
    path === "/" || root.startsWith(`${path}/`) || path === root || [...entries.keys()].some((key) => key.startsWith(`${path}/`));

  function resolve(path: string): string {
    const parts: string[] = [];
    for (const part of (path.startsWith("/") ? path : `${root}/${path}`).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    const plain = `/${parts.join("/")}`;
    if (entries.has(plain) || isFolder(plain)) return plain;
    const twins = [...entries.keys()].filter((key) => key.normalize("NFC") === plain.normalize("NFC"));
    return twins.length === 1 ? twins[0]! : plain;
  }

  async function identify(path: string): Promise<PathIdentity> {
    if (path === "" || path.includes("\0")) throw new HoldfastError("tool_input_invalid", "The path is empty or contains a NUL character.");
    const real = resolve(path);
    const isInside = real === root || real.startsWith(`${root}/`);
    const relative = isInside ? real.slice(root.length + 1) : null;
    const kind = entries.has(real) ? "file" : isFolder(real) ? "directory" : "missing";
    return { real, kind, root: isInside ? root : null, relative, crossesLink: false, isProtected: isProtectedPath(relative ?? real) };
  }

  /** Files below a path that a search may see: not ignored, not in `.git`; those that the globs ask for. */
  function visible(path: string, globs: readonly string[]): string[] {
    const out = globs.filter((each) => each.startsWith("!")).map((each) => compileGlob(each.slice(1)));
    const into = globs.filter((each) => !each.startsWith("!"));
    const matchers = into.map(compileGlob);
    const base = into.length === 1 ? globBase(into[0]!) : "";
    const start = base !== "" && isFolder(`${path}/${base}`) ? `${path}/${base}` : path;
    const gitignores = new Map<string, string>();
    for (const [key, { bytes }] of entries) {
      const name = key.slice(root.length + 1);
      if (name === ".gitignore" || name.endsWith("/.gitignore"))
        gitignores.set(name.slice(0, -".gitignore".length).replace(/\/$/, ""), decode(bytes));
    }
    const isIgnored = ignoreRules(gitignores);
    return [...entries.keys()].filter((key) => {
      if (key === path) return true;
      if (!key.startsWith(`${start}/`)) return false;
      const below = key.slice(path.length + 1);
      if (below.split("/").includes(".git") || isIgnored(key.slice(root.length + 1), start.slice(root.length + 1))) return false;
      return (matchers.length === 0 || matchers.some((matches) => matches(below))) && !out.some((matches) => matches(below));
    });
  }

  async function search(query: SearchQuery, signal: AbortSignal): Promise<Found> {
    const expression = expressionOf(query);
    const hits: SearchHit[] = [];
    let matches = 0;
    const { leaveOut = () => false } = query;
    const all = visible(query.path, query.glob).toSorted();
    const paths = all.filter((path) => !leaveOut(path));
    const leftOut = all.length - paths.length;
    for (const path of paths) {
      const { bytes } = entries.get(path)!;
      if (bytes.subarray(0, 8000).includes(0)) continue;
      const lines = decode(bytes).replace(/\n$/, "").split("\n");
      const isMatch = lines.map((line) => expression.test(line));
      let shownTo = -1;
      for (let at = isMatch.indexOf(true); at !== -1; at = isMatch.indexOf(true, at + 1)) {
        if (signal.aborted || matches++ === query.limit) return { hits, truncated: true, leftOut };
        const last = Math.min(lines.length - 1, at + query.context);
        for (let line = Math.max(shownTo + 1, at - query.context); line <= last; line += 1) {
          hits.push({ path, line: line + 1, text: lines[line]!.replace(/\r$/, ""), isContext: isMatch[line] !== true });
        }
        shownTo = last;
      }
    }
    return { hits, truncated: signal.aborted, leftOut };
  }

  const claimKey = (claim: EditClaim, attempt = claim.attempt) => JSON.stringify([claim.session, claim.callId, attempt]);
  function take(claim: EditClaim): boolean {
    const key = claimKey(claim);
    if (claims.has(key)) return false;
    claims.set(key, "taken");
    return true;
  }

  function apply(edits: readonly FileEdit[], claim: EditClaim): ApplyResult {
    if (!take(claim)) return { type: "revoked" };
    const isResumed = Array.from({ length: claim.attempt }, (_, attempt) => claimKey(claim, attempt)).some((key) => claims.has(key));
    const todo: FileEdit[] = [];
    for (const edit of edits) {
      const found = entries.get(edit.path)?.digest ?? null;
      if (isResumed && found === edit.afterDigest) continue;
      if (found !== edit.before) return { type: "changed", path: edit.path, found };
      if (found === null && isFolder(edit.path)) return { type: "failed", path: edit.path, code: "EISDIR", message: "it is a folder" };
      todo.push(edit);
    }
    for (const { path, after, afterDigest, mode } of todo) {
      const before = entries.get(path);
      if (after === null || afterDigest === null) entries.delete(path);
      else entries.set(path, { bytes: after.slice(), digest: afterDigest, mode: before?.mode ?? mode ?? usualMode, changed: ++clock });
    }
    return { type: "applied" };
  }

  function probe(edits: readonly FileEdit[], claim: EditClaim): "before" | "after" | "mixed" | "unknown" {
    for (let attempt = 0; attempt <= claim.attempt; attempt += 1) {
      const key = claimKey(claim, attempt);
      if (!claims.has(key)) claims.set(key, "revoked");
    }
    const digests = edits.map((edit) => entries.get(edit.path)?.digest ?? null);
    if (edits.every((edit, at) => digests[at] === edit.before)) return "before";
    if (edits.every((edit, at) => digests[at] === edit.afterDigest)) return "after";
    return edits.every((edit, at) => digests[at] === edit.before || digests[at] === edit.afterDigest) ? "mixed" : "unknown";
  }

  return {
    cwd: root,
    roots: [{ id: root, path: root }],
    identify,
    async read(realPath, maxBytes) {
      const entry = entries.get(realPath);
      if (entry === undefined && isFolder(realPath)) throw new HoldfastError("file_unreadable", `${realPath} is a folder.`);
      if (entry === undefined) throw new HoldfastError("file_missing", `${realPath} does not exist.`);
      if (entry.bytes.length > maxBytes) throw new HoldfastError("file_unreadable", `${realPath} is larger than ${maxBytes} bytes.`);
      return { bytes: entry.bytes.slice(), digest: entry.digest, mode: entry.mode };
    },
    async glob(pattern, path, limit) {
      const paths = visible(path, [pattern]).toSorted((a, b) => entries.get(b)!.changed - entries.get(a)!.changed);
      return { paths: paths.slice(0, limit), truncated: paths.length > limit };
    },
    async list(pattern, path, limit) {
      const paths = visible(path, [pattern]).toSorted();
      const files = paths.slice(0, limit).map((each) => ({ path: each, size: entries.get(each)!.bytes.length }));
      return { files, truncated: paths.length > limit };
    },
    search,
    apply: async (edits, claim) => apply(edits, claim),
    probe: async (edits, claim) => probe(edits, claim),
    paths: () => [...entries.keys()].map((path) => path.slice(root.length + 1)).toSorted(),
    write,
    remove: (relativePath) => void entries.delete(`${root}/${relativePath}`),
  };
}

function expressionOf(query: SearchQuery): RegExp {
  const source = query.isRegex ? query.pattern : query.pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  try {
    return new RegExp(source, query.ignoreCase ? "iu" : "u");
  } catch (error) {
    throw new HoldfastError("tool_input_invalid", "The pattern is not a valid regular expression.", { cause: error });
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Hex SHA-256. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
