import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, isPaired } from "./model-server.ts";
import { createPlace, type Place, until } from "./run.ts";

const write = (path: string, content: string) => ({ name: "write_file", input: { path, content } });
const command = (line: string) => ({ name: "run_command", input: { command: line } });
const textOf = (request: unknown) => JSON.stringify(request);

/** Explores, tries to change something, plans; carries the plan out once it is told to; plans anew where words came instead. */
async function planningPlace(): Promise<Place> {
  const place: Place = await createPlace((results) => answer(results, textOf(place.server.requests.at(-1))));
  return place;
}

function answer(results: readonly string[], said: string): Answer {
  if (said.includes("The plan is accepted")) return results.length < 4 ? { calls: [write("done.txt", "done\n")] } : { text: "Done." };
  if (said.includes("with a test, too")) return { text: "Plan: done.txt and a test." };
  return results.length < 1
    ? { calls: [command("cat README.md"), write("early.txt", "x"), command("git push")] }
    : { text: "Plan: write done.txt." };
}

test("plan mode explores, ends in a plan that waits for a person, and carries it out once it is accepted", async () => {
  const place = await planningPlace();
  const asked = await place.exec("--mode", "plan", "go");
  expect(asked.code).toBe(4);
  expect(asked.stderr).toContain("plan mode");
  expect(asked.stderr).toContain("Plan: write done.txt.");
  expect(asked.stderr).toMatch(/1 {2}Accept the plan/);
  expect(asked.stderr).toContain("builtin:plan-edit");
  expect(asked.stderr).toContain("builtin:plan-effect");
  expect(asked.stderr).toContain("A project");
  expect(existsSync(join(place.workspace, "early.txt"))).toBe(false);
  expect(textOf(place.server.requests[0])).toContain("Plan mode");

  // It waits in the store: another process shows it again, and takes the answer.
  expect((await place.exec("resume", "--last")).code).toBe(4);
  expect((await place.start(["answer"]).finished).stdout).toContain("Plan: write done.txt.");
  expect((await place.start(["answer", "with a test, too"]).finished).code).toBe(0);
  const again = await place.exec("resume", "--last");
  expect([again.code, again.stderr.includes("Plan: done.txt and a test.")]).toEqual([4, true]);

  expect((await place.start(["answer", "--choice", "1"]).finished).code).toBe(0);
  const carried = await place.exec("resume", "--last");
  expect([carried.code, carried.stdout]).toEqual([0, "Done.\n"]);
  expect(readFileSync(join(place.workspace, "done.txt"), "utf8")).toBe("done\n");
  // The model is told that it may write now.
  expect(textOf(place.server.requests.at(-1))).toMatch(/The world has changed[\s\S]*can write in the workspace/);
  for (const request of place.server.requests) expect(isPaired(request)).toBe(true);

  // The log tells all of it again, and an erased plan leaves no copy in its question.
  const session = await place.session();
  expect((await place.start(["replay", session]).finished).code).toBe(0);
  const shown = (await place.start(["sessions", "show", session, "--items"]).finished).stdout;
  const item = /^(smp_\S+) +\d+ +assistant message +Plan: write/m.exec(shown)?.[1];
  expect((await place.start(["sessions", "erase", session, item ?? ""]).finished).code).toBe(0);
  expect((await place.start(["sessions", "verify", session]).finished).code).toBe(0);
  const exported = (await place.start(["sessions", "export", session, "--format", "json"]).finished).stdout;
  expect([exported.includes("Plan: write done.txt."), exported.includes("done.txt and a test")]).toEqual([false, true]);
});

test("words that come while a plan waits are about the plan; left at the plan, the turn ends", async () => {
  const place = await planningPlace();
  expect((await place.exec("--mode", "plan", "go")).code).toBe(4);
  const changed = await place.exec("resume", "--last", "with a test, too");
  expect([changed.code, changed.stderr.includes("Plan: done.txt and a test.")]).toEqual([4, true]);
  expect((await place.start(["answer", "--choice", "2"]).finished).code).toBe(0);
  const ended = await place.exec("resume", "--last");
  expect([ended.code, ended.stdout]).toEqual([0, "Plan: done.txt and a test.\n"]);
  // The session still only plans.
  expect((await place.exec("resume", "--last", "once more")).code).toBe(4);
  // Who names a sandbox wants that, and no plan.
  expect((await place.exec("resume", "--last", "--sandbox", "workspace-write", "and now")).code).toBe(0);
});

test("a plan that waits when its process is killed is there for the next one", async () => {
  const place = await planningPlace();
  const first = place.start(["exec", "--mode", "plan", "--json", "go"]);
  await until(() => place.server.requests.length > 1, "the plan was made");
  first.child.kill("SIGKILL");
  await first.finished;
  const again = await place.exec("resume", "--last", "--json");
  expect(again.code).toBe(4);
  const last = JSON.parse(again.stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  expect(last).toMatchObject({ type: "turn.failed", outcome: "waiting", questions: [{ text: "Plan: write done.txt." }] });
});

test("line mode: /plan PROMPT plans it, and a y to the plan is its first choice", async () => {
  const place = await planningPlace();
  const run = await place.start(["--model", "openai/test"], { stdin: "/plan go\n1\n" }).finished;
  expect([run.code, run.stdout.includes("Done.")]).toEqual([0, true]);
  expect(existsSync(join(place.workspace, "done.txt"))).toBe(true);
});

test("full access is marked, however quiet the run; modes and sandboxes that say different things are refused", async () => {
  const place = await createPlace(() => ({ text: "Nothing." }));
  const full = await place.exec("--mode", "full", "--quiet", "go");
  expect([full.code, full.stderr.includes("without a sandbox")]).toEqual([0, true]);
  const usual = await place.exec("--mode", "workspace", "go");
  expect(usual.stderr).not.toContain("without a sandbox");
  const torn = await place.exec("--mode", "plan", "--sandbox", "off", "go");
  expect([torn.code, torn.stderr.includes("don't go together")]).toEqual([2, true]);
});
