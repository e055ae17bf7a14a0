import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const line = "touch ../home/box/made && touch ../home/other";
const wish = { command: line, write: ["../home/box"], reason: "the generator writes there" };
const run = { name: "run_command", input: { command: line } };
const request = { name: "use_tool", input: { name: "request_access", input: wish } };

test("what the sandbox refuses is told apart, and can be asked for: exactly that is granted, for that command alone", async () => {
  const place = await createPlace((results) =>
    results.length < 3 ? { calls: [[run, request, run][results.length]!] } : { text: results.join("\n===\n") },
  );
  mkdirSync(join(place.home, "box"));
  const { stdout, code } = await place.exec("--approvals", "allow", "go");
  expect(code).toBe(0);
  const [first, second, third] = stdout.split("\n===\n");
  expect(first).toMatch(
    /^exit code 1\nThe sandbox refused this, not the program:\n- to write \/.*\/home\/box\/made\nIf the task needs it, request_access/,
  );
  // The folder that was named is open, and what lies beside it isn't.
  expect(second).toMatch(/^exit code 1\nThe sandbox refused this, not the program:\n- to write \/.*\/home\/other\n/);
  expect(existsSync(join(place.home, "box/made"))).toBe(true);
  expect(third).toMatch(/- to write \/.*\/home\/box\/made\n/);
  expect(existsSync(join(place.home, "other"))).toBe(false);
});

test("nobody is there to grant it: it is refused, and nothing is run", async () => {
  const place = await createPlace((results) => (results.length < 1 ? { calls: [request] } : { text: results[0]! }));
  mkdirSync(join(place.home, "box"));
  const { stdout } = await place.exec("--approvals", "deny", "go");
  expect(stdout).toMatch(/was refused: .*asks for more than the sandbox allows: .*home\/box \(the generator writes there\)/);
  expect(existsSync(join(place.home, "box/made"))).toBe(false);
});

test("nobody can grant what holds keys, or a cloud's metadata", async () => {
  const wishes = [{ write: ["../home/.ssh"] }, { hosts: ["169.254.169.254"] }, { write: ["/"] }, {}];
  const calls = wishes.map((each) => ({ name: "request_access", input: { command: "true", reason: "r", ...each } }));
  const place = await createPlace((results) =>
    results.length < 4 ? { calls: [calls[results.length]!] } : { text: results.join("\n===\n") },
  );
  mkdirSync(join(place.home, ".ssh"));
  const { stdout } = await place.exec("--approvals", "allow", "go");
  const said = stdout.split("\n===\n");
  for (const text of said.slice(0, 2)) expect(text).toContain("was refused");
  expect(said[2]).toContain("the whole machine can't be asked for");
  expect(said[3]).toContain("Name a host");
});
