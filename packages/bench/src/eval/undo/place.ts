import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface UndoPlace {
  readonly workspace: string;
  /** Where links of the workspace lead: nothing here may ever change. */
  readonly outside: string;
  readonly home: string;
  remove(): void;
}

/** What the ignore rules of the beginning hide; they count for the whole session. Links are never hidden by a rule for folders. */
export function isIgnored(path: string): boolean {
  return path.endsWith(".log") || /(^|\/)build(\/|$)/.test(path);
}

/** A repository with a submodule, a repository inside, links, odd names, CRLF, and work that isn't committed. */
export function makeUndoPlace(): UndoPlace {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-undo-")));
  const [workspace, outside, home, library] = [join(top, "project"), join(top, "outside"), join(top, "home"), join(top, "library")];
  for (const folder of [workspace, outside, home, library]) mkdirSync(folder);
  const git = (cwd: string, ...args: string[]): void => {
    const who = [
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@example.org",
      "-c",
      "protocol.file.allow=always",
      "-c",
      "init.defaultBranch=main",
    ];
    execFileSync("git", [...who, ...args], {
      cwd,
      stdio: "pipe",
      env: { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
    });
  };
  const sh = (script: string): void => void execFileSync("bash", ["-c", script], { cwd: workspace, stdio: "pipe" });
  writeFileSync(join(outside, "precious"), "never touched\n");
  git(library, "init", "-q");
  writeFileSync(join(library, "lib.c"), "int lib;\n");
  git(library, "add", "-A");
  git(library, "commit", "-qm", "library");
  git(workspace, "init", "-q");
  git(workspace, "config", "core.autocrlf", "true");
  git(workspace, "config", "user.name", "A");
  git(workspace, "config", "user.email", "a@example.org");
  writeFileSync(join(workspace, ".gitignore"), "*.log\nbuild/\n");
  sh(`printf 'one\\r\\ntwo\\r\\n' > dos.txt; printf 'plain\\n' > unix.txt; mkdir -p src/deep/er empty; echo 'int main;' > src/main.c
    echo deep > src/deep/er/file; printf '#!/bin/sh\\n' > run.sh; chmod 755 run.sh; echo q > "quo'te\\".txt"; echo n > $'new\\nline'
    echo b > $'\\xff\\xfe-bytes'; echo u > 'ü n.txt'; echo d > ./-dash; ln -s src/main.c inner; ln -s ${outside} outer; ln -s nowhere dangling`);
  git(workspace, "add", "-A");
  git(workspace, "commit", "-qm", "start");
  git(workspace, "submodule", "--quiet", "add", library, "vendor/library");
  git(workspace, "commit", "-qm", "library");
  sh(`echo changed >> unix.txt; echo staged > staged.txt; git add staged.txt; echo more >> staged.txt; rm src/deep/er/file
    echo untracked > untracked.txt; mkfifo -m 640 pipe; chmod 600 src/main.c; mkdir build; echo o > build/out; echo l > a.log
    mkdir nested && cd nested && git init -q && echo in > in.txt && git add -A && git -c user.name=A -c user.email=a@b commit -qm in && echo un > un.txt`);
  symlinkSync(outside, join(workspace, "src/outer"));
  return { workspace, outside, home, remove: () => rmSync(top, { recursive: true, force: true }) };
}
