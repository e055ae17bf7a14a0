import { isNamedHost, normalHost } from "@holdfast/runtime/network/hosts";
import { compileGlob } from "@holdfast/runtime/paths/glob";
import type { Touched } from "../decide/part.ts";

/** Patterns are few and used again and again. */
const compiled = new Map<string, (path: string) => boolean>();
const mostKept = 1_000;

/** Whether a glob names a path: an absolute one, one below the home, or one below a root of the workspace. */
function matchesPath(pattern: string, path: string, relative: string | null, home: string | null): boolean {
  if (pattern.startsWith("~/")) {
    if (home === null) return path.startsWith("~/") && glob(pattern.slice(1))(path.slice(2));
    return path.startsWith(`${home}/`) && glob(pattern.slice(1))(path.slice(home.length + 1));
  }
  if (pattern.startsWith("/")) return glob(pattern)(path.replace(/^\/+/, ""));
  return relative !== null && relative !== "" && glob(pattern)(relative);
}

function glob(pattern: string): (path: string) => boolean {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= mostKept) compiled.clear();
  const fresh = compileGlob(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

/** Whether a rule that restricts speaks of the file: by the name it is called by, or by where that leads. */
export function namesFile(patterns: readonly string[], { plain, real, relative }: Touched, home: string | null): boolean {
  return patterns.some(
    (pattern) => matchesPath(pattern, real, relative, home) || (plain !== real && matchesPath(pattern, plain, relative, home)),
  );
}

/** Whether a rule that allows speaks of the file: by where it really is. */
export function namesReal(patterns: readonly string[], real: string, relative: string | null, home: string | null): boolean {
  return patterns.some((pattern) => matchesPath(pattern, real, relative, home));
}

/** `host` is `name`, `name:port` or `[address]:port`. Without a port, 443 is meant. */
export function namesHost(patterns: readonly string[], host: string): boolean {
  const match = /^(.*?)(?::(\d{1,5}))?$/.exec(host.startsWith("[") || (host.match(/:/g)?.length ?? 0) < 2 ? host : `[${host}]`);
  const name = normalHost(match?.[1] ?? host);
  return name !== null && isNamedHost(name, Number(match?.[2] ?? 443), patterns);
}
