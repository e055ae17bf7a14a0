import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace, filesBelow, processesWith, until } from "./run.ts";

test("a call in doubt is told to the model and the person in every form, and an equal one is reviewed, whatever defaults it names", async () => {
  const command = (marker: string) => `echo once >> done; sleep 60 # ${marker}`;
  const place = await createPlace((results) => {
    const again = results.length === 0 ? {} : { cwd: ".", tty: false };
    const call = { name: "run_command", input: { command: command(place.marker), ...again } };
    return results.length < 2 ? { calls: [call] } : { text: "It may have been done." };
  });
  const done = join(place.workspace, "done");
  const killed = place.start(["exec", "do it"]);
  await until(() => existsSync(done), "the command has begun");
  killed.child.kill("SIGKILL");
  await killed.finished;
  // With its wrapper goes what could tell how the command ended.
  const [start = ""] = filesBelow(join(place.home, ".holdfast/commands"), "start");
  const wrapper = Number(/\d+/.exec(readFileSync(start, "utf8"))?.[0]);
  expect(wrapper).toBeGreaterThan(1);
  process.kill(wrapper, "SIGKILL");
  for (const pid of processesWith(place.marker)) process.kill(pid, "SIGKILL");
  await until(() => processesWith(place.marker).length === 0, "nothing of it is left");

  const session = await place.session();
  const forked = await place.start(["sessions", "fork", session]).finished;
  expect(forked.stderr).toContain(`may have happened in ${session}, and isn't in the shared history: ${command(place.marker)}`);
  expect((await place.start(["sessions", "delete", forked.stdout.trim()]).finished).code).toBe(0);

  const resumed = await place.exec("resume", "--last", "--quiet", "--approvals", "ask");
  expect(resumed.code).toBe(4);
  expect(resumed.stderr).toContain("may have happened");
  const flat = (text: string) => text.replace(/[\s│]+/g, " ");
  expect(flat(resumed.stderr)).toContain("Before you do anything that depends on it, look at");
  expect(flat(resumed.stderr)).toContain("Don't just repeat it.");
  expect(resumed.stderr).toContain("An equal call may already have happened");
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("This call may have happened: its end was not seen");

  const shown = await place.start(["sessions", "show", await place.session()]).finished;
  expect(shown.stdout).toContain("in doubt: these may have happened");
  expect(flat(shown.stdout)).toContain(`run_command: ${command(place.marker).slice(0, 20)}`);
  expect(flat(shown.stdout)).toContain("look at");
  const asJson = await place.start(["sessions", "show", await place.session(), "--json"]).finished;
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    inDoubt: [{ tool: "run_command", text: expect.stringContaining("may have happened") }],
  });

  const approval = /apr_[0-9a-z]+/.exec((await place.start(["approvals", "list"]).finished).stdout)![0];
  await place.start(["approvals", "answer", approval, "deny"]).finished;
  expect((await place.exec("resume", "--last", "--json")).code).toBe(0);
  expect(readFileSync(done, "utf8")).toBe("once\n");
}, 60_000);
