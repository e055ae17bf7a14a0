import { readdirSync } from "node:fs";
import type { Dirent } from "node:fs";
import { join, relative } from "node:path";
import { lookAt } from "../files/missing.ts";

/** Never looked into: what lies there is not the user's own, and there is much of it. */
const skipped = new Set([".git", "node_modules"]);
/** Larger trees are looked at so far. */
const mostEntries = 200_000;

/**
 * Files of a root that one of these patterns names (`.env`, `config/*.pem`), and other names of the same files (hard links).
 * One without a slash is meant in every folder. Links aren't followed: a mount on what they lead to hides it.
 */
export function secretFiles(root: string, patterns: readonly string[]): string[] {
  if (patterns.length === 0) return [];
  const wanted = patterns.map(expressionOf);
  const found: string[] = [];
  const shared = new Map<string, string[]>();
  const folders = [root];
  let left = mostEntries;
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      left -= 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!skipped.has(entry.name)) folders.push(path);
        continue;
      }
      if (!entry.isFile()) continue;
      const isNamed = wanted.some((pattern) => pattern.test(relative(root, path)));
      if (isNamed) found.push(path);
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

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** `*` and `?` stay within a name, `**` goes through folders. */
function expressionOf(pattern: string): RegExp {
  const whole = pattern.includes("/") ? pattern.replace(/^\//, "") : `**/${pattern}`;
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
