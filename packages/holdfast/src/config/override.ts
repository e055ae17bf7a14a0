import { HoldfastError } from "@holdfast/protocol/error";
import type * as Toml from "smol-toml";

/** What `--config KEY=VALUE` sets: the same tree that a file with one line would give. */
export interface Override {
  readonly path: readonly string[];
  readonly tree: Readonly<Record<string, unknown>>;
}

/**
 * Reads `KEY=VALUE`: a dotted TOML key, and a TOML value, or else a text as it stands, so that nobody has to quote for two
 * readers. Throws `usage`; values are never shown.
 */
export async function parseOverride(given: string): Promise<Override> {
  const match = /^((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=])*)=([\s\S]*)$/.exec(given);
  if (match === null) throw new HoldfastError("usage", "--config takes KEY=VALUE", { hint: "for instance --config limits.max_steps=50" });
  const [, key = "", value = ""] = match;
  const toml = await import("smol-toml");
  const path: string[] = [];
  try {
    for (let at: unknown = toml.parse(`${key.replaceAll(/[\r\n]/g, " ")} = {}`); ;) {
      const [entry, ...others] = Object.entries(at as Record<string, unknown>);
      if (entry === undefined || others.length > 0) break;
      path.push(entry[0]);
      at = entry[1];
    }
  } catch {
    throw new HoldfastError("usage", `--config: ${JSON.stringify(key)} is not a key`, {
      hint: 'write it with dots, parts with other characters in quotes: model."openai/NAME".context_window',
    });
  }
  let tree: unknown = readValue(toml, value.trim());
  for (const part of path.toReversed()) tree = Object.fromEntries([[part, tree]]);
  return { path, tree: tree as Record<string, unknown> };
}

function readValue({ parse }: typeof Toml, value: string): unknown {
  try {
    const parsed = parse(`value = ${value}`);
    // A line break in it must not begin a second key.
    if (Object.keys(parsed).length === 1) return parsed["value"];
  } catch {
    // Not TOML: the text itself.
  }
  return value;
}
