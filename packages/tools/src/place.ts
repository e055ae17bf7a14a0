import { isHoldfastError } from "@holdfast/protocol/error";
import { linePath } from "@holdfast/runtime/paths/quoted";
import type { Files, PathIdentity } from "@holdfast/runtime/ports/files";
import type { CallRefusal } from "@holdfast/runtime/ports/tool-host";
import { refuse } from "./define.ts";

/** A path of a call: where it really leads, and how people and the model read it. */
export interface Place {
  readonly identity: PathIdentity;
  readonly real: string;
  readonly shown: string;
}

/** Relative paths start at `cwd`. The home folder has no short form here: a folder called `~` would be made. */
export async function placeOf(files: Files, cwd: string, path: string): Promise<Place | CallRefusal> {
  if (/^~(\/|\\|$)/.test(path)) return refuse(`${path}: write the home folder out; "~" is not expanded.`);
  try {
    const identity = await files.identify(path === "" || isAbsolute(path) ? path : `${cwd}/${path}`);
    return { identity, real: identity.real, shown: shownPath(identity.real, cwd) };
  } catch (error) {
    if (isHoldfastError(error, "tool_input_invalid")) return refuse(`path: ${error.message}`);
    throw error;
  }
}

export function isRefusal(value: object): value is CallRefusal {
  return "type" in value && value.type === "refused";
}

/** Relative to the folder the session works in, where it lies below it; on one line, whatever the name has. */
export function shownPath(real: string, cwd: string): string {
  const base = cwd.endsWith("/") || cwd.endsWith("\\") ? cwd : cwd + (cwd.includes("\\") ? "\\" : "/");
  return linePath(real.startsWith(base) ? real.slice(base.length).replaceAll("\\", "/") : real);
}

export function fileResource(real: string): string {
  return `file:${real}`;
}

function isAbsolute(path: string): boolean {
  return /^([/\\]|[A-Za-z]:[/\\])/.test(path);
}
