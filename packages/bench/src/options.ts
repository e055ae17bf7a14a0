import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * What a program of this folder was asked for. What it can't take ends it with status 2 before it begins: a run that did
 * nothing must not look like one that found nothing.
 */
export function readOptions<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  answerHelp(usage);
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(usage, error instanceof Error ? error.message : String(error));
  }
}

export function answerHelp(usage: string): void {
  if (!process.argv.slice(2).some((word) => word === "--help" || word === "-h")) return;
  console.log(usage);
  process.exit(0);
}

export function refuse(usage: string, problem: string): never {
  console.error(`${problem}\n${usage}`);
  process.exit(2);
}

/** A number as an option has it. `isWhole`: counts and seeds. */
export function readNumber(
  usage: string,
  name: string,
  text: string,
  { min, max = Number.MAX_SAFE_INTEGER, isWhole = true }: { readonly min: number; readonly max?: number; readonly isWhole?: boolean },
): number {
  const value = text.trim() === "" ? NaN : Number(text);
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  const bounds = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`;
  return refuse(usage, `--${name} takes a ${isWhole ? "whole number" : "number"} ${bounds}, not ${JSON.stringify(text)}`);
}
