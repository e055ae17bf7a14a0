import { describe, expect, test } from "vitest";
import { createPlace, processesWith, until } from "./run.ts";

const lines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a worker", () => {
  test("goes on with a session whose process was killed, and leaves the others alone", async () => {
    const place = await createPlace((_, sampling) =>
      sampling === 2 ? { text: "lost", delayMs: 30_000 } : { text: `Answer ${sampling}.` },
    );
    expect((await place.exec("first")).code).toBe(0);
    const run = place.start(["exec", "second"]);
    await until(() => place.server.requests.length === 2, "the model was asked");
    const during = await place.start(["worker", "--once", "--json"]).finished;
    expect(lines(during.stdout)).toEqual([]);
    run.child.kill("SIGKILL");
    await run.finished;
    const work = await place.start(["worker", "--once", "--json"]).finished;
    expect(lines(work.stdout).map(({ type, detail }) => [type, detail])).toEqual([
      ["worker.taken", ""],
      ["worker.ended", "unverified"],
    ]);
    expect(work.code).toBe(0);
    expect(place.server.requests).toHaveLength(3);
    expect(lines((await place.start(["worker", "--once", "--json"]).finished).stdout)).toEqual([]);
  });

  test("leaves nothing of a session running once its turn has ended", async () => {
    const place = await createPlace((_, sampling) =>
      sampling === 1
        ? { calls: [{ name: "run_command", input: { command: `sleep 300; : ${place.marker}`, yield_s: 0 } }] }
        : sampling === 2
          ? { text: "lost", delayMs: 60_000 }
          : { text: "Done." },
    );
    const run = place.start(["exec", "serve"]);
    await until(() => place.server.requests.length === 2, "the command runs in the background");
    run.child.kill("SIGKILL");
    await run.finished;
    expect(processesWith(place.marker)).not.toEqual([]);
    const { stdout } = await place.start(["worker", "--once", "--json"]).finished;
    expect(lines(stdout).at(-1)).toMatchObject({ type: "worker.ended", detail: "unverified" });
    await until(() => processesWith(place.marker).length === 0, "the command has ended");
  });

  test("leaves to another worker what that one took up first", async () => {
    let isBack = false;
    const place = await createPlace((_, sampling) => (isBack ? { text: `Answer ${sampling}.` } : { text: "lost", delayMs: 60_000 }));
    for (const count of [1, 2, 3]) {
      const run = place.start(["exec", `prompt ${count}`]);
      await until(() => place.server.requests.length === count, "the model was asked");
      run.child.kill("SIGKILL");
      await run.finished;
    }
    isBack = true;
    const workers = [1, 2, 3].map(() => place.start(["worker", "--once", "--json", "--at-once", "3"]).finished);
    const ends = await Promise.all(workers);
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const told = ends.flatMap(({ stdout }) => lines(stdout)).map(({ type, detail }) => `${String(type)} ${String(detail)}`);
    expect(told.filter((line) => line === "worker.ended unverified")).toHaveLength(3);
    // One that came later found it done.
    expect(told.filter((line) => !/^worker\.(taken|left|ended (unverified|idle))/.test(line))).toEqual([]);
    expect(place.server.requests).toHaveLength(6);
  });

  test("goes on once an answer has come from elsewhere", async () => {
    const place = await createPlace((results) =>
      results.length === 0
        ? { calls: [{ name: "run_command", input: { command: "git push origin main" } }] }
        : { text: `It said: ${results[0]}` },
    );
    expect((await place.exec("--approvals", "ask", "push it")).code).toBe(4);
    expect(lines((await place.start(["worker", "--once", "--json"]).finished).stdout)).toEqual([]);
    const worker = place.start(["worker", "--json"]);
    const { stdout } = await place.start(["approvals", "list", "--json"]).finished;
    const id = /apr_[0-9a-z]+/.exec(stdout)?.[0] ?? "";
    await place.start(["approvals", "answer", id, "deny"]).finished;
    await worker.shows("worker.ended");
    worker.child.kill("SIGINT");
    expect((await worker.finished).code).toBe(0);
    expect(place.server.requests).toHaveLength(2);
  });
});

describe("a fork", () => {
  test("goes its own way from where it begins, and outlives what it was made of", async () => {
    const place = await createPlace((results, sampling) =>
      sampling === 1
        ? { calls: [{ name: "run_command", input: { command: "seq 1 30000" } }] }
        : { text: `Answer ${sampling}, ${results.length}.` },
    );
    expect((await place.exec("count")).stdout).toBe("Answer 2, 1.\n");
    const first = await place.session();
    const made = await place.start(["sessions", "fork", first, "--title", "another way"]).finished;
    const fork = made.stdout.trim();
    expect(made.code).toBe(0);
    expect((await place.exec("resume", fork, "go on")).stdout).toBe("Answer 3, 1.\n");
    const handle = /handle[^\n]*?(call_[\w.:-]+)/.exec(JSON.stringify(place.server.requests.at(-1)))?.[1];
    expect(handle).toBeDefined();
    expect((await place.start(["sessions", "list"]).finished).stdout).toContain("another way · a fork");
    expect((await place.start(["sessions", "show", fork]).finished).stdout).toContain(`fork of:    ${first}, up to event`);
    expect((await place.start(["sessions", "delete", first]).finished).code).toBe(0);
    expect((await place.start(["sessions", "verify", fork]).finished).stdout).toMatch(/: whole, \d+ events, 2 signed turns/);
    expect((await place.exec("resume", fork, "and on")).stdout).toBe("Answer 4, 1.\n");
    expect((await place.exec("resume", first, "gone")).code).toBe(2);
  });
});
