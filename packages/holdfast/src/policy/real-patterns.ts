import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A pattern's fixed beginning may lead through links: what is matched are real paths. */
export async function realPatterns(patterns: readonly string[], userHome: string): Promise<readonly string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) => {
      const absolute = pattern.startsWith("~/") ? join(userHome, pattern.slice(2)) : pattern;
      if (!absolute.startsWith("/")) return [pattern];
      const star = absolute.search(/[*?[\]{}\\]/);
      const fixed = star < 0 ? absolute : dirname(`${absolute.slice(0, star)}x`);
      const real = await realOf(fixed);
      return real === fixed ? [pattern] : [pattern, join(real, absolute.slice(fixed.length))];
    }),
  );
  return found.flat();
}

/** Where a path leads, as far as it is there. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), path.slice(parent.length));
  }
}
