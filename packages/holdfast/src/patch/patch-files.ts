import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isMissing, lookAt } from "@holdfast/node/files/missing";
import { patchFile } from "@holdfast/tools/patch/file";
import { parsePatch, type Section } from "@holdfast/tools/patch/parse";
import { decodeText } from "@holdfast/tools/text/encoding";
import { writeAll, type Write } from "./write-all.ts";

/** More than this is no file that anybody patches by hand. */
const maxFileBytes = 64 * 1024 * 1024;

/** What one section makes of the files. */
type Made = { readonly writes: readonly Write[]; readonly said: string; readonly notes: readonly string[] } | { readonly problem: string };

/**
 * Applies a patch to files, all or none, from within the process that wants it: there is no gate, no lock and no undo here,
 * as for whatever else a command does. `text` says what was changed, or why nothing was.
 */
export function patchFiles(
  patch: string,
  folder: string,
  isRedacted: (text: string) => boolean,
): { readonly isDone: boolean; readonly text: string } {
  const failed = (text: string) => ({ isDone: false, text: `No file was changed.\n${text}` });
  const parsed = parsePatch(patch);
  if (parsed.type === "refused") return failed(parsed.text);
  const made = parsed.sections.map((section) => makeOf(section, folder, isRedacted));
  const problems = made.flatMap((each) => ("problem" in each ? [each.problem] : []));
  if (problems.length > 0) return failed(problems.join("\n"));
  const all = made.flatMap((each) => ("problem" in each ? [] : [each]));
  const writes = all.flatMap((each) => each.writes);
  const twice = writes.find((write, at) => writes.findIndex((other) => other.path === write.path) < at);
  if (twice !== undefined) return failed(`${twice.path} is in the patch twice. Give all its changes in one section.`);
  const problem = writeAll(writes);
  if (problem !== null) return failed(problem);
  return { isDone: true, text: all.flatMap((each) => [each.said, ...each.notes]).join("\n") };
}

function makeOf(section: Section, folder: string, isRedacted: (text: string) => boolean): Made {
  const path = placeOf(folder, section.path);
  const problem = (text: string): Made => ({ problem: `${section.path}: ${text}` });
  if (section.type === "add") {
    if (kindOf(path) !== null) return problem("it exists already (file_exists); use Update File.");
    if (isRedacted(section.content)) return problem(redacted);
    const write = { path, before: null, after: new TextEncoder().encode(section.content), mode: null };
    return { writes: [write], said: `A ${section.path}`, notes: [] };
  }
  const found = currentOf(path);
  if ("problem" in found) return problem(found.problem);
  const { bytes: before, mode } = found;
  const isLink = kindOf(path) === "link";
  if (section.type === "delete") {
    if (isLink) return problem("it is a link. Remove it with rm, or name the file that it leads to.");
    return { writes: [{ path, before, after: null, mode }], said: `D ${section.path}`, notes: [] };
  }
  const file = decodeText(before);
  if (file === null && section.hunks.length > 0) return problem("it is a binary file; it can't be edited as text.");
  const patched =
    file === null || section.hunks.length === 0
      ? ({ type: "patched", bytes: before, notes: [] } as const)
      : patchFile(file, section.hunks, isRedacted);
  if (patched.type === "refused") return problem(patched.why === "redacted" ? redacted : patched.text);
  const notes = patched.notes.map((note) => `${section.path}: ${note}`);
  if (section.moveTo === null) {
    return { writes: [{ path: realpathSync(path), before, after: patched.bytes, mode }], said: `M ${section.path}`, notes };
  }
  const to = placeOf(folder, section.moveTo);
  if (isLink) return problem("it is a link. Move it with mv, or name the file that it leads to.");
  if (kindOf(to) !== null) return problem(`it can't be moved: ${section.moveTo} exists already (file_exists).`);
  const writes = [
    { path: to, before: null, after: patched.bytes, mode },
    { path, before, after: null, mode },
  ];
  return { writes, said: `R ${section.path} -> ${section.moveTo}`, notes };
}

const redacted = "the new text holds the mark that stands for a redacted secret. Leave that part of the file as it is.";

/** By its real folder, so that one file has one name. The file itself may be a link. */
function placeOf(folder: string, path: string): string {
  const whole = resolve(folder, path);
  let [known, rest] = [dirname(whole), basename(whole)];
  while (kindOf(known) === null && dirname(known) !== known) [known, rest] = [dirname(known), join(basename(known), rest)];
  return join(kindOf(known) === null ? known : realpathSync(known), rest);
}

function currentOf(path: string): { readonly bytes: Uint8Array; readonly mode: number } | { readonly problem: string } {
  try {
    const real = realpathSync(path);
    const stat = lstatSync(real);
    if (!stat.isFile()) return { problem: "it is no file." };
    if (stat.size > maxFileBytes) return { problem: "it is too large to be patched." };
    return { bytes: readFileSync(real), mode: stat.mode & 0o7777 };
  } catch (error) {
    return { problem: isMissing(error) ? "it does not exist (file_missing)." : (error as Error).message };
  }
}

function kindOf(path: string): "link" | "other" | null {
  const stat = lookAt(path);
  return stat === undefined ? null : stat.isSymbolicLink() ? "link" : "other";
}
