import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Owner } from "@holdfast/runtime/ports/log";
import { findLeftovers } from "@holdfast/node/host/leftovers";
import { lifeIn, livingIn } from "@holdfast/node/processes/life";
import { noteOwner } from "@holdfast/node/processes/owner-note";
import { createProcesses } from "@holdfast/node/processes/index";

const home = mkdtempSync(join(tmpdir(), "holdfast-life-"));
const { owner, isAlive } = createProcesses({ home });
const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await killed(child);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** As in a container: what it starts has numbers of its own, and sees nobody else's. */
const apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** Where this user can't make a namespace, none can be shown. */
const places = [
  ["the same namespace", [] as string[]] as const,
  ...(spawnSync(apart[0]!, [...apart.slice(1), "true"]).status === 0 ? [["another namespace", apart] as const] : []),
];

async function startIn(before: readonly string[]): Promise<{ child: ChildProcess; owner: Owner; seesOther: boolean }> {
  const [program = "", ...args] = [
    ...before,
    process.execPath,
    join(import.meta.dirname, "processes-life-child.ts"),
    home,
    JSON.stringify(owner),
  ];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, ...(JSON.parse(line.toString()) as { owner: Owner; seesOther: boolean }) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

describe.each(places)("a process in %s", (name, before) => {
  it("is alive as long as it lives, and takes us for alive", async () => {
    const other = await startIn(before);
    expect(other.seesOther).toBe(true);
    expect(isAlive(other.owner)).toBe(true);
    expect(livingIn(home)({ ...other.owner, label: "another session" })).toBe(true);
    await killed(other.child);
    await expect.poll(() => isAlive(other.owner)).toBe(false);
    // What it left is taken away by whoever starts next.
    const next = await startIn([]);
    await killed(next.child);
    expect(readdirSync(join(home, "alive"))).not.toContain(other.owner.life);
  });

  it("has its number from there, and it isn't taken for one of ours", async () => {
    const other = await startIn(before);
    const isApart = name !== "the same namespace";
    expect(other.owner.pid === other.child.pid).toBe(!isApart);
    // Of an owner that died elsewhere: our own number and start say nothing of it.
    const dead = { ...owner, life: "1.0123456789abcdef" };
    expect(isAlive(dead)).toBe(false);
  });
});

it("a session's folder that a process in another namespace uses is no leftover", async () => {
  const folder = join(home, "commands", "ses_used");
  mkdirSync(folder, { recursive: true });
  noteOwner(folder, home);
  const left = async () => (await findLeftovers(home, Date.now())).commands.map(({ session }) => session);
  expect(await left()).toEqual([]);
  for (const [, before] of places.slice(1)) {
    const other = await startIn(before);

    writeFileSync(join(folder, "owner"), JSON.stringify(other.owner));
    expect(await left()).toEqual([]);
    await killed(other.child);
    await expect.poll(left).toEqual(["ses_used"]);
  }
  expect(lifeIn(home)).toBe(owner.life);
});
