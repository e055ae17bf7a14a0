import { readdirSync, realpathSync } from "node:fs";
import type { Dirent } from "node:fs";
import { join, relative } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { lookAt } from "../files/missing.ts";

/** Never looked into: what lies there is not the user's own, and there is much of it. */
const skipped = new Set([".git", "node_modules"]);
/** Larger trees aren't looked through before each command. */
const mostEntries = 200_000;

/**
 * Files and folders of a root that one of these patterns names (`.env`, `config/*.pem`, `secrets/`), real paths: of a link so
 * named, what it leads to; and other names of the same files (hard links). One without a slash is meant in every folder. Throws
 * `workspace_invalid` where there is more to look through than is looked through: nothing is half hidden.
 */
export function secretFiles(root: string, patterns: readonly string[], most: number = mostEntries): string[] {
  if (patterns.length === 0) return [];
  const wanted = patterns.map(expressionOf);
  const found: string[] = [];
  const shared = new Map<string, string[]>();
  const folders = [root];
  let left = most;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      left -= 1;
      if (left < 0) throw tooMany(root, most);
      const path = join(folder, entry.name);
      const name = relative(root, path);
      const isNamed = wanted.some((pattern) => pattern.test(name));
      if (isNamed) found.push(...realPath(path));
      if (entry.isDirectory()) {
        if (!isNamed && !skipped.has(entry.name)) folders.push(path);
        continue;
      }
      if (!entry.isFile()) continue;
      const stat = lookAt(path);
      if (stat !== undefined && stat.nlink > 1) {
        const key = `${stat.dev}:${stat.ino}`;
        shared.set(key, [...(shared.get(key) ?? []), path]);
      }
    }
  }
  const twins = [...shared.values()].filter((names) => names.some((name) => found.includes(name))).flat();
  return [...new Set([...found, ...twins])];
}

function tooMany(root: string, most: number): HoldfastError {
  return new HoldfastError(
    "workspace_invalid",
    `Below ${root} there is more than can be looked through for what [sandbox] hide names: ${most} files and folders. No command runs with only some of it hidden.`,
    { hint: "Remove what a command made too much of, or set hide to [] for this workspace." },
  );
}

/** Where a link leads to nothing there is nothing to hide; a root is never hidden by a link in it. */
function realPath(path: string): string[] {
  try {
    const real = realpathSync(path);
    return `${path}/`.startsWith(`${real}/`) && real !== path ? [] : [real];
  } catch {
    return [];
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** `*` and `?` stay within a name, `**` goes through folders. `./` and `/` before it mean the root, `/` behind it a folder. */
function expressionOf(pattern: string): RegExp {
  const named = pattern.replace(/\/+$/, "");
  const whole = named.includes("/") ? named.replace(/^(\.?\/)+/, "") : `**/${named}`;
  const text = whole
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => {
      switch (part) {
        case "**/":
          return "(?:.*/)?";
        case "**":
          return ".*";
        case "*":
          return "[^/]*";
        case "?":
          return "[^/]";
        default:
          return part.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
      }
    })
    .join("");
  return new RegExp(`^${text}$`);
}
