import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CommandLimits } from "@holdfast/runtime/ports/processes";
import { delegatedGroup, findGroup, makeGroup } from "../src/processes/cgroup.ts";
import { makePlace, processesAt, resultOf, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

const limits: CommandLimits = { processes: 40, memoryBytes: 300_000_000, freeBytes: 0 };
const place = makePlace();
afterAll(() => rmSync(place.base, { recursive: true, force: true }));

/** A hierarchy as the kernel shows it, in plain files: group by group what it gives its children. */
function hierarchy(groups: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(place.base, "cgroup-"));
  for (const [group, given] of Object.entries(groups)) {
    mkdirSync(join(root, group), { recursive: true });
    writeFileSync(join(root, group, "cgroup.procs"), "");
    writeFileSync(join(root, group, "cgroup.subtree_control"), given);
  }
  return root;
}
const only = (folder: string): string => join(folder, readdirSync(folder).find((name) => name.startsWith("holdfast-")) ?? "none");
const fileOf = (group: string, name: string): string => readFileSync(join(group, name), "utf8");

describe("where groups with limits can be made", () => {
  const both = "cpu memory pids\n";
  it("is our own group, or the one around it, if its children get both controllers", () => {
    const own = hierarchy({ "user.slice/holdfast.service": both });
    expect(delegatedGroup(own, "/user.slice/holdfast.service")).toBe(join(own, "user.slice/holdfast.service"));
    // Where processes are in a group, it gives its children none: the one around it does.
    const around = hierarchy({ "user.slice": both, "user.slice/main": "" });
    expect(delegatedGroup(around, "/user.slice/main")).toBe(join(around, "user.slice"));
  });
  it("is nowhere where a controller is missing, nothing is ours to write, or version 1 rules", () => {
    for (const given of ["", "pids\n", "memory cpu\n"]) {
      const root = hierarchy({ a: given, "a/b": given });
      expect([given, delegatedGroup(root, "/a/b")]).toEqual([given, null]);
    }
    expect(delegatedGroup(hierarchy({}), "/gone/deep")).toBeNull();
    expect(delegatedGroup(hierarchy({}), null)).toBeNull();
    // A group's path that leads out of the hierarchy.
    expect(delegatedGroup(hierarchy({}), "/../../..")).toBeNull();
  });
});

describe("a run's own group", () => {
  it("gets the limits, is found again by who comes later, and tells what the kernel stopped", () => {
    const parent = hierarchy({});
    const group = makeGroup(parent, "run-1", limits)!;
    const folder = only(parent);
    expect(fileOf(folder, "pids.max")).toBe(String(40 * 16));
    expect([fileOf(folder, "memory.max"), fileOf(folder, "memory.oom.group"), fileOf(folder, "memory.swap.max")]).toEqual([
      "300000000",
      "1",
      "0",
    ]);
    expect(findGroup(parent, "run-2", limits)).toBeNull();
    writeFileSync(join(folder, "pids.events"), "max 0\n");
    writeFileSync(join(folder, "memory.events"), "low 0\noom 0\noom_kill 0\n");
    const found = findGroup(parent, "run-1", limits)!;
    expect([group.passed(), found.passed(), found.joinAt]).toEqual([null, null, group.joinAt]);
    writeFileSync(join(folder, "pids.events"), "max 3\n");
    expect(found.passed()).toEqual({ limit: "processes", max: 40, seen: 40 });
    writeFileSync(join(folder, "memory.events"), "low 0\noom 2\noom_kill 2\n");
    expect(found.passed()).toMatchObject({ limit: "memory", max: 300_000_000 });
  });
  it("stays as it is where it was made before: a claim that is lost changes nothing for who has it", () => {
    const parent = hierarchy({});
    makeGroup(parent, "run-1", limits);
    expect(makeGroup(parent, "run-1", { ...limits, processes: 1 })).not.toBeNull();
    expect(fileOf(only(parent), "pids.max")).toBe(String(40 * 16));
  });
  it("is done without where the kernel refuses it", async () => {
    expect(makeGroup(join(place.base, "user/project/.."), "\0", limits)).not.toBeNull();
    writeFileSync(join(place.base, "file"), "");
    expect(makeGroup(join(place.base, "file"), "run", limits)).toBeNull();
    const processes = processesAt(place, { groups: join(place.base, "file"), limits });
    expect(await runToEnd(processes, specFor(place, "echo here"))).toMatchObject({ text: "here\n", end: { type: "exited", exitCode: 0 } });
    await processes.endSession("session", { forget: true });
    await processes.close();
  });
});

describe.each(["workspace-write", "off"] as const)("a command (sandbox %s) under a delegated group", (mode) => {
  const run = async (last: string) => {
    const groups = hierarchy({});
    const processes = processesAt(place, { groups, limits });
    const running = await processes.start(specFor(place, `echo begun; sleep 0.3; ${last}`, { confinement: { mode } }));
    await untilOutput(processes, running.ref, "begun");
    const joined = fileOf(only(groups), "cgroup.procs");
    writeFileSync(join(only(groups), "memory.events"), "oom_kill 1\n");
    const { end } = await resultOf(processes, running.ref, await running.ended);
    await processes.endSession("session", { forget: true });
    await processes.close();
    return { joined, end };
  };
  it("joins its group before it runs anything, and its result names the limit for which the kernel ended it", async () => {
    const { joined, end } = await run("kill -9 $$");
    expect(joined).toMatch(/^\d+\n$/);
    expect(end).toMatchObject({ type: "limited", limit: "memory", max: 300_000_000 });
  });
  it("has ended well where it did without what the kernel took", async () => {
    expect((await run("true")).end).toEqual({ type: "exited", exitCode: 0 });
  });
});
