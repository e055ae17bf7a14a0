import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Validator } from "@cfworker/json-schema";
import type { Inspection, WhyChanged } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { repository } from "../pages.ts";
import type { Place } from "./run.ts";
import { createPlace, until } from "./run.ts";

const files = {
  "a.sh": "true one\necho two\ntrue three\n",
  "b.txt": "b\n",
  "c.txt": "c\n",
  "f.txt": "f\n",
  "same.txt": "same\n",
  ".gitignore": "ignored.txt\n",
  "test.sh": '[ "$(sh a.sh)" = TWO ] && echo "1..1" && echo "ok 1 - two"\n',
};
const command = (line: string, more: object = {}) => ({ name: "run_command", input: { command: line, ...more } });
const turns = [
  [
    {
      text: "First the second line.",
      calls: [{ name: "edit_file", input: { path: "a.sh", edits: [{ old: "echo two", new: "echo TWO" }] } }],
    },
    { text: "Then b.", calls: [command("echo more >> b.txt", { expect: { exit_code: 0, file_changed: "b.txt" } })] },
    { text: "Done." },
  ],
  [
    { calls: [command("echo d > d.txt; echo i > ignored.txt")] },
    { calls: [command("printf fine > f.txt"), { name: "edit_file", input: { path: "a.sh", edits: [{ old: "nowhere", new: "x" }] } }] },
    { calls: [command("curl https://example.org")] },
    { text: "I edited `c.txt`." },
  ],
] as const;

/** Two turns of edits and commands; between them and after them a person changes files. */
async function twoTurns(): Promise<{ place: Place; session: string }> {
  let [turn, from] = [0, 0];
  const place = await createPlace((results, sampling) => turns[turn]?.[sampling - from - 1] ?? { text: "Done." }, files);
  expect((await place.exec("--check", "sh test.sh", "change it")).code).toBe(0);
  appendFileSync(join(place.workspace, "c.txt"), "by hand\n");
  [turn, from] = [1, place.server.requests.length];
  await place.exec("resume", "--last", "go on");
  return { place, session: await place.session() };
}

function validatorFor(name: string): Validator {
  const folder = join(repository, "packages/protocol/schema");
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8")) as object;
  const validator = new Validator(read(`${name}.json`), "2020-12", false);
  const seen = new Set<string>();
  const add = (schema: object): void => {
    for (const [, file = ""] of JSON.stringify(schema).matchAll(/"\$ref":"([a-z-]+\.json)"/g)) {
      if (seen.has(file)) continue;
      seen.add(file);
      validator.addSchema(read(file), file);
      add(read(file));
    }
  };
  add(read(`${name}.json`));
  return validator;
}

describe("a session that was inspected", { timeout: 120_000 }, () => {
  test("shows goal, each action with its decision, expectation and evidence, the checks and the outcome", async () => {
    const { place, session } = await twoTurns();
    const { stdout, code } = await place.start(["inspect", session, "--json"]).finished;
    expect(code).toBe(0);
    const { type, ...shown } = JSON.parse(stdout) as Inspection & { type: string };
    expect([type, validatorFor("inspection").validate(shown).errors]).toEqual(["session.inspected", []]);
    const [first, second] = shown.turns;
    expect(first).toMatchObject({
      goal: [{ text: "change it", trust: "user" }],
      criteria: [{ name: "sh test.sh", authority: "user", isRequired: true }],
      rounds: [{ round: 1, verdict: "pass" }],
      outcome: "verified",
      tip: { keyId: expect.any(String) as string },
    });
    const [edit, append] = first?.actions ?? [];
    const evidence = first?.evidence.filter(({ phase }) => phase === "final").map(({ seq }) => seq);
    expect(edit).toMatchObject({
      step: 1,
      tool: "edit_file",
      why: "First the second line.",
      permission: { decision: "allow", rule: { id: "builtin:file-edit" } },
      evidence,
    });
    expect(edit?.changed).toMatchObject([{ path: join(place.workspace, "a.sh") }]);
    expect(append).toMatchObject({ step: 2, command: "echo more >> b.txt", expected: { verdict: "met" }, exitCode: 0, evidence });
    expect(append?.changed).toMatchObject([{ path: join(place.workspace, "b.txt") }]);
    expect(second?.actions.map(({ status, evidence: own }) => [status, own.length > 0])).toEqual([
      ["completed", true],
      ["completed", true],
      ["failed", false],
      ["denied", false],
    ]);
    expect(second?.actions.at(-1)?.permission).toMatchObject({ decision: "review" });
    const text = (await place.start(["inspect"]).finished).stdout;
    for (const part of [
      "why        First the second line.",
      "expected   ",
      "observed   met",
      "round 1    sh test.sh: pass",
      "outcome    verified",
    ])
      expect(text).toContain(part);
    expect((await place.start(["inspect", "--turn", "3"]).finished).code).toBe(2);
  });

  test("says who last changed a file or a line, and no more than is known", async () => {
    const { place } = await twoTurns();
    const at = (name: string) => join(place.workspace, name);
    const why = async (name: string) => {
      const { stdout, stderr } = await place.start(["inspect", "--why", name, "--json"]).finished;
      if (stdout === "") return { by: stderr, commands: [], verified: [], says: "" };
      const found = JSON.parse(stdout) as WhyChanged;
      const { type: _, ...rest } = found as WhyChanged & { type: string };
      expect(validatorFor("why-changed").validate(rest).errors).toEqual([]);
      return {
        by: found.by,
        commands: found.actions.map(({ action }) => action.command ?? action.tool),
        verified: found.verified.map(({ turn, sameFile }) => [turn, sameFile]),
        says: found.says.join("; "),
      };
    };
    const all = async (...names: string[]) =>
      Object.fromEntries(await Promise.all(names.map(async (name) => [name, await why(name)] as const)));
    const before = { by: "before_session", commands: [], verified: [] };
    const both = [
      [1, true],
      [2, true],
    ];
    expect(await all("a.sh", "a.sh:2", "a.sh:3", "same.txt", "b.txt", "b.txt:2", "b.txt:1")).toMatchObject({
      "a.sh": { by: "action", commands: ["edit_file"], verified: both },
      "a.sh:2": { by: "action", commands: ["edit_file"], verified: both },
      "a.sh:3": before,
      "same.txt": before,
      "b.txt": { by: "action", commands: ["echo more >> b.txt"], verified: both },
      "b.txt:2": { by: "action", commands: ["echo more >> b.txt"] },
      "b.txt:1": before,
    });
    expect(await all("c.txt", "d.txt", "f.txt", "ignored.txt", "../../etc/passwd", "b.txt:99")).toMatchObject({
      // Changed by hand between the turns.
      "c.txt": { by: "outside", commands: [], says: expect.stringContaining("something else") as string },
      "d.txt": { by: "action", commands: ["echo d > d.txt; echo i > ignored.txt"], verified: [[2, true]], says: "it was made" },
      "f.txt": { by: "action", commands: ["printf fine > f.txt"] },
      // What no list of files names is not guessed at.
      "ignored.txt": { by: "unknown", commands: [], says: expect.stringContaining("it is ignored") as string },
      "../../etc/passwd": { by: expect.stringContaining("path_outside") as string },
      "b.txt:99": { by: expect.stringContaining("has 2 lines") as string },
    });

    appendFileSync(at("a.sh"), "true four\n");
    writeFileSync(at("odd:2"), "x\n");
    const other = [
      [1, false],
      [2, false],
    ];
    expect(await all("a.sh", "a.sh:4", "a.sh:2", "odd:2")).toMatchObject({
      "a.sh": { by: "outside", verified: [] },
      "a.sh:4": { by: "outside" },
      "a.sh:2": { by: "action", commands: ["edit_file"], verified: other },
      "odd:2": { by: "outside" },
    });
    rmSync(at("a.sh"));
    expect(await why("a.sh")).toMatchObject({ by: "outside", says: expect.stringContaining("it was deleted") as string });
  });

  test("a link that leads out of the workspace is a file itself, and what was below its name is gone", async () => {
    const steps = [{ calls: [command("sh link.sh")] }, { text: "Done." }] as const;
    const place = await createPlace((_, sampling) => steps[sampling - 1] ?? { text: "Done." }, {
      "d/e/f.txt": "f\n",
      "link.sh": "rm -r d\nln -s /tmp d\n",
    });
    await place.exec("link it");
    const session = await place.session();
    const why = async (name: string): Promise<string> => {
      const { stdout, stderr } = await place.start(["inspect", session, "--why", name, "--json"]).finished;
      if (stdout === "") return stderr;
      const { by, says } = JSON.parse(stdout) as WhyChanged;
      return [by, ...says].join("; ");
    };
    expect(await why("d")).toContain("action; it was made");
    expect(await why("d/e/f.txt")).toContain("action; it was deleted");
    expect(await why("/tmp")).toContain("path_outside");
    expect(await why("d/none")).toContain("unknown; there is no file of that name");
    expect(await why("nope")).toContain("unknown; there is no file of that name");
    expect(await why("d:0")).toContain("lines are counted from 1");
  });

  test("names another session that worked in the folder at the same time, and is not certain of what both may have changed", async () => {
    let second: ReturnType<Place["start"]> | null = null;
    /** How many results the first had when it had looked at what its last command did. */
    let firstHas = 0;
    const place: Place = await createPlace(
      async (results, sampling) => {
        if (sampling === 1) return { calls: [command("echo 0 > c")] };
        if (sampling === 2) {
          second = place.start(["exec", "--sandbox", "off", "--approvals", "allow", "2"]);
          await until(() => existsSync(join(place.home, "held")), "the second session's command runs");
          return { calls: [{ name: "write_file", input: { path: "a", content: "A\n" } }] };
        }
        if (sampling === 3) return { calls: [command("touch $HOME/held; until [ -e go ]; do sleep 0.1; done; echo B > b")] };
        if (sampling === 4) {
          writeFileSync(join(place.workspace, "go"), "");
          return { calls: [command("echo 1 > c")] };
        }
        // From here on the second edits a file, the first runs a command, the second edits another, and the first ends.
        const isThere = (name: string) => existsSync(join(place.workspace, name));
        const edit = async (path: string, since: number) => {
          await until(() => firstHas >= since, "the first has looked at what its last command did");
          return { calls: [{ name: "write_file", input: { path, content: "by the second\n" } }] };
        };
        const waits = async (path: string) => {
          await sleep(300);
          firstHas = results.length;
          await until(() => isThere(path), "the second has edited a file");
        };
        if (results.length < 3) return edit(results.length === 1 ? "d" : "e", results.length + 2);
        if (isThere("e")) return { text: "Done." };
        await waits(results.length === 3 ? "d" : "e");
        return results.length === 3 ? { calls: [command("echo 2 > c")] } : { text: "Done." };
      },
      { z: "z\n" },
    );
    await place.exec("--sandbox", "off", "--approvals", "allow", "1");
    await second!.finished;
    const list = (await place.start(["sessions", "list"]).finished).stdout.split("\n").filter((row) => row.includes("ses_"));
    const ids = list.map((row) => [/ses_\w+/.exec(row)?.[0] ?? "", row.trim().endsWith(" 2")] as const);
    const [first, other] = [ids.find(([, isSecond]) => !isSecond)?.[0] ?? "", ids.find(([, isSecond]) => isSecond)?.[0] ?? ""];
    const why = async (session: string, file: string) => {
      const { by, says } = JSON.parse((await place.start(["inspect", session, "--why", file, "--json"]).finished).stdout) as WhyChanged;
      return [by, says.join("; ")];
    };
    expect(await why(other, "a")).toEqual(["one_of", expect.stringContaining(`the session ${first} changed it at the same time`)]);
    expect(await why(other, "b")).toEqual(["action", "it was made"]);
    expect(await why(first, "b")).toEqual(["outside", expect.stringContaining(`the session ${other} changed it meanwhile`)]);
    const named = expect.stringContaining(`the session ${other} changed it meanwhile`);
    expect(await Promise.all([why(first, "d"), why(first, "e")])).toEqual([
      ["outside", named],
      ["outside", named],
    ]);
    const text = (await place.start(["inspect", other]).finished).stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain(`${first} changed it meanwhile, too`);
    expect(text).toMatch(new RegExp(` meanwhile the session ${first} changed [^(]*/a[, ]`));
  });

  test("is told of when its folder is gone, too", async () => {
    const { place, session } = await twoTurns();
    execFileSync("git", ["-C", place.workspace, "checkout", "-q", "a.sh"]);
    const text = (await place.start(["inspect", session, "--why", join(place.workspace, "a.sh")]).finished).stdout;
    expect(text).toMatch(/was last changed from outside the\s+session/);
    rmSync(place.workspace, { recursive: true });
    const { code, stdout } = await place.start(["inspect", session], { cwd: place.home }).finished;
    expect([code, stdout]).toEqual([0, expect.stringContaining("outcome    verified")]);
    const gone = await place.start(["inspect", session, "--why", join(place.workspace, "a.sh")], { cwd: place.home }).finished;
    expect([gone.code, gone.stdout]).toEqual([0, expect.stringContaining("edit_file")]);
  });
});
