import type { CheckRun } from "@holdfast/protocol";
import type { ScratchChange } from "@holdfast/runtime";
import { type CheckInputs, placeOf } from "../inputs.ts";
import { heldTo, type Round, type Rounds } from "../rounds.ts";
import type { VerifierInput } from "../verifier-input.ts";
import { ownPrograms } from "./own-programs.ts";
import { pythonGuard } from "./python-guard.ts";
import type { Reach } from "./reach.ts";
import { type Guard, markOf, nodeOption, type Watched, watchEnvironment, watchFolder } from "./watch.ts";

/** Lines that set what the guard is loaded by, in a shell's or a runner's words. */
const sets = /\b(?:NODE_OPTIONS|PYTHONPATH)\s*[:?]?=/;
const [optionName, folderName] = ["HOLDFAST_GUARD_OPTION", "HOLDFAST_GUARD_FOLDER"];
const isCode = /\.(?:[cm]?[jt]sx?|py|rb|pl|pm|go|rs)$/;
/** What runs an interpreter without them. */
const drops =
  /\benv\s+(?:\S+\s+)*?(?:-\w*i\b|--ignore-environment|-u\s*(?:NODE_OPTIONS|PYTHONPATH))|\bunset\s+[^\n;]*(?:NODE_OPTIONS|PYTHONPATH)|\b(?:python|pypy)[\d.]*\s+(?:-\S+\s+)*-[A-Za-z]*[IES]/;
/** By what a check's text says that a language is at work. */
const mentions: Readonly<Record<Watched, RegExp>> = {
  node: /\b(?:node|npm|npx|pnpm|yarn|bunx?|deno|tsx|ts-node|vitest|jest|mocha|ava)\b/,
  python: /\b(?:python[\d.]*|pypy3?|pytest|unittest|tox|nox|uv|poetry|pipenv|pdm|hatch)\b/,
};
const mostBytes = 256 * 1024;

/** Lines that set these variables keep what the guard is loaded by, in front of their own. */
function withGuard(text: string, quote = '"'): string {
  return text
    .replace(/\b(PYTHONPATH\s*[:?]?=\s*)/g, `$1\${${folderName}}:`)
    .replace(/\b(NODE_OPTIONS\s*[:?]?=\s*)/g, `$1${quote}\${${optionName}} ${quote}`);
}

/** Before all else: it shows that the guard was there. */
function withMark(code: string, mark: string): string {
  return `import os as _os\n\ntry:\n    open(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "${mark}"), "w").close()\nexcept OSError:\n    pass\n${code}`;
}

/** What stands in the temporary folder of most machines. */
const usual = ".X11-unix .ICE-unix .font-unix .XIM-unix pip-build npm-cache tmux-1000 vscode-ipc";

/** As in a shell of its user's: no folder of a check's own is empty. */
function withCompany(command: string): string {
  return `(cd "\${TMPDIR:-/nowhere}" && mkdir -p ${usual}) >/dev/null 2>&1\n${command}`;
}

/**
 * A run in a copy in which sources can't act on their tests, and are told no more of their surroundings than a plain program;
 * `last`: its run without; `isGuarded`: the interpreters that load the `watched` ones showed that they were told so.
 */
export async function guardedRun(
  { observer, files }: VerifierInput,
  rounds: Rounds,
  round: Round,
  last: CheckRun,
  manifest: string,
  { inputs, named }: CheckInputs,
  { watched, asking, opened, compared }: Pick<Reach, "opened" | "compared"> & Readonly<Record<"watched" | "asking", readonly string[]>>,
): Promise<{ readonly run: CheckRun; readonly isGuarded: boolean }> {
  const home = placeOf(files, files.cwd);
  const root = home?.root ?? "";
  const folder = home === null || home.path === "" ? watchFolder : `${home.path}/${watchFolder}`;
  // What is watched must not guess it: it could write the mark itself.
  const nonce = crypto.randomUUID();
  const sources = [...watched, ...asking];
  const programs = await ownPrograms(observer, manifest, inputs);
  const guardIn = (cwd: string): Guard => ({ watched: sources, programs, folder: `${cwd}/${watchFolder}`, nonce });
  const put = (path: string, text: string): ScratchChange => ({ root, path, kind: "file", content: new TextEncoder().encode(text) });
  // Where the copy lies is known to the run alone: its variables say it, also to lines that set others of their own.
  const changes = [put(`${folder}/sitecustomize.py`, withMark(pythonGuard(sources, compared), markOf({ nonce }, "python")))];
  for (const { entry, text } of opened)
    changes.push({ ...put(entry.path, text), root: entry.root, kind: entry.kind === "executable" ? "executable" : "file" });
  for (const { entry } of inputs.values()) {
    if (entry.root !== root || entry.kind === "link" || isCode.test(entry.path) || entry.size > mostBytes) continue;
    const bytes = await observer.content(manifest, entry);
    const text = bytes === null ? "" : new TextDecoder().decode(bytes);
    if (sets.test(text))
      changes.push({ ...put(entry.path, withGuard(text, entry.path.endsWith(".json") ? '\\"' : '"')), kind: entry.kind });
  }
  const command = withCompany(withGuard(round.check.command));
  const seen = new Set<Watched>();
  const held = heldTo(round, last);
  const guarded: Round = {
    ...held,
    check: { ...held.check, command },
    env: (cwd) => {
      const guard = guardIn(cwd);
      return { ...watchEnvironment(guard), [optionName]: nodeOption(guard), [folderName]: guard.folder };
    },
  };
  const run = await rounds.inCopy(guarded, manifest, changes, [], async (cwd) => {
    for (const language of ["node", "python"] as const) {
      const mark = await observer.read({ root: "", path: `${cwd}/${watchFolder}/${markOf({ nonce }, language)}` });
      if (mark !== null) seen.add(language);
    }
  });
  const languages = new Set(watched.map((path): Watched => (/\.pyi?$/.test(path) ? "python" : "node")));
  const isGuarded = [...languages].every(
    (language) => !mentions[language].test(named.text) || (seen.has(language) && !drops.test(named.text)),
  );
  return { run, isGuarded };
}
