import type { Json } from "@holdfast/protocol";
import { packageKeys } from "./toolchains.ts";

/** The part of a file that directs a runner, and how to put an earlier version of it back into a later file. */
export interface FilePart {
  /** Text that is equal exactly where the part is. */
  read(text: string): string;
  /** `later` with the part as in `earlier` (null: there was no such file). Null where it can't be separated. */
  restore(later: string, earlier: string | null): string | null;
}

/** Named scripts of a package.json (with their pre and post scripts), the keys of runners and `more`, and `bin` where it has one of `programs`. */
export function packagePart(
  scripts: ReadonlySet<string>,
  more: readonly string[] = [],
  programs: ReadonlySet<string> = new Set(),
): FilePart {
  const keysOf = (content: Readonly<Record<string, Json>>): string[] => [
    ...packageKeys,
    ...more,
    ...([...binsOf(content).keys()].some((name) => programs.has(name)) ? ["bin"] : []),
  ];
  const names = [...scripts].flatMap((name) => [`pre${name}`, name, `post${name}`]).sort();
  const pick = (text: string): { scripts: Record<string, Json>; keys: Record<string, Json> } | null => {
    const content = parseObject(text);
    if (content === null) return null;
    const own = isObject(content["scripts"]) ? content["scripts"] : {};
    return { scripts: chosen(own, names), keys: chosen(content, keysOf(content)) };
  };
  return {
    read: (text) => JSON.stringify(pick(text)) ?? text,
    restore(later, earlier) {
      const content = parseObject(later);
      const old = earlier === null ? { scripts: {}, keys: {} } : pick(earlier);
      if (content === null || old === null) return null;
      const own = isObject(content["scripts"]) ? content["scripts"] : {};
      const others = Object.fromEntries(Object.entries(own).filter(([name]) => !names.includes(name)));
      const keys = keysOf(content);
      const rest = Object.fromEntries(Object.entries(content).filter(([key]) => !keys.includes(key)));
      return JSON.stringify({ ...rest, ...old.keys, scripts: { ...others, ...old.scripts } }, null, 2);
    },
  };
}

/** Sections of a TOML or INI file whose heading matches, by their text. */
export function sectionsPart(sections: RegExp): FilePart {
  const split = (text: string): { chosen: string; others: string } => {
    const blocks = text.split(/^(?=[ \t]*\[)/m);
    const isChosen = (block: string): boolean => sections.test(/^[ \t]*\[/.test(block) ? (block.split("\n")[0] ?? "") : block);
    const join = (wanted: boolean): string =>
      blocks
        .filter((block) => isChosen(block) === wanted)
        .map((block) => (block === "" || block.endsWith("\n") ? block : `${block}\n`))
        .join("");
    return { chosen: join(true), others: join(false) };
  };
  return {
    read: (text) => split(text).chosen.trim(),
    restore: (later, earlier) => split(later).others + (earlier === null ? "" : split(earlier).chosen),
  };
}

/** What a pattern finds, by its text; put back at the end. */
export function matchesPart(pattern: RegExp): FilePart {
  const found = (text: string): string => [...text.matchAll(pattern)].map(([one]) => one.trim()).join("\n");
  return {
    read: found,
    restore: (later, earlier) => `${later.replaceAll(pattern, "").trimEnd()}\n${earlier === null ? "" : `${found(earlier)}\n`}`,
  };
}

function chosen(from: Readonly<Record<string, Json>>, names: readonly string[]): Record<string, Json> {
  const out: Record<string, Json> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** The programs that a package.json makes of its files. */
export function binsOf(content: Readonly<Record<string, Json>>): ReadonlyMap<string, string> {
  const { bin, name } = content;
  const all = typeof bin === "string" && typeof name === "string" ? { [name.replace(/^@[^/]*\//, "")]: bin } : isObject(bin) ? bin : {};
  return new Map(Object.entries(all).flatMap(([one, path]) => (typeof path === "string" ? [[one, path] as const] : [])));
}

/** The lines of a package.json's scripts by name, and of the targets that Nx reads in one or in a project.json. */
export function scriptsOf(content: Readonly<Record<string, Json>>): [string, string[]][] {
  const entries = (of: Json | undefined): [string, Json][] => (isObject(of) ? Object.entries(of) : []);
  const nx = content["nx"];
  const targets = [...entries(content["targets"]), ...entries(isObject(nx) ? nx["targets"] : undefined)];
  return [...entries(content["scripts"]), ...targets].map(([name, script]) => [name, linesIn(script)]);
}

function linesIn(script: Json): string[] {
  if (typeof script === "string") return [script];
  if (Array.isArray(script)) return script.flatMap(linesIn);
  return isObject(script)
    ? ["command", "commands", "options"].flatMap((key) => (script[key] === undefined ? [] : linesIn(script[key])))
    : [];
}

export function parseObject(text: string): Readonly<Record<string, Json>> | null {
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
