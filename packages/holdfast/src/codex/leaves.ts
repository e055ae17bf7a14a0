/** One value of a config and where it stands. */
export interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The single values and lists of a tree, so that a table given whole and one given key by key read alike. */
export function leavesOf(tree: unknown, path: readonly string[] = []): Leaf[] {
  if (!isTable(tree)) return [{ path, value: tree }];
  return Object.entries(tree).flatMap(([key, value]) => leavesOf(value, [...path, key]));
}

/** `KEY=VALUE` as `--config` takes it. */
export function overrideOf(path: readonly string[], value: unknown): string {
  return `${path.map(tomlKey).join(".")}=${tomlValue(value)}`;
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (isTable(value)) {
    const pairs = Object.entries(value).map(([key, inner]) => `${tomlKey(key)} = ${tomlValue(inner)}`);
    return `{ ${pairs.join(", ")} }`;
  }
  // TOML reads the escapes of JSON. DEL is the one character that only TOML wants escaped.
  return typeof value === "string" ? JSON.stringify(value).replaceAll("\u007f", "\\u007f") : String(value);
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlValue(key);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const made: unknown = Object.getPrototypeOf(value);
  return made === Object.prototype || made === null;
}
