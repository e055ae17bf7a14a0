import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Script } from "./model-server.ts";
import { createPlace, until } from "./run.ts";

const files = {
  "src/sum.js": "export const sum = (a, b) => a + b;\n",
  "src/old.js": "export const old = 1;\n",
  "test.sh": "grep -q 'a + b' src/sum.js\n",
};
const finding = (more: object = {}) => ({
  file: "src/sum.js",
  line: 1,
  severity: "high",
  title: "sum subtracts",
  detail: "It returns a - b.",
  evidence: "line 1",
  ...more,
});
const answer = (...findings: object[]) => ({ text: JSON.stringify({ summary: "Looked at all of it.", findings }) });
const read = (...paths: string[]) => ({ calls: [{ name: "read_change", input: { paths } }] });
const all = read("src/sum.js", "src/old.js", "src/new file.js");

/** One changed, one deleted, one new file. */
async function place(script: Script) {
  const made = await createPlace(script, files);
  writeFileSync(join(made.workspace, "src/sum.js"), "export const sum = (a, b) => a - b;\n");
  rmSync(join(made.workspace, "src/old.js"));
  writeFileSync(join(made.workspace, "src/new file.js"), "export const fresh = 1;\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", made.workspace, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { stdio: "pipe" });
  return { ...made, git, review: (...args: string[]) => made.start(["review", "--model", "openai/test", ...args]).finished };
}

describe("a review", () => {
  test("that was killed is gone on with: the changes can still be read", async () => {
    const at = await place((results, sampling) =>
      sampling === 1 ? { text: "lost", delayMs: 60_000 } : results.length === 0 ? all : answer(),
    );
    const run = at.start(["review", "--model", "openai/test"]);
    await until(() => at.server.requests.length === 1, "the model was asked");
    run.child.kill("SIGKILL");
    await run.finished;
    const { code, stderr } = await at.exec("resume", await at.session());
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("all 3 changed files of the uncommitted changes were read");
  });

  test("leaves out no new link, also to a folder", async () => {
    const at = await place((results) => (results.length === 0 ? read("way in", "nowhere") : answer()));
    symlinkSync("src", join(at.workspace, "way in"));
    symlinkSync("not here", join(at.workspace, "nowhere"));
    const { stderr } = await at.review();
    expect(JSON.stringify(at.server.requests[1])).toContain("+src");
    expect(stderr).toContain("2 of 5 changed files read");
  });

  test("says of which repositories inside nothing was inspected, new ones and submodules", async () => {
    const at = await place((results) => (results.length === 0 ? read("src/sum.js", "src/old.js", "src/new file.js", "part") : answer()));
    for (const name of ["a clone", "part"]) {
      const inner = join(at.workspace, name);
      mkdirSync(inner);
      writeFileSync(join(inner, "inner.js"), "let inner;\n");
      for (const args of [
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
      ])
        execFileSync("git", ["-C", inner, ...args], { stdio: "pipe" });
    }
    at.git("add", "part");
    const { code, stdout, stderr } = await at.review();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("not inspected: part, a repository of its own\nnot inspected: a clone, a repository of its own\n");
    const { stdout: json } = await at.review("--json");
    expect(json).toContain('"notInspected":["part","a clone"]');
  });

  test("names files as the disk does, whatever characters are in their names", async () => {
    const names = ["neu ä.txt", "漢字.txt", 'say "ä".txt', "tab\tand ü.txt"];
    const at = await place((results) => (results.length === 0 ? read(...names) : answer()));
    for (const name of names) writeFileSync(join(at.workspace, name), `this is ${name.length}\n`);
    at.git("add", "tab\tand ü.txt");
    const { stderr } = await at.review();
    expect(stderr).toContain("4 of 7 changed files read");
  });

  test("shows a name with a line break as git does, so that it can't be taken for two", async () => {
    const at = await place((results) => (results.length === 0 ? read('"one\\ntwo"') : answer(finding({ file: "one\ntwo" }))));
    for (const name of ["one\ntwo", "three\nfour"]) writeFileSync(join(at.workspace, name), "words\n");
    const { stderr, stdout } = await at.review();
    expect(stderr).toContain("1 of 5 changed files read");
    expect(stderr).toContain('"three\\nfour"');
    expect(stdout + stderr).not.toMatch(/^\W*(?:four|two)\b/m);
    const asked = JSON.stringify(at.server.requests[0]);
    for (const name of ["one\ntwo", "three\nfour"]) expect(asked).toContain(JSON.stringify(JSON.stringify(name)).slice(1, -1));
  });

  test("of changes that git can't tell says so, instead of leaving them out", async () => {
    const at = await place(() => answer());
    writeFileSync(join(at.workspace, ".git/index"), "no index");
    const { code, stderr } = await at.review();
    expect([code, at.server.requests.length]).toEqual([2, 0]);
    expect(stderr).toContain("git can't tell the changes");
  });

  test("shows its findings, worst first, and that everything was read", async () => {
    const script: Script = (results) =>
      results.length === 0
        ? all
        : answer(
            finding({ severity: "low", title: "a nit" }),
            finding(),
            finding({ file: "src/old.js", line: 9, severity: "medium" }),
            finding({ line: 99, title: "nowhere" }),
          );
    const at = await place(script);
    const { code, stdout, stderr } = await at.review();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("the uncommitted changes: 4 findings; 3 of 3 changed files read");
    expect([...stdout.matchAll(/^(HIGH|MEDIUM|LOW) {2}(\S+)(.*)$/gm)].map(([, severity, where, note]) => [severity, where, note])).toEqual([
      ["HIGH", "src/sum.js:1", ""],
      ["HIGH", "src/sum.js:99", "  (there is no such line)"],
      ["MEDIUM", "src/old.js:9", ""],
      ["LOW", "src/sum.js:1", ""],
    ]);
    expect(stderr).toContain("inspected: all 3 changed files of the uncommitted changes were read");
    const shown = JSON.stringify(at.server.requests.at(-1));
    for (const line of ["+export const sum = (a, b) => a - b;", "-export const old = 1;", "+export const fresh = 1;"])
      expect(shown).toContain(line);
  });

  test("that finds nothing is a good one, with the same coverage", async () => {
    const at = await place((results) => (results.length === 0 ? all : answer()));
    const { code, stdout } = await at.review("--fail-on", "low");
    expect([code, stdout.split("\n")[0]]).toEqual([0, "the uncommitted changes: no finding; 3 of 3 changed files read"]);
  });

  test("isn't done before everything was read, whatever it says: it is told what is missing", async () => {
    const at = await place((results) =>
      results.length === 0
        ? read("src/sum.js")
        : results.length === 1 && at.server.requests.length > 2
          ? read("src/old.js", "src/new file.js")
          : answer(),
    );
    const { code, stdout } = await at.review();
    expect([code, stdout.split("\n")[0]]).toEqual([0, "the uncommitted changes: no finding; 3 of 3 changed files read"]);
    expect(JSON.stringify(at.server.requests[2])).toContain("1 of 3 changed files read; not read:");
  });

  test("that never reads everything is refuted, and lists what was not read", async () => {
    const at = await place((results) => (results.length === 0 ? read("src/sum.js") : answer(finding())));
    const { code, stdout, stderr } = await at.review();
    expect(code).toBe(3);
    expect(stdout).toContain("1 of 3 changed files read; not read:");
    for (const path of ["src/old.js", "src/new file.js"]) expect(stdout + stderr).toContain(path);
  });

  test("can't change anything, and a diff of many parts has to be read to its end", async () => {
    const at = await place((results) => {
      if (results.length === 0)
        return {
          calls: [
            { name: "run_command", input: { command: "echo x > made.txt" } },
            { name: "read_change", input: { paths: ["big.txt"] } },
          ],
        };
      const next = /go on with part (\d+)/.exec(results.at(-1) ?? "")?.[1];
      if (next !== undefined) return { calls: [{ name: "read_change", input: { paths: ["big.txt"], part: Number(next) } }] };
      return results.some((text) => text.includes("fresh = 1")) ? answer() : all;
    });
    writeFileSync(join(at.workspace, "big.txt"), Array.from({ length: 6000 }, (_, line) => `line ${line} of a large file`).join("\n"));
    const { code, stdout } = await at.review();
    expect([code, stdout.split("\n")[0]]).toEqual([0, "the uncommitted changes: no finding; 4 of 4 changed files read"]);
    expect(existsSync(join(at.workspace, "made.txt"))).toBe(false);
  });

  test("of a commit and of all since a branch; severity can decide the exit status", async () => {
    const at = await place((results) => (results.length === 0 ? all : answer(finding({ severity: "medium" }))));
    at.git("checkout", "-q", "-b", "work");
    at.git("add", "-A");
    at.git("commit", "-qm", "change");
    expect((await at.review("--commit", "HEAD", "--fail-on", "high")).code).toBe(0);
    const since = await at.review("--base", "main", "--fail-on", "medium", "--json");
    expect(since.code).toBe(3);
    const last = JSON.parse(since.stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
    expect(last).toMatchObject({
      type: "review.completed",
      range: "the changes since main",
      coverage: "3 of 3 changed files read",
      findings: [{ file: "src/sum.js", line: 1, severity: "medium", isThere: true }],
    });
    expect((await at.review()).stderr).toContain("there is nothing to review");
    for (const ref of ["nowhere", "--help", "$(touch owned)", "-x"]) {
      const { code, stderr } = await at.review(`--base=${ref}`);
      expect([code, stderr.includes("names no commit")], ref).toEqual([2, true]);
    }
    expect(existsSync(join(at.workspace, "owned"))).toBe(false);
  });

  test("runs nothing that a stranger's repository names, outside the sandbox", async () => {
    const at = await place((results) => (results.length === 0 ? all : answer()));
    const evil = `sh -c 'touch ${at.home}/owned'`;
    for (const [key, value] of [
      ["core.fsmonitor", evil],
      ["diff.external", evil],
      ["filter.evil.clean", evil],
      ["core.pager", evil],
      ["diff.evil.textconv", evil],
    ] as const)
      at.git("config", key, value);
    writeFileSync(join(at.workspace, ".git/info/attributes"), "* filter=evil diff=evil\n");
    await at.review();
    expect(existsSync(join(at.home, "owned"))).toBe(false);
  });

  test("goes on to fix what it found, and verifies that", async () => {
    const at = await place((results) => {
      if (results.length === 0) return all;
      if (results.length === 1 && !JSON.stringify(at.server.requests.at(-1)).includes("Fix the findings")) return answer(finding());
      if (results.length === 1) return { calls: [{ name: "read_file", input: { path: "src/sum.js" } }] };
      if (results.length === 2) return { calls: [{ name: "write_file", input: { path: "src/sum.js", content: files["src/sum.js"] } }] };
      return { text: "Fixed." };
    });
    const { code, stdout, stderr } = await at.review("--fix", "--check", "sh test.sh");
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("HIGH  src/sum.js:1");
    expect(stdout.trim().endsWith("Fixed.")).toBe(true);
    expect(stderr).toMatch(/demonstrated: .*failed before and .* now/);
    expect(readFileSync(join(at.workspace, "src/sum.js"), "utf8")).toBe(files["src/sum.js"]);
  });
});
