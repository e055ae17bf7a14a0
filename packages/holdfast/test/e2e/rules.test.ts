import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const command = (line: string) => ({ name: "run_command", input: { command: line } });

test("rule files hold in a session: the model is told their words, the person their place, and an allow needs no question", async () => {
  const place = await createPlace((results) =>
    results.length < 1
      ? {
          calls: [
            command("touch secret.txt"),
            command("cp README.md ~/notes/a.md"),
            command("cp README.md $HOME/notes/b.md"),
            { name: "read_file", input: { path: "README.md" } },
          ],
        }
      : { text: results.join("\n") },
  );
  const folder = join(place.home, ".holdfast/policy");
  for (const path of [folder, join(place.home, "notes"), join(place.workspace, ".holdfast")]) mkdirSync(path, { recursive: true });
  writeFileSync(
    join(folder, "mine.toml"),
    '[[rule]]\nid = "no-secrets"\ndecision = "deny"\nwrite = "secret*"\nmodel = "Refused: keep secrets out of the tree."\n\n[[rule]]\nid = "notes"\ndecision = "allow"\nwrite = "~/notes/**"\n',
  );
  writeFileSync(join(place.workspace, ".holdfast/policy.toml"), '[[rule]]\nid = "mine"\ndecision = "deny"\nread = "README.md"\n');
  // The home of this test lies in the usual temporary folder, where anything may be written.
  const run = await place.start(["exec", "go"], { env: { TMPDIR: "/var/tmp" } }).finished;
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("keep secrets out of the tree");
  expect(run.stdout).toContain("A project");
  expect(run.stderr).toMatch(/no-secrets\s+\(\S*mine\.toml:1\)/);
  expect(readFileSync(join(place.home, "notes/a.md"), "utf8")).toContain("A project");
  // The variable's value is known only when it runs: that it may be the home is enough to ask, not to allow.
  expect(run.stderr).toContain("builtin:outside-write");
  const trusted = await place.exec("--trust-project", "go");
  expect(trusted.stdout).not.toContain("A project");
});

test("a rule file that is wrong stops every session before anything is asked of the model", async () => {
  const place = await createPlace(() => ({ text: "Nothing." }));
  mkdirSync(join(place.home, ".holdfast/policy"), { recursive: true });
  writeFileSync(join(place.home, ".holdfast/policy/a.toml"), '[[rule]]\nid = "a"\ndecision = "deny"\ncomand = "ls"\n');
  const run = await place.exec("go");
  expect([run.code, place.server.requests.length]).toEqual([2, 0]);
  expect(run.stderr).toMatch(/a\.toml:4: unknown key "comand" in a rule \(policy_invalid\)\ndid you mean command\?/);
});

test("a review waits with its note of risk, which approvals shows, too", async () => {
  const place = await createPlace((results) => (results.length < 1 ? { calls: [command("git push")] } : { text: "Done." }));
  const run = await place.exec("--approvals", "ask", "go");
  expect([run.code, run.stderr.includes("risk high: reaches beyond this machine; it can't be taken back")]).toEqual([4, true]);
  const listed = JSON.parse((await place.start(["approvals", "list", "--json"]).finished).stdout) as { id: string; risk: object };
  expect(listed.risk).toMatchObject({ level: "high", reach: "elsewhere", reversible: "no" });
  expect((await place.start(["approvals", "show", listed.id]).finished).stdout).toContain("risk high");
});
