import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Place } from "./run.ts";
import { createPlace, filesBelow, until } from "./run.ts";
import { mountable, mountSmallDisk } from "../../../stores/test/disk.ts";

const lines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Makes all sessions of the store forty days older. */
function age(place: Place): void {
  const db = new DatabaseSync(join(place.home, ".holdfast", "sessions.db"));
  db.exec(`UPDATE sessions SET updated_at = updated_at - ${40 * 24 * 60 * 60 * 1000}`);
  db.close();
}

async function sessions(place: Place): Promise<string[]> {
  const { stdout } = await place.start(["sessions", "list", "--json"]).finished;
  return lines(stdout).map(({ session }) => String(session));
}

const withOutput = (results: readonly string[]) =>
  results.length === 0 ? { calls: [{ name: "run_command", input: { command: "seq 1 2000" } }] } : { text: "Counted." };

describe("sessions on disk", () => {
  test("pruning frees the log, the outputs and the contents, and the store is whole", async () => {
    const place = await createPlace(withOutput);
    expect((await place.exec("count")).code).toBe(0);
    const [old = ""] = await sessions(place);
    age(place);
    expect((await place.exec("count again")).code).toBe(0);
    const found = await place.start(["sessions", "search", "1999", "--json"]).finished;
    expect(lines(found.stdout).map(({ in: kind }) => kind)).toContain("result");
    const folder = join(place.home, ".holdfast", "commands", old);
    expect(existsSync(folder)).toBe(true);
    const dry = lines((await place.start(["sessions", "prune", "--older-than", "30d", "--dry-run", "--json"]).finished).stdout);
    expect(dry).toMatchObject([{ type: "session.would_go", session: old }, { count: 2 }]);
    const { log, outputs } = (dry[0] as { sizes: { log: number; outputs: number } }).sizes;
    expect(log).toBeGreaterThan(5_000);
    expect(outputs).toBeGreaterThan(8_000);
    expect(await sessions(place)).toHaveLength(2);
    expect((await place.start(["sessions", "prune", "--older-than", "30d"]).finished).stdout).toContain("removed 1 of 2 sessions");
    const [left = "", ...others] = await sessions(place);
    expect([left === old, others]).toEqual([false, []]);
    expect(existsSync(folder)).toBe(false);
    expect((await place.start(["sessions", "verify", left]).finished).code).toBe(0);
  });

  test.each([["", null] as const, ...mountable(8).map((size) => [", on a disk without a byte of space", size] as const)])(
    "deleting one takes its contents away at once, and leaves those that others refer to%s",
    async (_, size) => {
      const disk = size === null ? null : mountSmallDisk(size);
      try {
        const place = await createPlace(
          (results, sampling) =>
            results.length === 0
              ? { calls: [{ name: "run_command", input: { command: `echo ${sampling} > mine; echo more >> shared` } }] }
              : { text: "Done." },
          { mine: "0\n", shared: "of both\n" },
        );
        const home = disk === null ? join(place.home, ".holdfast") : join(disk.folder, "home");
        const env = { HOLDFAST_HOME: home };
        const run = async (...args: string[]) => place.start(args, { env }).finished;
        const referenced = (): string[] => {
          const db = new DatabaseSync(join(home, "sessions.db"), { readOnly: true });
          const rows = db.prepare("SELECT DISTINCT blob FROM blob_refs WHERE blob <> ''").all();
          db.close();
          return rows.map(({ blob }) => String(blob));
        };
        await run("exec", "go");
        await run("exec", "go again");
        const [session = ""] = lines((await run("sessions", "list", "--json")).stdout).map((line) => String(line["session"]));
        const before = referenced();
        disk?.fill(0);
        if (disk !== null) expect((await run("doctor")).stdout.replaceAll(/\s+/g, " ")).toContain("is full: free some space");
        const { code, stderr } = await run("sessions", "delete", session);
        expect({ code, stderr }).toEqual({ code: 0, stderr: `deleted ${session}\n` });
        const after = referenced();
        const own = before.filter((blob) => !after.includes(blob));
        expect([own.length > 0, after.length > 0]).toEqual([true, true]);
        const stored = readdirSync(join(home, "blobs"), { recursive: true, withFileTypes: true }).map(({ name }) => name);
        expect(own.filter((blob) => stored.includes(blob))).toEqual([]);
        expect(after.filter((blob) => !stored.includes(blob))).toEqual([]);
      } finally {
        disk?.unmount();
      }
    },
  );

  test("a session whose command still runs, or whose turn is open, is never pruned", async () => {
    const place = await createPlace((results) =>
      results.length === 0 ? { calls: [{ name: "run_command", input: { command: "sleep 20.125" } }] } : { text: "Slept." },
    );
    const run = place.start(["exec", "sleep"]);
    await until(() => filesBelow(place.home, "output").length > 0, "the command runs");
    age(place);
    const during = await place.start(["sessions", "prune", "--older-than", "30d", "--json"]).finished;
    expect(lines(during.stdout)).toMatchObject([{ type: "sessions.looked", count: 1, inUse: 1 }]);
    run.child.kill("SIGINT");
    expect((await run.finished).code).toBe(130);
    expect(await sessions(place)).toHaveLength(1);
  });

  test("sessions that other processes make and take up while one is pruning are whole, or were never taken up", async () => {
    const place = await createPlace(() => ({ text: "Done." }));
    for (let made = 0; made < 2; made += 1) await place.exec("old");
    const old = await sessions(place);
    age(place);
    const [pruned, resumed, ...fresh] = await Promise.all([
      place.start(["sessions", "prune", "--older-than", "30d"]).finished,
      place.exec("resume", old[0] ?? "", "go on"),
      place.exec("new one"),
      place.exec("new two"),
    ]);
    expect(pruned.code).toBe(0);
    expect(fresh.map(({ code }) => code)).toEqual([0, 0]);
    const left = await sessions(place);
    // Whoever came first: the session went on and stayed, or it was gone.
    expect([0, 1, 2]).toContain(resumed.code);
    if (resumed.code === 0) expect(left).toContain(old[0]);
    else expect(left).not.toContain(old[0]);
    expect(left).not.toContain(old[1]);
    expect((await place.start(["sessions", "verify", ...left]).finished).code).toBe(0);
    const kept = readdirSync(join(place.home, ".holdfast", "commands"), { withFileTypes: true }).map(({ name }) => name);
    expect(kept.filter((name) => name.startsWith("ses_") && !left.includes(name))).toEqual([]);
  });
});
