import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, processesAt, runToEnd, specFor } from "./processes-fixture.ts";

test("programs that a repository's settings name aren't started by what only looks, commits or asks a remote", async () => {
  const place = makePlace();
  const mark = join(place.base, "mark");
  const program = join(place.base, "program");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${mark}\nexit 1\n`);
  chmodSync(program, 0o755);
  const git = (...args: string[]): void => {
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: place.workspace,
      env: { PATH: process.env["PATH"], HOME: place.userHome, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: "ignore",
    });
  };
  git("init", "-q");
  writeFileSync(join(place.workspace, "a.txt"), "a\n");
  git("add", ".");
  git("commit", "-qm", "one");
  for (const key of ["core.fsmonitor", "core.pager", "pager.log", "core.editor", "sequence.editor", "core.sshCommand", "core.askPass"])
    git("config", key, program);
  for (const [key, value] of [
    ["user.name", "a"],
    ["user.email", "a@example.com"],
    ["log.showSignature", "true"],
    ["gpg.program", program],
  ] as const)
    git("config", key, value);
  writeFileSync(join(place.workspace, "a.txt"), "b\n");
  const processes = processesAt(place);
  const line =
    "git status --short; git diff --stat; git --paginate log -1 --format=%s; git commit -qam two && git commit -q --amend && git rebase -q -i HEAD~1; git ls-remote ssh://127.0.0.1:1/x; git log --format=%s";
  const { text } = await runToEnd(processes, specFor(place, line));
  await processes.close();
  expect(text).toContain("M a.txt");
  expect(text.trimEnd().endsWith("two\none")).toBe(true);
  expect(existsSync(mark)).toBe(false);
}, 30_000);
