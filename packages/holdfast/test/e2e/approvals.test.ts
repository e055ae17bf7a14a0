import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const reset = { calls: [{ name: "run_command", input: { command: "git reset --hard HEAD" } }] };

test("an approval is answered later by another process: for the session, and as a rule that later sessions of this project follow", async () => {
  // Each turn resets once, then ends.
  let samplings = 0;
  const place = await createPlace(() => ((samplings += 1) % 2 === 1 ? reset : { text: "done" }));
  const rules = join(place.home, ".holdfast/policy/allowed.toml");
  expect((await place.exec("--approvals", "ask", "reset")).code).toBe(4);
  const shown = await place.start(["approvals", "--json"]).finished;
  const approval = JSON.parse(shown.stdout) as { id: string; session: string; offers: { text: string }[] };
  expect(approval.offers[0]?.text).toContain(`command = "git reset --hard HEAD"`);
  expect((await place.start(["approvals", approval.session, "allow", "--for", "session"]).finished).code).toBe(0);
  const again = await place.start(["approvals", approval.id, "deny"]).finished;
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("(approval_closed)")]);
  expect((await place.exec("resume", approval.session)).code).toBe(0);
  const late = await place.start(["approvals", approval.id, "deny"]).finished;
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining(`${approval.id} was answered before: it was allow`)]);
  expect(late.stderr).toContain("(approval_closed)");
  // The second turn of the session isn't asked; nothing was kept for others.
  const second = await place.exec("resume", approval.session, "--json", "again");
  expect([second.code, existsSync(rules)]).toEqual([0, false]);
  expect(second.stdout).not.toContain("approval.");

  expect((await place.exec("--approvals", "ask", "reset")).code).toBe(4);
  const kept = await place.start(["approvals", "allow", "--for", "rule", "--yes"]).finished;
  expect([kept.code, kept.stderr]).toEqual([0, expect.stringContaining(`command = "git reset --hard HEAD"`)]);
  expect((await place.exec("resume", "--last")).code).toBe(0);
  expect(readFileSync(rules, "utf8")).toContain(`project = "${place.workspace}"`);
  const later = await place.exec("reset");
  expect([later.code, later.stderr]).toEqual([0, expect.stringMatching(/allow +allowed-/)]);
  expect(existsSync(join(place.workspace, ".holdfast"))).toBe(false);
});

test("approval scope escalation (Y18): what the command line allows once is for that call; the same again, and another, are asked", async () => {
  const push = (branch: string) => ({ calls: [{ name: "run_command", input: { command: `git push origin ${branch}` } }] });
  const place = await createPlace(
    (results) => [push("main"), push("main"), push("dev"), { text: "done" }][results.length] ?? { text: "done" },
  );
  const waits = async (): Promise<{ readonly id: string; readonly input: { readonly command: string }; readonly answer?: string }[]> =>
    (await place.start(["approvals", "--json"]).finished).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  expect((await place.exec("--approvals", "ask", "push")).code).toBe(4);
  const seen = new Set<string>();
  for (const branch of ["main", "main", "dev"]) {
    const [open, ...more] = await waits();
    expect([more, open!.answer, seen.has(open!.id)]).toEqual([[], undefined, false]);
    expect(JSON.stringify(open)).toContain(`git push origin ${branch}`);
    seen.add(open!.id);
    expect((await place.start(["approvals", "allow"]).finished).code).toBe(0);
    // Answered, and told so until the session goes on.
    expect((await waits())[0]).toMatchObject({ id: open!.id, answer: "allow" });
    for (const words of [["approvals"], ["approvals", open!.id]])
      expect((await place.start(words).finished).stdout).toContain("answered: allow");
    expect((await place.start(["approvals", "deny"]).finished).stderr).toContain("(approval_closed)");
    expect((await place.exec("resume", "--last")).code).toBe(branch === "dev" ? 0 : 4);
  }
});
