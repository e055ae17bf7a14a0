import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The project as a session finds it. */
const files: Readonly<Record<string, string>> = {
  "state.txt": "n = 0\n",
  "a.txt": "a before\n",
  "b.txt": "b before\n",
  "d.txt": "d\n",
  "f.txt": "f\n",
  "old/x.txt": "x\n",
};

export const check = "git grep -q 'n = 2'";

/** What the files must hold in the end; null for a file that must be gone. */
export const finished: Readonly<Record<string, string | null>> = {
  "state.txt": "n = 2\n",
  "a.txt": "a after\n",
  "b.txt": "b after\n",
  "c.txt": "c\n",
  "d.txt": null,
  "e.txt": "d\n",
  "f.txt": null,
  "new.txt": "new\n",
};

interface Mark {
  /** How the call that makes it must have ended. */
  readonly exitCode: number;
  /** A part of a command that may be ended with its session, so that it may never come so far. */
  readonly isOptional?: true;
}

/** Lines that commands append to the ledger: each at most once, and exactly once where the call is not in doubt. */
export const marks: Readonly<Record<string, Mark>> = {
  first: { exitCode: 0 },
  beside: { exitCode: 0 },
  yielded: { exitCode: 0, isOptional: true },
  failing: { exitCode: 3 },
  reviewed: { exitCode: 0 },
};

const patch = `*** Begin Patch
*** Update File: b.txt
@@
-b before
+b after
*** Add File: c.txt
+c
*** Update File: d.txt
*** Move to: e.txt
*** Delete File: f.txt
*** End Patch`;

const run = (command: string, more: object = {}) => ({ name: "run_command", input: { command, ...more } });
const edit = (path: string, old: string, fresh: string) => ({ name: "edit_file", input: { path, edits: [{ old, new: fresh }] } });

const steps = [
  { calls: [run("sleep 0.2; echo first >> ledger; sleep 0.1")] },
  { calls: [edit("state.txt", "n = 0", "n = 1")] },
  {
    calls: [
      run("sleep 0.1; echo beside >> ledger"),
      edit("a.txt", "a before", "a after"),
      { name: "write_file", input: { path: "new.txt", content: "new\n" } },
    ],
  },
  { calls: [{ name: "apply_patch", input: { patch } }] },
  { calls: [run("echo early >> yields; sleep 1; echo yielded >> ledger; sleep 60", { yield_s: 1 })] },
  { calls: [run("echo failing >> ledger; exit 3", { expect: { exit_code: 3 } })] },
  { calls: [run("rm -rf old && echo reviewed >> ledger")] },
  { calls: [edit("state.txt", "n = 1", "n = 2")] },
  { text: "It is done." },
];

/** Makes the repository and the model's script in this folder. */
export function layOut(folder: string): { readonly workspace: string; readonly home: string; readonly script: string } {
  const [workspace, home, script] = [join(folder, "workspace"), join(folder, "home"), join(folder, "script.json")];
  mkdirSync(home);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  writeFileSync(script, JSON.stringify({ steps }));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", workspace, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { stdio: "pipe" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "start");
  return { workspace, home, script };
}

export function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
