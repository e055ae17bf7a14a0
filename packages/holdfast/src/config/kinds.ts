import { parseDuration } from "./limits.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** One value. It knows what fits, says so in words and as JSON Schema, and gives the value as the program takes it. */
export interface Leaf<T = unknown> {
  readonly is: "leaf";
  /** What fits, as it follows "is not": `a whole number above 0`. */
  readonly wanted: string;
  /** The value for the program; `undefined` where it doesn't fit. */
  readonly read: (value: unknown) => T | undefined;
  readonly schema: JsonSchema;
  /** Never shown: neither in errors nor by `config show`. */
  readonly isSecret: boolean;
}

/** What is told about a key beside its kind. */
interface KeyMore {
  /** The built-in value, as it is written in TOML. */
  readonly default?: unknown;
  /** The environment variable that sets it. */
  readonly env?: string;
  /** The name in `Config`, where it is another than the key in camel case. */
  readonly as?: string;
  readonly required?: true;
  /**
   * What a trusted project's file may do: set it, or only make it tighter. Left out, it may not, for the reason in
   * `reason`. What holds for a table holds for the keys in it that say nothing of their own.
   */
  readonly project?: "may" | "tighter";
  readonly reason?: string;
  /** Why a project may not set this value of a key that it may set; null where it may. */
  readonly refused?: (value: unknown) => string | null;
}

export type Key<N extends Node = Node> = KeyMore & { readonly node: N; readonly help: string };
export type Fields = Readonly<Record<string, Key>>;

export interface Table<F extends Fields = Fields> {
  readonly is: "table";
  readonly keys: F;
  /** Pairs of keys of which one replaces the other. */
  readonly rivals: readonly (readonly [string, string])[];
  /** What is missing in an entry of this shape, all layers taken together; null where it is whole. */
  readonly lacks: (has: (key: string) => boolean) => string | null;
}

/** A table whose keys are names that people choose. */
export interface Named<N extends Table | Leaf = Table | Leaf, O extends boolean = boolean> {
  readonly is: "named";
  readonly of: N;
  readonly names: { readonly pattern: string; readonly wanted: string };
  /** Entries run something: each belongs to the user or to the project, and says so. */
  readonly hasOrigin: O;
}

/** An array of tables. A project's come behind the user's. */
export interface Rows<F extends Fields = Fields> {
  readonly is: "rows";
  readonly of: Table<F>;
}

/** A list of texts to which a project adds, instead of replacing the user's. */
export interface Adding {
  readonly is: "adding";
  readonly of: Leaf<string>;
}

/** A text that stands for the key `shortFor`, or a table of names. TOML allows one of them in a file. */
export interface Either<N extends Named = Named> {
  readonly is: "either";
  readonly leaf: Leaf<string>;
  readonly shortFor: readonly string[];
  readonly named: N;
}

export type Node = Leaf | Table | Named | Rows | Adding | Either;

export function key<N extends Node, const M extends KeyMore = Record<never, never>>(
  node: N,
  help: string,
  more?: M,
): M & { readonly node: N; readonly help: string } {
  return { ...(more as M), node, help };
}

export function table<const F extends Fields>(
  keys: F,
  more: { rivals?: Table["rivals"]; lacks?: (has: (key: keyof F & string) => boolean) => string | null } = {},
): Table<F> {
  return { is: "table", keys, rivals: more.rivals ?? [], lacks: (more.lacks as Table["lacks"] | undefined) ?? (() => null) };
}

export function named<N extends Table | Leaf>(of: N, names: Named["names"]): Named<N, false> {
  return { is: "named", of, names, hasOrigin: false };
}

export function owned<N extends Table>(of: N, names: Named["names"]): Named<N, true> {
  return { is: "named", of, names, hasOrigin: true };
}

export function rows<F extends Fields>(of: Table<F>): Rows<F> {
  return { is: "rows", of };
}

export function adding(of: Leaf<string>): Adding {
  return { is: "adding", of };
}

export function either<N extends Named>(leaf: Leaf<string>, shortFor: readonly string[], byName: N): Either<N> {
  return { is: "either", leaf, shortFor, named: byName };
}

function leaf<T>(wanted: string, schema: JsonSchema, read: (value: unknown) => T | undefined): Leaf<T> {
  return { is: "leaf", wanted, schema, read, isSecret: false };
}

export function secret<T>(of: Leaf<T>): Leaf<T> {
  return { ...of, isSecret: true };
}

export const text = textLike("a non-empty string", "[\\s\\S]");
export const url = textLike(
  'an http(s) URL without user name and password, such as "http://127.0.0.1:11434/v1"',
  "^https?://(?![^/?#\\s\\\\]*@)[^\\s]+$",
);

export function textLike(wanted: string, pattern: string): Leaf<string> {
  const shape = new RegExp(pattern);
  return leaf(wanted, { type: "string", pattern }, (value) => (typeof value === "string" && shape.test(value) ? value : undefined));
}

/** A regular expression for the whole name of a tool; `*` stands for all. */
export const toolPattern = leaf("a regular expression for names of tools", { type: "string", pattern: "[\\s\\S]" }, (value) =>
  typeof value === "string" && value !== "" && (value === "*" || isPattern(value)) ? value : undefined,
);

function isPattern(source: string): boolean {
  try {
    return new RegExp(`^(?:${source})$`, "v") instanceof RegExp;
  } catch {
    return false;
  }
}

export const toggle = leaf("true or false", { type: "boolean" }, (value) => (typeof value === "boolean" ? value : undefined));

const maxCount = Number.MAX_SAFE_INTEGER;
export const count = leaf("a whole number above 0", { type: "integer", minimum: 1, maximum: maxCount }, (value) =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined,
);

export const money = leaf("an amount in US dollars above 0", { type: "number", exclusiveMinimum: 0 }, (value) =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined,
);

export const price = leaf("an amount in US dollars, 0 or more", { type: "number", minimum: 0 }, (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined,
);

/** Milliseconds, from seconds or a text such as `30m`. */
export const duration = leaf(
  'a time such as 90, "30m" or "2h"',
  {
    anyOf: [
      { type: "integer", minimum: 1 },
      { type: "string", pattern: "^(?=.*[1-9])(?:\\d+|(?=\\d)(?:\\d+h)?(?:\\d+m)?(?:\\d+s)?)$" },
    ],
  },
  (value) => (typeof value === "number" || typeof value === "string" ? (parseDuration(String(value)) ?? undefined) : undefined),
);

export function oneOf<const T extends string>(values: readonly T[]): Leaf<T> {
  return leaf(`one of ${values.join(", ")}`, { enum: values }, (value) => values.find((known) => known === value));
}

export function list(of: Leaf<string>): Leaf<readonly string[]> {
  return leaf(`a list, each ${of.wanted}`, { type: "array", items: of.schema }, (value) => {
    if (!Array.isArray(value)) return undefined;
    const read = value.map(of.read);
    return read.includes(undefined) ? undefined : (read as string[]);
  });
}
