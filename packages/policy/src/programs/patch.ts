import { addNeed, type Judge } from "../facts/fact.ts";
import { literalWord } from "../shell/command.ts";

const headings = /^\*\*\* (?:(Add|Update|Delete) File|Move to): *(.+?)\s*$/gm;

/**
 * A patch that stands in the line touches what its headings name. One that only a run can tell (`apply_patch < file`) is
 * bounded by the sandbox alone, as `git apply` is.
 */
const patch: Judge = (call, findings) => {
  const text = call.args[0]?.literal ?? call.command.hereText ?? "";
  for (const [, kind, path] of text.matchAll(headings)) addNeed(findings, kind === "Delete" ? "delete" : "write", literalWord(path!));
};

export const patchJudges: ReadonlyMap<string, Judge> = new Map([
  ["apply_patch", patch],
  ["applypatch", patch],
]);
