import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { currentOwner } from "@holdfast/node/processes/identity";
import { defaultScripts } from "@holdfast/node/processes/launch";
import { joinNamespace } from "@holdfast/node/sandbox/namespace";
import { probeSandbox } from "@holdfast/node/sandbox/problem";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { expect, test } from "vitest";
import type { Script } from "./model-server.ts";
import type { Place } from "./run.ts";
import { createPlace, processesWith, until } from "./run.ts";

const command = (text: string) => ({ name: "run_command", input: { command: text } });
const script: Script = (results) => (results.length === 0 ? { calls: [command("echo words of the command")] } : { text: "Done." });
const deadOwner = { pid: 4_000_000, startTime: "1", bootId: currentOwner("").bootId };
const dayMs = 24 * 60 * 60 * 1000;

const homeOf = (place: Place): string => join(place.home, ".holdfast");
const storeOf = (place: Place): string => join(homeOf(place), "sessions.db");

function write(path: string, content: string, ageMs = 0): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  const at = new Date(Date.now() - ageMs);
  utimesSync(path, at, at);
  return path;
}

async function doctor(place: Place, ...flags: string[]): Promise<{ code: number | null; text: string }> {
  const { code, stdout, stderr } = await place.start(["doctor", ...flags]).finished;
  expect(stderr).toBe("");
  return { code, text: stdout.replaceAll(/\s+/g, " ") };
}

test("doctor names what is left over, and takes it away with --repair; what is used or young stays", async () => {
  const place = await createPlace(script);
  const home = homeOf(place);
  await place.exec("go");
  const [gone] = [await place.session()];
  expect((await place.exec("another")).code).toBe(0);
  // Killed between the deletion and the removal of what its commands left.
  const log = openSqliteLog(storeOf(place));
  expect(await log.delete(gone)).toEqual([gone]);
  await log.lock("session:dead", { ...deadOwner, label: "dead" }, () => true);
  await log.lock("open:alive", currentOwner("alive"), () => true);
  await log.close();
  const commands = join(home, "commands");
  const kept = readdirSync(commands).filter((name) => name.startsWith("ses_") && name !== gone);
  const left = [
    join(commands, gone),
    write(join(home, "blobs", "ab", `ab${"0".repeat(62)}`), "nobody's", 2 * dayMs),
    write(join(home, "servers", "run-old", "owner"), JSON.stringify(deadOwner)),
    write(join(home, ".config.toml.0123456789ab"), "half", 2 * dayMs),
  ];
  const stays = [
    ...kept.map((name) => join(commands, name)),
    write(join(commands, "ses_ephemeral", "owner"), JSON.stringify(currentOwner(""))),
    write(join(commands, "ses_unnoted", "output"), "young"),
    write(join(home, "blobs", "cd", `cd${"0".repeat(62)}`), "under way"),
    write(join(home, "servers", "run-new", "owner"), JSON.stringify(currentOwner(""))),
    write(join(home, ".config.toml.ba9876543210"), "being written"),
  ];

  const dry = await doctor(place);
  expect(dry.code).toBe(0);
  for (const words of ["--repair would take away", "1 session left", "1 blob", "1 lock of", "2 leftovers"])
    expect(dry.text).toContain(words);
  expect([...left, ...stays].filter((path) => !existsSync(path))).toEqual([]);

  const repaired = await doctor(place, "--repair");
  expect(repaired.text).toContain("taken away:");
  expect(left.filter((path) => existsSync(path))).toEqual([]);
  expect(stays.filter((path) => !existsSync(path))).toEqual([]);
  const db = new DatabaseSync(storeOf(place));
  expect(db.prepare("SELECT name FROM locks").all()).toEqual([{ name: "open:alive" }]);
  db.close();
  const after = await doctor(place);
  expect(after.text).not.toContain("leftovers");
});

test("what holds the network of a session whose process died is named, and ended with --repair", async () => {
  const place = await createPlace(script);
  const home = homeOf(place);
  await place.exec("go");
  const session = await place.session();
  const folder = join(home, "commands", session);
  // As a process that is killed leaves it. Stopped, so that it can't go by itself meanwhile.
  const sandbox = await probeSandbox(defaultScripts, process.env["PATH"] ?? "");
  if ("problem" in sandbox) throw new Error(sandbox.problem);
  const held = await joinNamespace(join(folder, "network"), folder, sandbox.programs, null);
  process.kill(held.pid, "SIGSTOP");
  writeFileSync(join(folder, "owner"), JSON.stringify(deadOwner));
  expect((await doctor(place)).text).toContain("1 network namespace held");
  expect((await doctor(place, "--repair")).text).toContain("taken away: 1 network namespace held");
  await until(() => !existsSync(`/proc/${held.pid}`), "the holder is gone");
  expect(existsSync(folder)).toBe(true);
});

test("a command that still runs for a session that is gone is ended with what it left", async () => {
  const place = await createPlace((results) =>
    results.length === 0 ? { calls: [command("touch running; sleep 300")] } : { text: "Done." },
  );
  const started = place.start(["exec", "go"]);
  await until(() => existsSync(join(place.workspace, "running")), "the command runs");
  const runs = join(homeOf(place), "commands");
  started.child.kill("SIGKILL");
  await started.finished;
  const session = await place.session();
  const log = openSqliteLog(storeOf(place));
  await log.delete(session);
  await log.close();
  expect(existsSync(join(runs, session))).toBe(true);
  const running = processesWith(session);
  expect(running.length).toBeGreaterThan(0);
  expect((await doctor(place, "--repair")).text).toContain("1 session left");
  expect(existsSync(join(runs, session))).toBe(false);
  // What held the session's network looks every five seconds whether it is still wanted.
  await until(() => processesWith(session).length === 0, "nothing of it runs");
});

test("a damaged store is named; --repair saves what can be read, keeps the damaged file and all it may refer to", async () => {
  // Two samplings each: the last answer of the last session stands far behind its first events.
  const place = await createPlace((results, sampling) => (sampling === 6 ? { text: "Last words." } : script(results, sampling)));
  for (const prompt of ["first", "second", "third"]) await place.exec(prompt);
  const orphan = write(join(homeOf(place), "blobs", "ab", `ab${"0".repeat(62)}`), "nobody's", 2 * dayMs);
  const bytes = readFileSync(storeOf(place));
  // A page of the last session's events.
  const at = bytes.indexOf('"text":"Last words."');
  expect(at).toBeGreaterThan(0);
  bytes.fill(0xff, at - (at % 4096), at - (at % 4096) + 4096);
  writeFileSync(storeOf(place), bytes);

  const found = await doctor(place);
  expect(found.code).toBe(1);
  expect(found.text).toContain("the session store is damaged");
  expect(readFileSync(storeOf(place)).equals(bytes)).toBe(true);

  const repaired = await doctor(place, "--repair");
  expect(repaired.text).toContain("saved what could be read");
  expect(repaired.code).toBe(0);
  const aside = readdirSync(homeOf(place)).filter((name) => /^sessions\.db\.damaged-[\dTZ-]+$/.test(name));
  expect(aside).toHaveLength(1);
  expect(readFileSync(join(homeOf(place), aside[0] ?? "")).equals(bytes)).toBe(true);
  expect(existsSync(orphan)).toBe(true);
  const { stdout } = await place.start(["sessions", "list"]).finished;
  expect(stdout.match(/ses_/g)?.length).toBe(3);
  const verified = [...stdout.matchAll(/ses_[0-9a-z]+/g)].map(async ([id]) => ({ id, ...(await place.start(["replay", id]).finished) }));
  const sessions = await Promise.all(verified);
  const whole = sessions.find(({ code }) => code === 0);
  const broken = sessions.find(({ code }) => code === 1);
  expect(whole?.stdout).toContain("comes out as it was");
  expect((await place.exec("resume", whole?.id ?? "", "and on")).code).toBe(0);
  // What is there can be read; nobody goes on as if nothing had followed.
  expect(broken?.stdout).toContain("the log ends before event");
  expect((await place.start(["sessions", "show", broken?.id ?? ""]).finished).code).toBe(0);
  const refused = await place.exec("resume", broken?.id ?? "", "and on");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("session_corrupt");
  // A session of its own goes on from there, and its model is told that more may have happened.
  const fork = await place.start(["fork", broken?.id ?? ""]).finished;
  expect([fork.code, fork.stderr.match(/what followed event \d+ of ses_\w+ is lost/)?.length]).toEqual([0, 1]);
  expect((await place.exec("resume", fork.stdout.trim(), "and on")).code).toBe(0);
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("what followed is lost");
  expect((await doctor(place)).code).toBe(0);
});

test("a head that is no JSON stops neither a look at other sessions nor the repair, after which the session goes on", async () => {
  const place = await createPlace(script);
  await place.exec("go");
  const first = await place.session();
  await place.exec("another");
  const ids = (await place.start(["sessions", "list"]).finished).stdout.match(/ses_[0-9a-z]+/g) ?? [];
  const db = new DatabaseSync(storeOf(place));
  db.prepare("UPDATE heads SET head = '{' WHERE session = (SELECT id FROM sessions WHERE session = ?)").run(first);
  db.close();
  const ordered = [first, ...ids.filter((id) => id !== first)];
  for (const command of [["sessions", "verify"], ["replay"]]) {
    const { code, stdout, stderr } = await place.start([...command, ...ordered]).finished;
    expect([code, stdout.match(/ses_[0-9a-z]+/g), stderr.includes(`${first}: the head`)]).toEqual([1, ordered.slice(1), true]);
  }
  expect((await doctor(place)).text).toContain(`the control state of ${first} can't be read`);
  expect((await doctor(place, "--repair")).text).toContain("2 sessions whole");
  expect((await place.exec("resume", first, "and on")).code).toBe(0);
});

test("a message that can't be read stops a session before another is posted; a changed event makes doctor save what was before it", async () => {
  const place = await createPlace(script);
  await place.exec("go");
  const session = await place.session();
  const sql = (text: string) => {
    const db = new DatabaseSync(storeOf(place));
    const rows = db.prepare(text).all();
    db.close();
    return rows;
  };
  sql("INSERT INTO inbox (session, number, message_id, body, at) VALUES (1, 100, 'm', '{', 1) RETURNING 1");
  const refused = await place.exec("resume", session, "and on");
  expect([refused.code, refused.stderr.includes("session_corrupt")]).toEqual([1, true]);
  expect(sql("SELECT body FROM inbox WHERE body IS NOT NULL")).toEqual([{ body: "{" }]);
  expect((await doctor(place)).text).toContain(`a message that waits for ${session} can't be read (100)`);
  expect((await doctor(place, "--repair")).text).toContain(`set aside, as they can't be read: message 100 of ${session}`);
  expect((await place.exec("resume", session, "and on")).code).toBe(0);

  const [{ seq = 0 } = {}] = sql("SELECT max(seq) AS seq FROM events WHERE type = 'turn.started'");
  sql(`UPDATE events SET payload = replace(payload, 'and on', 'and off') WHERE seq = ${Number(seq)} RETURNING 1`);
  const found = await doctor(place);
  expect([found.code, found.text.includes(`the log of ${session}: event ${Number(seq)} has not the content that was hashed`)]).toEqual([
    1,
    true,
  ]);
  expect((await doctor(place, "--repair")).text).toContain(`to be read or forked: ${session} (${Number(seq) - 1} of`);
  expect(await doctor(place)).toMatchObject({ code: 0, text: expect.stringContaining("saved in part by an earlier repair") as string });
  expect((await place.start(["fork", session]).finished).code).toBe(0);
});

test("contents that are gone or damaged are named by session; without their salt logs can be read, and repair begins anew", async () => {
  const place = await createPlace((results) => (results.length === 0 ? { calls: [command("echo more > README.md")] } : { text: "Done." }));
  await place.exec("--sandbox", "off", "--approvals", "allow", "go");
  const session = await place.session();
  const blobs = join(homeOf(place), "blobs");
  const db = new DatabaseSync(storeOf(place));
  const [gone = "", cut = ""] = db
    .prepare("SELECT blob FROM blob_refs ORDER BY blob")
    .all()
    .map(({ blob }) => join(blobs, String(blob).slice(0, 2), String(blob)));
  db.close();
  rmSync(gone);
  truncateSync(cut, 1);
  const { text } = await doctor(place);
  for (const how of ["can't be found", "is damaged"]) {
    expect(text).toContain(
      `1 blob that sessions refer to ${how}: images, outputs or earlier contents of files are lost. Of ${session} (1)`,
    );
  }

  rmSync(join(blobs, "salt"));
  for (const args of [["list"], ["show", session], ["verify", session], ["export", session, "-o", join(place.home, "export.md")]]) {
    expect(await place.start(["sessions", ...args]).finished).toMatchObject({ code: 0 });
  }
  expect(await place.exec("another")).toMatchObject({ code: 1, stderr: expect.stringContaining("session_corrupt") as string });
  expect(await doctor(place)).toMatchObject({ code: 1, text: expect.stringContaining("the salt of the content store is lost") as string });
  const repaired = await doctor(place, "--repair");
  expect([repaired.code, repaired.text.includes("blobs.damaged-"), repaired.text.includes(`Of ${session} (`)]).toEqual([0, true, true]);
  expect((await place.exec("another")).code).toBe(0);
  expect((await place.exec("resume", session, "and on")).code).toBe(0);
});

test.each(["moved away", "emptied"])(
  "beside a store that was %s, what its sessions left stays until somebody says otherwise",
  async (how) => {
    const place = await createPlace(script);
    const home = homeOf(place);
    await place.exec("go");
    const session = await place.session();
    const blob = write(join(home, "blobs", "ab", `ab${"0".repeat(62)}`), "of an earlier session", 2 * dayMs);
    const left = [blob, join(home, "commands", session)];
    const there = () => left.filter((path) => existsSync(path));
    const away = join(place.home, "away.db");
    copyFileSync(storeOf(place), away);
    if (how === "emptied") truncateSync(storeOf(place));
    else rmSync(storeOf(place));
    for (const flags of [["--repair"], []]) {
      const { text } = await doctor(place, ...flags);
      expect(text).toContain("the session store was gone or empty");
      expect(text).not.toContain("take away");
    }
    expect(there()).toEqual(left);
    // Nor does a new session's end take them.
    await place.exec("another");
    const listed = await place.start(["sessions", "list"]).finished;
    const [another = ""] = /ses_[0-9a-z]+/.exec(listed.stdout) ?? [];
    expect((await place.start(["sessions", "delete", another]).finished).code).toBe(0);
    expect((await doctor(place, "--repair")).text).toContain("sessions.db.lost");
    expect(there()).toEqual(left);

    copyFileSync(away, storeOf(place));
    rmSync(`${storeOf(place)}.lost`);
    const { text } = await doctor(place, "--repair");
    expect(text).not.toContain("gone or empty");
    expect(text).not.toContain("can't be found");
    // The store is back, and knows that nobody needs this one.
    expect(there()).toEqual([join(home, "commands", session)]);
  },
);

test("a check that starts no command has no output that could be missed, also where an earlier version noted one", async () => {
  const place = await createPlace(script);
  await place.exec("--constraint", "only change src/**", "go");
  const store = new DatabaseSync(storeOf(place));
  const empty = "SELECT count(*) AS rows FROM blob_refs WHERE blob = ''";
  expect(store.prepare(empty).get()).toEqual({ rows: 0 });
  expect((await doctor(place)).text).not.toContain("can't be found");
  store.exec("INSERT INTO blob_refs (session, blob, seq) SELECT id, '', seq FROM sessions");
  store.close();
  expect((await doctor(place)).text).not.toContain("can't be found");
  expect((await doctor(place, "--repair")).text).not.toContain("can't be found");
});
