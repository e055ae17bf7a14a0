import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPaired } from "./model-server.ts";
import { createPlace, filesBelow, processesWith, until } from "./run.ts";

const command = (text: string, more: object = {}) => ({ name: "run_command", input: { command: text, ...more } });

describe("Ctrl-C", () => {
  test("in a command with grandchildren: none is left, the session can be resumed, the next request is valid", async () => {
    const place = await createPlace((results) =>
      results.length < 1
        ? { calls: [command(`: ${place.marker}; (sleep 300.1 & sleep 300.2) & setsid sleep 300.3; wait`)] }
        : { text: "Back again." },
    );
    // What leaves the session waits for a person otherwise.
    const run = place.start(["exec", "--approvals", "allow", "go"]);
    await until(() => processesWith("300.3").length > 0 && processesWith("300.1").length > 0, "the command runs");
    run.child.kill("SIGINT");
    expect((await run.finished).code).toBe(130);
    for (const sleeper of ["300.1", "300.2", "300.3", place.marker]) expect(processesWith(sleeper), sleeper).toEqual([]);
    const resumed = await place.exec("resume", "--last", "hi");
    expect({ code: resumed.code, stdout: resumed.stdout }).toEqual({ code: 0, stdout: "Back again.\n" });
    for (const request of place.server.requests) expect(isPaired(request)).toBe(true);
  });

  test("while the model is silent ends the turn at once", async () => {
    const place = await createPlace((_, sampling) => (sampling === 1 ? { text: "late", delayMs: 20_000 } : { text: "Now." }));
    const run = place.start(["exec", "go"]);
    await until(() => place.server.requests.length > 0, "the model was asked");
    run.child.kill("SIGINT");
    expect((await run.finished).code).toBe(130);
    expect((await place.exec("resume", "--last", "hi")).stdout).toBe("Now.\n");
  });
});

describe("kill -9", () => {
  test("in the middle of a command: the same process is followed on, its output is whole, there is one start record", async () => {
    const seen: string[] = [];
    const place = await createPlace((results) => {
      seen.push(...results);
      return results.length < 1
        ? {
            calls: [
              command(
                `: ${place.marker}; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick $i $$; sleep 0.25; done; echo whole >> log.txt`,
              ),
            ],
          }
        : { text: "Went on." };
    });
    const run = place.start(["exec", "go"]);
    await until(() => processesWith(place.marker).length > 0, "the command runs");
    await new Promise((resolve) => setTimeout(resolve, 700));
    run.child.kill("SIGKILL");
    await run.finished;
    expect(processesWith(place.marker).length).toBeGreaterThan(0);
    const resumed = await place.exec("resume", "--last");
    expect({ code: resumed.code, stdout: resumed.stdout }).toEqual({ code: 0, stdout: "Went on.\n" });
    const ticks = [...(seen[0] ?? "").matchAll(/tick (\d+) (\d+)/g)];
    expect(ticks.map((tick) => Number(tick[1]))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(new Set(ticks.map((tick) => tick[2])).size).toBe(1);
    expect(readFileSync(join(place.workspace, "log.txt"), "utf8")).toBe("whole\n");
    const starts = filesBelow(join(place.home, ".holdfast/commands"), "start").filter(
      (file) => !readFileSync(file, "utf8").includes("revoked"),
    );
    expect(starts).toHaveLength(1);
  });

  test("while the model answers: the session goes on and the lost answer is asked for again", async () => {
    const place = await createPlace((_, sampling) => (sampling === 1 ? { text: "lost", delayMs: 20_000 } : { text: "Here." }));
    const run = place.start(["exec", "go"]);
    await until(() => place.server.requests.length > 0, "the model was asked");
    run.child.kill("SIGKILL");
    await run.finished;
    expect((await place.exec("resume", "--last")).stdout).toBe("Here.\n");
    expect(place.server.requests).toHaveLength(2);
  });
});

describe("two at once", () => {
  test("two sessions in one folder both end well, and their commands take turns", async () => {
    const place = await createPlace((results) =>
      results.length < 2
        ? { calls: [command("test ! -e busy && touch busy && sleep 0.2 && rm busy && echo alone || echo CLASH")] }
        : { text: "Done." },
    );
    const both = await Promise.all([place.exec("one"), place.exec("two")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(JSON.stringify(place.server.requests)).not.toMatch(/"output":"[^"]*\bCLASH/);
  });

  test("a second process on one session is told who holds it", async () => {
    const place = await createPlace((results) =>
      results.length < 1 ? { calls: [command(`sleep 300.7; echo ${place.marker}`)] } : { text: "Done." },
    );
    const run = place.start(["exec", "go"]);
    await until(() => processesWith(place.marker).length > 0, "the command runs");
    const second = await place.exec("resume", "--last", "me too");
    expect(second.code).toBe(2);
    expect(second.stderr).toContain("session_busy");
    expect(second.stderr).toContain(String(run.child.pid));
    run.child.kill("SIGINT");
    await run.finished;
  });
});

describe("approvals", () => {
  test("a question waits, is shown and answered by another process, and the session goes on without a prompt", async () => {
    const place = await createPlace((results) => (results.length < 1 ? { calls: [command("git reset --hard")] } : { text: "Done." }));
    const asked = await place.exec("--approvals", "ask", "go");
    expect(asked.code).toBe(4);
    const list = await place.start(["approvals", "list"]).finished;
    const id = /apr_[0-9a-z]+/.exec(list.stdout)?.[0] ?? "";
    const shown = await place.start(["approvals", "show", id]).finished;
    expect(shown.stdout).toContain("git reset --hard");
    expect((await place.start(["approvals", "answer", id, "allow"]).finished).code).toBe(0);
    const resumed = await place.exec("resume", "--last");
    expect({ code: resumed.code, stdout: resumed.stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(JSON.stringify(place.server.requests.at(-1))).toContain("HEAD is now at");
  });

  test("a live driver takes an answer from another process", async () => {
    const place = await createPlace((results) =>
      results.length < 2 ? { calls: [command(`: ${place.marker}; sleep 3`), command("git reset --hard")] } : { text: "Done." },
    );
    const run = place.start(["exec", "--approvals", "ask", "go"]);
    await until(() => processesWith(place.marker).length > 0, "the other call runs");
    const list = await place.start(["approvals", "list"]).finished;
    const id = /apr_[0-9a-z]+/.exec(list.stdout)?.[0] ?? "";
    expect((await place.start(["approvals", "answer", id, "allow"]).finished).code).toBe(0);
    expect((await run.finished).code).toBe(0);
    expect(JSON.stringify(place.server.requests.at(-1))).toContain("HEAD is now at");
  });

  test("headless without anyone to ask, the call is refused, the model works around it", async () => {
    const place = await createPlace((results) =>
      results.length < 1 ? { calls: [command("git reset --hard")] } : { text: "Did without." },
    );
    const run = await place.exec("go");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 0, stdout: "Did without.\n" });
    expect(JSON.stringify(place.server.requests.at(-1))).toContain("was refused");
  });
});

test("a server that yields is reached by a later command and ended with the session", async () => {
  const serve = `node -e "require('http').createServer((q,s)=>s.end('served')).listen(8123,'127.0.0.1')" ${"#"}`;
  const place = await createPlace((results) => {
    if (results.length === 0) return { calls: [command(`${serve} ${place.marker}`, { yield_s: 1 })] };
    if (results.length === 1) return { calls: [command(`node -e "fetch('http://127.0.0.1:8123').then(r=>r.text()).then(console.log)"`)] };
    return { text: "Done." };
  });
  expect((await place.exec("go")).code).toBe(0);
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("served");
  expect(processesWith("listen(8123")).toEqual([]);
});

test("an answer that was posted counts, and a second one is told so", async () => {
  const place = await createPlace((results) => (results.length < 1 ? { calls: [command("git reset --hard")] } : { text: "Did without." }));
  await place.exec("--approvals", "ask", "go");
  const id = /apr_[0-9a-z]+/.exec((await place.start(["approvals", "list"]).finished).stdout)?.[0] ?? "";
  expect((await place.start(["approvals", "answer", id, "deny"]).finished).code).toBe(0);
  const second = await place.start(["approvals", "answer", id, "allow"]).finished;
  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain("approval_closed");
  expect((await place.exec("resume", "--last")).stdout).toBe("Did without.\n");
});

test("a scripted model that isn't there is told before there is a session", async () => {
  const place = await createPlace(() => ({ text: "never" }));
  const run = await place.start(["exec", "--model", "script:missing.yaml", "go"]).finished;
  expect(run.code).toBe(2);
  expect((await place.start(["sessions", "list"]).finished).stdout).not.toContain("ses_");
});
