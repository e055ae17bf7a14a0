import { nearest } from "../cli/nearest.ts";
import type { Either, Fields, Key, Leaf, Named, Node, Rows, Table } from "./kinds.ts";

export type Layer = "built-in" | "user" | "project" | "environment" | "flag";

/** Where a value comes from. */
export interface Source {
  readonly layer: Layer;
  /** The file; the variable's name; the flag with its key. */
  readonly name: string;
  readonly line: number | null;
  readonly profile: string | null;
}

/** One value that a layer sets; or that it has an entry or a list of this name, whatever is in it. */
export interface Setting {
  readonly path: readonly string[];
  readonly kind: "value" | "entry" | "list";
  readonly value: unknown;
  /** The keys of the table that lead here: the last says most about it. */
  readonly keys: readonly Key[];
  readonly leaf: Leaf | null;
  readonly source: Source;
}

/** An `error` stops the run; a `note` is worth knowing. */
export interface Problem {
  readonly severity: "error" | "note";
  /** `FILE:LINE`, a variable, or a flag; null where the message says it. */
  readonly where: string | null;
  readonly message: string;
  readonly hint?: string;
}

export function whereOf({ name, line }: Source): string {
  return line === null ? name : `${name}:${line}`;
}

export function problemText({ where, message, hint }: Problem): string {
  return `${where === null ? "" : `${where}: `}${message}${hint === undefined ? "" : ` (${hint})`}`;
}

/** A key as it is written in TOML: `model."openai/x".context_window`. */
export function dotted(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}

export interface Read {
  readonly settings: readonly Setting[];
  readonly problems: readonly Problem[];
}

/** The settings of one layer's tree, and all that is wrong in it. Values are never shown: they may be secret. */
export function readSettings(tree: unknown, top: Table, sourceOf: (path: readonly string[]) => Source): Read {
  const settings: Setting[] = [];
  const problems: Problem[] = [];
  const written = new Map<string, string>();

  const wrong = (path: readonly string[], message: string, hint?: string): void => {
    problems.push({ severity: "error", where: whereOf(sourceOf(path)), message, ...(hint === undefined ? {} : { hint }) });
  };
  const add = (
    path: readonly string[],
    kind: Setting["kind"],
    value: unknown,
    keys: readonly Key[],
    leaf: Leaf | null,
    as = path,
  ): void => {
    const id = JSON.stringify(as);
    const earlier = written.get(id);
    if (earlier !== undefined) wrong(path, `${dotted(path)} and ${earlier} are both set`, "keep one of them");
    written.set(id, dotted(path));
    settings.push({ path: as, kind, value, keys, leaf, source: sourceOf(path) });
  };

  const readNode = (value: unknown, node: Node, path: readonly string[], keys: readonly Key[]): void => {
    switch (node.is) {
      case "leaf":
        if (node.read(value) === undefined) wrong(path, `${path.at(-1)} is not ${node.wanted}`);
        else add(path, "value", value, keys, node);
        return;
      case "table":
        readTable(value, node, path, keys);
        return;
      case "named":
        readNamed(value, node, path, keys);
        return;
      case "rows":
        readRows(value, node, path, keys);
        return;
      case "adding":
        if (!Array.isArray(value) || value.some((one) => node.of.read(one) === undefined)) {
          wrong(path, `${path.at(-1)} is not a list, each ${node.of.wanted}`);
          return;
        }
        add(path, "list", null, keys, null);
        for (const [index, one] of value.entries()) add([...path, String(index)], "value", one, keys, node.of);
        return;
      case "either":
        readEither(value, node, path, keys);
    }
  };
  const readTable = (value: unknown, node: Table, path: readonly string[], keys: readonly Key[]): void => {
    if (!isTable(value)) {
      wrong(path, `${dotted(path)} is not a table`, `write [${dotted(path)}]`);
      return;
    }
    for (const [name, found] of Object.entries(value)) {
      const key = Object.hasOwn(node.keys, name) ? node.keys[name] : undefined;
      if (key === undefined) wrong([...path, name], unknownKey(name, path), hintFor(name, node.keys, top));
      else readNode(found, key.node, [...path, name], [...keys, key]);
    }
    for (const [name, key] of Object.entries(node.keys)) {
      if (key.required && !Object.hasOwn(value, name)) wrong(path, `${dotted(path)} has no ${name}`, `${name}: ${key.help}`);
    }
    for (const [one, other] of node.rivals) {
      if (Object.hasOwn(value, one) && Object.hasOwn(value, other)) {
        wrong([...path, other], `${one} and ${other} are both set`, "keep one of them");
      }
    }
  };
  const readNamed = (value: unknown, node: Named, path: readonly string[], keys: readonly Key[]): void => {
    if (!isTable(value)) {
      wrong(path, `${dotted(path)} is not a table`, node.of.is === "table" ? `write [${dotted(path)}.NAME]` : `write [${dotted(path)}]`);
      return;
    }
    const shape = new RegExp(node.names.pattern);
    for (const [name, found] of Object.entries(value)) {
      const at = [...path, name];
      if (!shape.test(name)) wrong(at, `${JSON.stringify(name)} in [${dotted(path)}] is not ${node.names.wanted}`);
      else {
        if (node.of.is === "table") add(at, "entry", null, keys, null);
        readNode(found, node.of, at, keys);
      }
    }
  };
  const readRows = (value: unknown, node: Rows, path: readonly string[], keys: readonly Key[]): void => {
    if (!Array.isArray(value) || !value.every(isTable)) {
      wrong(path, `${dotted(path)} is not a list of tables`, `write [[${dotted(path)}]]`);
      return;
    }
    add(path, "list", null, keys, null);
    for (const [index, row] of value.entries()) {
      add([...path, String(index)], "entry", null, keys, null);
      readTable(row, node.of, [...path, String(index)], keys);
    }
  };
  const readEither = (value: unknown, node: Either, path: readonly string[], keys: readonly Key[]): void => {
    if (isTable(value)) readNamed(value, node.named, path, keys);
    else if (node.leaf.read(value) === undefined) wrong(path, `${path.at(-1)} is not ${node.leaf.wanted}`);
    else add(path, "value", value, keys, node.leaf, [...path.slice(0, -1), ...node.shortFor]);
  };

  readTable(tree, top, [], []);
  return { settings, problems };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function unknownKey(name: string, path: readonly string[]): string {
  return `unknown key ${JSON.stringify(name)}${path.length === 0 ? "" : ` in [${dotted(path)}]`}`;
}

function hintFor(name: string, known: Fields, top: Table): string {
  const close = nearest(name, Object.keys(known));
  if (close !== null) return `did you mean ${close}?`;
  const elsewhere = Object.entries(top.keys).find(([, { node }]) => node.is === "table" && Object.hasOwn(node.keys, name));
  return elsewhere === undefined ? `known keys: ${Object.keys(known).join(", ")}` : `it belongs under [${elsewhere[0]}]`;
}
