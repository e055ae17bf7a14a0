import { parseArgs } from "node:util";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Arguments, CommandSpec, FlagSpec } from "./command.ts";
import { nearest } from "./nearest.ts";

/** Flags that every command has. */
export const commonFlags: Readonly<Record<string, FlagSpec>> = {
  help: { kind: "boolean", short: "h", help: "show this help" },
};

/**
 * Checks what was typed against a command's spec. Throws `usage` with what is wrong, where, and the nearest flag.
 * `--help` is reported before anything else is judged, so that help is never refused.
 */
export function parseFlags(spec: CommandSpec, argv: readonly string[]): Arguments | "help" {
  const flags = { ...spec.flags, ...commonFlags };
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(flags).map(([name, flag]) => [
        name,
        { type: flag.kind === "boolean" ? "boolean" : "string", ...(flag.short === undefined ? {} : { short: flag.short }) } as const,
      ]),
    ),
  });
  const found = new Map<string, string[]>();
  const words: string[] = [];
  if (tokens.some((token) => token.kind === "option" && token.name === "help")) return "help";
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const flag = flags[token.name];
    if (flag === undefined) throw unknownFlag(spec, flags, token.rawName);
    const value = valueOf(spec, flag, token.rawName, token.value, token.inlineValue === true);
    const earlier = found.get(token.name);
    if (earlier !== undefined && flag.kind === "string") {
      throw usage(spec, `${token.rawName} is given twice`, `${token.rawName} takes one value`);
    }
    found.set(token.name, [...(earlier ?? []), value]);
  }
  if (words.length < spec.words.min) throw usage(spec, `missing ${spec.words.named}`);
  if (words.length > spec.words.max) {
    const extra = words[spec.words.max] ?? "";
    const isPrompt = spec.words.named.includes("prompt");
    throw usage(spec, `unexpected word ${JSON.stringify(extra)}`, isPrompt ? "put a prompt of several words in quotes" : undefined);
  }
  return {
    words,
    has: (name) => found.has(name),
    value: (name) => found.get(name)?.at(-1),
    values: (name) => found.get(name) ?? [],
  };
}

/** A `usage` error that names the command it belongs to. */
export function usage(spec: CommandSpec, what: string, hint?: string): HoldfastError {
  const command = ["holdfast", spec.name].filter((word) => word !== "").join(" ");
  return new HoldfastError("usage", `${command}: ${what}`, {
    hint: `${hint === undefined ? "" : `${hint}; `}see ${command} --help`,
  });
}

function unknownFlag(spec: CommandSpec, flags: Readonly<Record<string, FlagSpec>>, rawName: string): HoldfastError {
  const close = rawName.startsWith("--") ? nearest(rawName.slice(2), Object.keys(flags)) : null;
  return usage(spec, `unknown flag ${rawName}`, close === null ? undefined : `did you mean --${close}?`);
}

function valueOf(spec: CommandSpec, flag: FlagSpec, rawName: string, value: string | undefined, isInline: boolean): string {
  if (flag.kind === "boolean") {
    if (isInline) throw usage(spec, `${rawName} takes no value`);
    return "true";
  }
  if (value === undefined || value === "") throw usage(spec, `${rawName} needs a value: ${rawName} ${flag.value ?? "VALUE"}`);
  if (!isInline && value.startsWith("-") && value !== "-") {
    throw usage(spec, `${rawName} needs a value, but ${value} follows`, `a value that begins with - is written ${rawName}=${value}`);
  }
  if (flag.oneOf !== undefined && !flag.oneOf.includes(value)) {
    const close = nearest(value, flag.oneOf);
    throw usage(
      spec,
      `${rawName} ${JSON.stringify(value)} is not one of ${flag.oneOf.join(", ")}`,
      close === null ? undefined : `did you mean ${close}?`,
    );
  }
  return value;
}
