import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Place } from "./run.ts";
import { createPlace, filesBelow, processesWith, until } from "./run.ts";

const command = (text: string, more: object = {}) => ({ name: "run_command", input: { command: text, ...more } });

const freely = ["--sandbox", "off", "--approvals", "allow"] as const;

/** Runs the command, kills the program once it has begun, and waits until it is over by itself. */
async function die(text: string, more: object = {}, waits = true): Promise<Place> {
  const place = await createPlace((results) =>
    results.length === 0
      ? { calls: [command(`touch begun; : ${place.marker}; ${text}`, more)] }
      : { text: results[0]!.split("\n").slice(0, 6).join("\n") },
  );
  const killed = place.start(["exec", ...freely, "go"]);
  await until(() => existsSync(join(place.workspace, "begun")), "the command has begun");
  killed.child.kill("SIGKILL");
  await killed.finished;
  const isOver = (): boolean =>
    filesBelow(join(place.home, ".holdfast/commands"), "exit").some((file) => readFileSync(file, "utf8").endsWith(" end\n"));
  if (waits) await until(isOver, "it is over", 60_000);
  return place;
}

describe("a command whose driver has died", () => {
  test("ends as it does, and is settled with its true status and its whole output", async () => {
    const place = await die("echo one; sleep 0.5; echo two; exit 5");
    expect(await place.exec("resume", "--last")).toMatchObject({ code: 0, stdout: "exit code 5\none\ntwo\n" });
    const killed = await die("echo one; sleep 0.3; kill -9 $$");
    expect((await killed.exec("resume", "--last")).stdout).toBe("killed by SIGKILL\none\n");
  });

  test("is ended at its time, and the next driver says so", async () => {
    const place = await die("echo up; setsid sleep 301 & sleep 301", { timeout_s: 1 });
    expect((await place.exec("resume", "--last")).stdout).toMatch(/^timed out after 1 s[^\n]*\nup\n$/);
    expect(processesWith("301")).toEqual([]);
  });

  test("is ended at 256 MB of output, of which nothing more is kept, and the next driver says so", async () => {
    const place = await die("head -c 300M /dev/zero | tr '\\0' x; sleep 2; echo never >> past; sleep 60");
    const [spool] = filesBelow(join(place.home, ".holdfast/commands"), "output");
    expect(readFileSync(spool!).length).toBe(256 * 1024 * 1024);
    expect((await place.exec("resume", "--last")).stdout).toMatch(/^[^\n]*output/);
    expect(existsSync(join(place.workspace, "past"))).toBe(false);
  }, 60_000);

  test("does not outlive its session: not one that is deleted, nor one that is gone on with and interrupted", async () => {
    const deleted = await die("setsid sleep 300 & sleep 300", {}, false);
    expect(processesWith(deleted.marker)).not.toEqual([]);
    expect((await deleted.start(["sessions", "delete", await deleted.session()]).finished).code).toBe(0);
    expect(processesWith(deleted.marker)).toEqual([]);
    const interrupted = await die("trap '' TERM; while :; do sleep 1; done", {}, false);
    const resumed = interrupted.start(["exec", "resume", "--last"]);
    await resumed.shows("from before: running");
    resumed.child.kill("SIGINT");
    expect((await resumed.finished).code).toBe(130);
    expect(processesWith(interrupted.marker)).toEqual([]);
  });
});

test("a second Ctrl-C ends what won't be ended, and the session can be gone on with", async () => {
  const place = await createPlace((results) =>
    results.length === 0
      ? { calls: [command(`touch begun; : ${place.marker}; trap '' TERM INT; (setsid sleep 300 &); while :; do sleep 1; done`)] }
      : { text: "Back." },
  );
  const run = place.start(["exec", ...freely, "go"]);
  await until(() => existsSync(join(place.workspace, "begun")), "the command has begun");
  run.child.kill("SIGINT");
  await run.shows("once more");
  run.child.kill("SIGINT");
  expect((await run.finished).code).toBe(130);
  expect(processesWith(place.marker)).toEqual([]);
  // The interrupted turn ends first.
  expect((await place.exec("resume", "--last")).code).toBe(130);
  expect((await place.exec("resume", "--last", "hi")).stdout).toBe("Back.\n");
});
