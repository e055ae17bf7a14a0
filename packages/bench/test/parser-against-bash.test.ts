import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommand } from "@holdfast/policy";
import { expect, test } from "vitest";
import { createRandom } from "../src/random.ts";
import { shellLines } from "./shell-lines.ts";

/** Writes the arguments it was called with, in one go, to the file of the line that is run. */
const program = (name: string): string =>
  `#!/bin/bash\nprintf -v s '%s\\x1f' ${name} "$@"\nprintf '%s\\n\\x1e' "$s" >> "/log/$LINE_NUMBER.$$"\n`;

/** What bash really runs for each line, in a root with nothing but these four programs on its PATH and no network. */
function runLines(lines: readonly string[]): string[][][] {
  const base = mkdtempSync(join(tmpdir(), "holdfast-lines-"));
  try {
    for (const folder of ["bin", "in", "log"]) mkdirSync(join(base, folder));
    for (const name of ["aa", "bb", "cc", "dd"]) {
      writeFileSync(join(base, "bin", name), program(name));
      chmodSync(join(base, "bin", name), 0o755);
    }
    lines.forEach((line, i) => writeFileSync(join(base, "in", String(i)), line));
    writeFileSync(
      join(base, "in/run"),
      `export PATH=/stubs; cd /here; for ((n = 0; n < ${lines.length}; n++)); do export LINE_NUMBER=$n; line=$(/usr/bin/cat "/in/$n"; echo x); /usr/bin/timeout -s KILL 3 /usr/bin/bash -c "\${line%x}" </dev/null >/dev/null 2>&1; done; /usr/bin/sleep 1; cd /log; for f in *; do /usr/bin/cat "$f" >> "/log/all.\${f%%.*}"; done`,
    );
    const system = ["/usr/lib64", "/usr/lib", "/usr/bin"].filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]);
    const links = ["lib", "lib64", "bin"].flatMap((name) => ["--symlink", `usr/${name}`, `/${name}`]);
    const own = [
      ...["--ro-bind", join(base, "bin"), "/stubs", "--ro-bind", join(base, "in"), "/in"],
      ...["--bind", join(base, "log"), "/log", "--tmpfs", "/here"],
    ];
    const box = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv", "--tmpfs", "/"];
    const mounts = [...system, ...links, "--proc", "/proc", "--dev", "/dev", ...own];
    const ended = spawnSync("bwrap", [...box, ...mounts, "bash", "/in/run"], { stdio: "ignore", timeout: 110_000 });
    expect(ended.status).toBe(0);
    return lines.map((_, i) => {
      const file = join(base, `log/all.${i}`);
      const text = existsSync(file) ? readFileSync(file, "utf8") : "";
      return text.split("\n\u001e").flatMap((run) => (run.includes("\u001f") ? [run.split("\u001f").slice(0, -1)] : []));
    });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Whether a call may be the command of these words; an unknown word stands for any number of arguments. */
function mayBe(words: readonly (string | null)[], call: readonly string[]): boolean {
  const [word, ...rest] = words;
  if (word === undefined) return call.length === 0;
  if (word === null) return call.some((_, i) => mayBe(rest, call.slice(i))) || mayBe(rest, []);
  return call[0] === word && mayBe(rest, call.slice(1));
}

test("bash runs nothing that the parser didn't find, in any line that it calls readable", () => {
  const lines = shellLines(200, createRandom(20_261_129));
  const calls = runLines(lines);
  let judged = 0;
  const missed = lines.flatMap((line, i) => {
    const { commands, problems } = parseCommand(line);
    if (problems.length > 0) return [];
    return calls[i]!.flatMap((call) => {
      judged += 1;
      const isFound = commands.some(({ words }) =>
        mayBe(
          words.map(({ literal }) => literal),
          call,
        ),
      );
      return isFound ? [] : [{ line, call }];
    });
  });
  expect(missed).toEqual([]);
  expect(judged).toBeGreaterThan(200);
}, 120_000);
