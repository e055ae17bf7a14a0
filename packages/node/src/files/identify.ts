import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { isProtectedPath } from "@holdfast/runtime/paths/protected";
import type { PathIdentity } from "@holdfast/runtime/ports/files";

interface Base {
  readonly cwd: string;
  /** Real paths. */
  readonly roots: readonly { readonly id: string; readonly path: string }[];
}

/** As many links as Linux follows in one path. */
const maxLinks = 40;
const foldsNames = process.platform === "darwin" || process.platform === "win32";

/** Throws `tool_input_invalid` for a path that no file system could hold (empty, or with a NUL). */
export async function identify(path: string, base: Base): Promise<PathIdentity> {
  if (path === "" || path.includes("\0")) {
    throw new HoldfastError("tool_input_invalid", path === "" ? "The path is empty." : "The path contains a NUL character.");
  }
  const given = isAbsolute(path) ? path : join(base.cwd, sep) + path;
  const { real, crossesLink } = await walk(given);
  const kind = await kindOf(real);
  const root = rootOf(real, base.roots);
  const below = root === null ? null : slashed(relative(root.path, real));
  return {
    real,
    kind,
    root: root?.id ?? null,
    relative: below,
    crossesLink,
    isProtected: isProtectedPath(below ?? slashed(real)) || isProtectedPath(slashed(asGiven(given, base))),
  };
}

/**
 * Resolves as the kernel does: a link before the `..` that follows it. What is missing stays as given, except that a name
 * outside ASCII leads to an existing one that differs only in Unicode normalisation: a model can't tell them apart.
 */
async function walk(given: string): Promise<{ real: string; crossesLink: boolean }> {
  if (!given.split(/[\\/]/).includes("..")) {
    const real = await realpath(given).catch(() => null);
    if (real !== null) return { real, crossesLink: !sameName(real, resolve(given)) };
  }
  let at = parse(given).root;
  let crossesLink = false;
  let links = 0;
  const rest = split(given);
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    if (part === "..") {
      at = resolve(at, "..");
      continue;
    }
    const next = join(at, part);
    const target = await linkTarget(next);
    if (target === null) {
      at = (await exists(next)) ? next : join(at, await existingTwin(at, part));
    } else if (++links > maxLinks) {
      return { real: next, crossesLink: true };
    } else {
      crossesLink = true;
      if (isAbsolute(target)) at = parse(target).root;
      rest.unshift(...split(target));
    }
  }
  return { real: at, crossesLink };
}

function split(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep === "\\" ? /[\\/]+/ : /\/+/)
    .filter((part) => part !== "" && part !== ".");
}

async function linkTarget(path: string): Promise<string | null> {
  return readlink(path).catch(() => null);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function existingTwin(folder: string, name: string): Promise<string> {
  if (/^[\x00-\x7f]*$/.test(name)) return name;
  const names = await readdir(folder).catch(() => []);
  const twins = names.filter((other) => other.normalize("NFC") === name.normalize("NFC"));
  return twins.length === 1 ? twins[0]! : name;
}

async function kindOf(real: string): Promise<PathIdentity["kind"]> {
  try {
    const stat = await lstat(real);
    return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "other";
  }
}

/** The innermost root. */
export function rootOf(real: string, roots: Base["roots"]): { readonly id: string; readonly path: string } | null {
  const around = roots.filter((root) => isInside(root.path, real));
  return around.toSorted((a, b) => b.path.length - a.path.length)[0] ?? null;
}

function isInside(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || (below !== ".." && !below.startsWith(".." + sep) && !isAbsolute(below));
}

/** The path in the words it was given in, below the root it names: a link called `.git` counts whatever it leads to. */
function asGiven(given: string, base: Base): string {
  const path = resolve(given);
  const root = rootOf(path, base.roots);
  return root === null ? path : relative(root.path, path);
}

function sameName(a: string, b: string): boolean {
  const fold = (path: string) => (foldsNames ? path.normalize("NFC").toLowerCase() : path);
  return fold(a) === fold(b);
}

function slashed(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}
