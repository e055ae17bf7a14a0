import { execFileSync, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Inspection, WhyChanged } from "@holdfast/protocol";
import { createPlace, type Place, type Started, until } from "./run.ts";

const files = { "a.txt": "one\n", "b.txt": "two\n", "dir/c.txt": "three\n" };
const command = (line: string) => ({ calls: [{ name: "run_command", input: { command: line } }] });
const script =
  (...lines: string[]) =>
  (results: readonly unknown[]) =>
    results.length < lines.length ? command(lines[results.length] as string) : { text: "Done." };

test("undo takes back what commands did: content, permissions, deletions, new files and links; git's own stays", async () => {
  const place = await createPlace(
    script(
      "sed -i s/one/ONE/ a.txt && chmod 755 a.txt",
      "rm -r dir; ln -s /etc link; mkdir -p new/deep; echo x > new/deep/x",
      "git add -A && git -c user.name=a -c user.email=a@b commit -qm work",
    ),
    files,
  );
  const at = (path: string) => join(place.workspace, path);
  writeFileSync(at("b.txt"), "two\nmine\n");
  writeFileSync(at("untracked"), "mine\n");
  chmodSync(at("dir/c.txt"), 0o640);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  expect(lstatSync(at("link")).isSymbolicLink()).toBe(true);
  const head = execFileSync("git", ["-C", place.workspace, "rev-parse", "HEAD"], { encoding: "utf8" });
  const steps = await place.start(["undo", "--steps"]).finished;
  expect(steps.stdout).toMatch(/1\.1 +1 file +sed -i/);
  const undone = await place.start(["undo"]).finished;
  expect(undone.stderr).toMatch(/git refs that commands moved: refs\/heads\/main/);
  expect(undone.code).toBe(0);
  expect(undone.stdout).toContain("-ONE\n+one\n");
  expect(undone.stdout).toContain(`deleted  ${at("new/deep/x")}`);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
  expect(statSync(at("a.txt")).mode & 0o777).toBe(0o644);
  expect(statSync(at("dir/c.txt")).mode & 0o777).toBe(0o640);
  expect([existsSync(at("new")), existsSync(at("link"))]).toEqual([false, false]);
  expect(readFileSync(at("b.txt"), "utf8")).toBe("two\nmine\n");
  expect(execFileSync("git", ["-C", place.workspace, "rev-parse", "HEAD"], { encoding: "utf8" })).toBe(head);
  expect((await place.start(["undo"]).finished).stderr).toContain("nothing to undo");
});

test("a folder in which a command made a repository stays, and is told as what it is", async () => {
  const place = await createPlace(script("mkdir lib; git init -q lib; echo x > lib/code.js; mkdir gone; echo y > gone/y"), files);
  const at = (path: string) => join(place.workspace, path);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  const { code, stdout, stderr } = await place.start(["undo"]).finished;
  expect([code, existsSync(at("lib/.git")), existsSync(at("lib/code.js")), existsSync(at("gone"))]).toEqual([0, true, false, false]);
  const deleted = stdout.split("\n").filter((line) => line.startsWith("deleted"));
  expect(deleted.map((line) => line.replace(`${place.workspace}/`, ""))).toEqual(
    expect.arrayContaining(["deleted  lib/code.js", "deleted  gone/", "deleted  gone/y"]),
  );
  expect(deleted).not.toContain(`deleted  ${at("lib/")}`);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(`${at("lib/")}: it holds .git, a repository, which an undo leaves as it is`);
  expect((await place.start(["undo"]).finished).stderr).toContain("nothing to undo");
});

test("what two sessions changed in a file at the same time is taken back from neither, and the other is named", async () => {
  const place = await createPlace(script("until [ -e go ]; do sleep 0.1; done; echo mine >> a.txt; echo x > x$$"), files);
  const at = (path: string) => join(place.workspace, path);
  const both = ["1", "2"].map((name) => place.start(["exec", "--sandbox", "off", "--approvals", "allow", name]));
  // Both have looked at the files by then, and one of them runs.
  await Promise.any(both.map(({ shows }) => shows("waiting for the workspace")));
  writeFileSync(at("go"), "");
  await Promise.all(both.map(({ finished }) => finished));
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\nmine\nmine\n");
  const { code, stderr } = await place.start(["undo"]).finished;
  expect([code, stderr]).toEqual([1, expect.stringMatching(/a\.txt: changed by the session ses_\w+ at the same time/)]);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\nmine\nmine\n");
});

test("what another session changed while a command waited for the workspace is no change of who waited", async () => {
  // Each writes a while after it has the workspace: who had it before looks at the files for a moment longer.
  const holds = "touch $HOME/held; until [ -e go ]; do sleep 0.1; done; echo A > a; echo A > new";
  const others: Started[] = [];
  const start = (name: string): Started => place.start(["exec", "--sandbox", "off", "--approvals", "allow", name]);
  const place: Place = await createPlace(async (results, sampling) => {
    if (sampling === 1) return command("echo 0 > b0");
    if (sampling === 3) return command(holds);
    if (sampling === 4) return command("sleep 1; echo C > c");
    if (sampling !== 2) return { text: "Done." };
    others.push(start("holder"));
    await until(() => existsSync(at("../home/held")), "the holder's command runs");
    others.push(start("late"));
    return command("sleep 1; echo B > b");
  }, files);
  const at = (path: string) => join(place.workspace, path);
  const waiter = start("waiter");
  await until(() => others.length === 2, "all have started");
  // The one looked at the files long before, the other has not yet.
  await Promise.all([waiter, others[1] as Started].map((one) => one.shows("waiting for the workspace")));
  writeFileSync(at("go"), "");
  await Promise.all([waiter, ...others].map(({ finished }) => finished));
  const { stdout } = await place.start(["sessions", "list"]).finished;
  const session = (name: string) => new RegExp(`(ses_\\w+).* ${name}\\s*$`, "m").exec(stdout)?.[1] ?? "";
  const why = async (name: string, file: string) =>
    (JSON.parse((await place.start(["inspect", session(name), "--why", file, "--json"]).finished).stdout) as { by: string }).by;
  expect([await why("waiter", "a"), await why("waiter", "b"), await why("holder", "a")]).toEqual(["outside", "action", "action"]);
  expect([await why("late", "a"), await why("late", "c")]).toEqual(["before_session", "action"]);
  const late = JSON.parse((await place.start(["inspect", session("late"), "--json"]).finished).stdout) as Inspection;
  expect(late.turns[0]?.report?.changes.map(({ path }) => path)).not.toContain("a");
  const undone = await place.start(["undo", session("waiter")]).finished;
  expect([undone.code, undone.stderr]).toEqual([0, expect.not.stringContaining("at the same time")]);
  expect(["a", "new", "b", "b0", "c"].filter((path) => existsSync(at(path)))).toEqual(["a", "new", "c"]);
});

test("undo --to a step keeps what came before it, and refuses where a person changed a file since", async () => {
  const place = await createPlace(script("echo first > a.txt", "echo second > a.txt; echo new > n.txt", "rm b.txt"), files);
  const at = (path: string) => join(place.workspace, path);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  writeFileSync(at("n.txt"), "by hand\n");
  const refused = await place.start(["undo", "--to", "1.2"]).finished;
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`${at("n.txt")}: changed since`);
  expect([readFileSync(at("a.txt"), "utf8"), existsSync(at("b.txt"))]).toEqual(["second\n", false]);
  writeFileSync(at("n.txt"), "new\n");
  writeFileSync(at("own.txt"), "a person's own\n");
  expect((await place.start(["undo", "--to", "1.2"]).finished).code).toBe(0);
  expect([readFileSync(at("a.txt"), "utf8"), readFileSync(at("b.txt"), "utf8"), existsSync(at("n.txt"))]).toEqual([
    "first\n",
    "two\n",
    false,
  ]);
  expect(readFileSync(at("own.txt"), "utf8")).toBe("a person's own\n");
  expect((await place.start(["undo", "--all"]).finished).code).toBe(0);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
  expect((await place.start(["undo"]).finished).stderr).toContain("nothing to undo");
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
  expect((await place.start(["undo", "--to", "9.9"]).finished).stderr).toContain("has no step 9.9");
});

test("after an undo of some steps each line is still told: what it put back, what stayed of the session's, and what nobody changed", async () => {
  const edit = (old: string) => ({ calls: [{ name: "edit_file", input: { path: "l.txt", edits: [{ old, new: old.toUpperCase() }] } }] });
  const place = await createPlace((results) => ["one", "two", "three"].map(edit)[results.length] ?? { text: "Done." }, {
    "l.txt": "one\ntwo\nthree\nfour\n",
  });
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  expect((await place.start(["undo", "--to", "1.2"]).finished).code).toBe(0);
  expect(readFileSync(join(place.workspace, "l.txt"), "utf8")).toBe("ONE\ntwo\nthree\nfour\n");
  const why = async (line: number) => {
    const { stdout } = await place.start(["inspect", "--why", `l.txt:${line}`, "--json"]).finished;
    const { by, actions } = JSON.parse(stdout) as WhyChanged;
    return [by, ...actions.map(({ action }) => action.step)];
  };
  expect(await Promise.all([1, 2, 3, 4].map(why))).toEqual([["action", 1], ["undo"], ["undo"], ["before_session"]]);
});

test("a fork at a step begins with the files as they were there", async () => {
  const place = await createPlace(script("echo first > a.txt", "echo second > a.txt"), files);
  const at = (path: string) => join(place.workspace, path);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  const forked = await place.start(["fork", await place.session(), "--at", "1.2", "--restore"]).finished;
  expect(forked.code).toBe(0);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("first\n");
  const fork = forked.stdout.trim();
  // What the fork shares can be taken back from it, too.
  expect((await place.start(["undo", fork, "--to", "1.1"]).finished).code).toBe(0);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
});

test("a fork at a step brings back what was taken back further, and refuses where that was changed since", async () => {
  const place = await createPlace(script("echo 1 > x", "echo 2 > x; echo 2 > y", "echo 3 > x"), files);
  const at = (path: string) => join(place.workspace, path);
  const now = () => ["x", "y"].map((path) => (existsSync(at(path)) ? readFileSync(at(path), "utf8").trim() : null));
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  const session = await place.session();
  const fork = (point: string) => place.start(["fork", session, "--at", point, "--restore"]).finished;
  expect((await place.start(["undo", session]).finished).code).toBe(0);
  expect(now()).toEqual([null, null]);
  const forth = await fork("1.3");
  expect([forth.code, ...now()]).toEqual([0, "2", "2"]);
  await fork("1.1");
  await fork("1.2");
  expect(now()).toEqual(["1", null]);
  writeFileSync(at("x"), "mine\n");
  const before = (await place.start(["sessions", "list"]).finished).stdout;
  const refused = await fork("1.3");
  expect([refused.code, ...now()]).toEqual([1, "mine", null]);
  expect(refused.stderr).toContain(`${at("x")}: changed since`);
  expect((await place.start(["sessions", "list"]).finished).stdout).toBe(before);
  writeFileSync(at("x"), "1\n");
  // What was brought back can be taken back again.
  expect((await place.start(["undo", session, "--all"]).finished).code).toBe(0);
  expect(now()).toEqual([null, null]);
});

test("an undo that was cut off is named by doctor, and finished before another session is undone or works there", async () => {
  let begun = 0;
  const place = await createPlace(
    (results) => (results.length === 0 ? command(`ls -A >&2; echo x > made-${(begun += 1)}; echo x > too-${begun}`) : { text: "Done." }),
    files,
  );
  const at = (path: string) => join(place.workspace, path);
  const now = () => readdirSync(place.workspace).filter((name) => /^(made|too|\.holdfast)/.test(name));
  const go = () => place.start(["exec", "--sandbox", "off", "--approvals", "allow", "go"]).finished;
  const undo = async () => (await place.start(["undo"]).finished).stderr;
  /** An undo of a session's two files, killed when the first is gone. */
  const cutOff = async (session: string, n: number) => {
    const digest = createHash("sha256").update("x\n").digest("hex");
    const made = { kind: "file", mode: 0o644, digest, size: 2, content: null };
    const steps = [`made-${n}`, `too-${n}`].map((name) => ({ path: at(name), from: made, to: null }));
    const program = join(import.meta.dirname, "../../../node/test/checkpoints-child.ts");
    const child = fork(program, [place.workspace, join(place.home, ".holdfast"), "take_away 1", session], { stdio: "ignore" });
    child.send({ steps, note: { callIds: [], since: 1 } });
    await once(child, "exit");
  };
  await go();
  const first = await place.session();
  await go();
  await cutOff(first, 1);
  expect(now()).toEqual([expect.stringMatching(/^\.holdfast-undo-/), "made-2", "too-1", "too-2"]);
  expect((await place.start(["doctor"]).finished).stdout.replaceAll(/\s+/g, " ")).toContain(`an undo of ${first} was cut off`);
  expect(await undo()).toContain(`first the undo of ${first} that was cut off`);
  expect(now()).toEqual(["made-2", "too-2"]);
  await cutOff(await place.session(), 2);
  const { stderr } = await go();
  expect(stderr).toMatch(/an undo of ses_\w+ that was cut off is finished: 2 files/);
  expect(stderr.indexOf("is finished")).toBeLessThan(stderr.indexOf("ls -A"));
  expect(now()).toEqual(["made-3", "too-3"]);
  expect(await undo()).not.toContain("cut off");
  expect(now()).toEqual([]);
});

test("a place that a session hasn't come to is told, also as an event's number, and nothing is made or undone", async () => {
  const place = await createPlace(script("echo first > a.txt"), files);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  const session = await place.session();
  const far = await place.start(["fork", session, "--at", "9999"]).finished;
  const last = Number(/its last is (\d+)/.exec(far.stderr)?.[1]);
  expect(last).toBeGreaterThan(3);
  for (const words of [
    ["fork", session, "--at"],
    ["sessions", "fork", session, "--at"],
    ["undo", session, "--to"],
  ]) {
    const refused = await place.start([...words, String(last + 1)]).finished;
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain(`session ${session} has no event ${last + 1}`);
    expect(refused.stderr).toContain(`its last is ${last}`);
  }
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("first\n");
  expect((await place.start(["fork", session, "--at", String(last)]).finished).code).toBe(0);
});

test("a command whose Holdfast was killed can be taken back", async () => {
  const place = await createPlace(script("echo changed > a.txt; rm b.txt; sleep 3"), files);
  const at = (path: string) => join(place.workspace, path);
  const started = place.start(["exec", "--sandbox", "off", "--approvals", "allow", "go"]);
  while (existsSync(at("b.txt"))) await sleep(20);
  started.child.kill("SIGKILL");
  await started.finished;
  // The command goes on, and has the workspace until it ends.
  const undone = await place.start(["undo"]).finished;
  expect(undone.stderr).not.toContain("error");
  expect([readFileSync(at("a.txt"), "utf8"), readFileSync(at("b.txt"), "utf8")]).toEqual(["one\n", "two\n"]);
  await place.start(["sessions", "delete", await place.session()]).finished;
});

test("what a command does to git's own storage takes nothing away that undo needs", async () => {
  const place = await createPlace(script("rm -rf .git a.txt dir"), files);
  const at = (path: string) => join(place.workspace, path);
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  expect([existsSync(at(".git")), existsSync(at("a.txt"))]).toEqual([false, false]);
  expect((await place.start(["undo"]).finished).code).toBe(0);
  expect([readFileSync(at("a.txt"), "utf8"), readFileSync(at("dir/c.txt"), "utf8")]).toEqual(["one\n", "three\n"]);
});

test("a file over the bound is named before the command runs, and undo refuses for it alone", async () => {
  const place = await createPlace(script("echo gone > big.bin; echo changed > a.txt"), files);
  const at = (path: string) => join(place.workspace, path);
  writeFileSync(at("big.bin"), Buffer.alloc(2_500_000, 7));
  mkdirSync(join(place.home, ".holdfast"));
  writeFileSync(join(place.home, ".holdfast/config.toml"), "[checkpoints]\nmax_size_mb = 4\n");
  const ran = await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  expect(ran.stderr.replace(/\s+(?:undo)?\s*/g, " ")).toContain("big.bin can't be taken back (too large to be kept)");
  const undone = await place.start(["undo"]).finished;
  expect(undone.code).toBe(1);
  expect(undone.stderr).toContain(`${at("big.bin")}: its earlier content was not kept`);
  expect(readFileSync(at("a.txt"), "utf8")).toBe("changed\n");
  rmSync(at("big.bin"));
});
