import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace, processesWith, until } from "./run.ts";

const command = (text: string) => ({ name: "run_command", input: { command: text } });

test("the user's hooks refuse a call, change another, and hear of the end", async () => {
  const place = await createPlace((results) =>
    results.length === 0 ? { calls: [command("echo forbidden"), command("echo old")] } : { text: results.join(" | ") },
  );
  const home = join(place.home, ".holdfast");
  mkdirSync(home);
  const hook = join(place.home, "hook.sh");
  writeFileSync(
    hook,
    `#!/bin/sh
input=$(cat)
case "$input" in
  *forbidden*) echo "not that word" >&2; exit 2 ;;
  *old*) printf '{"input": {"command": "echo new"}}' ;;
esac
`,
  );
  chmodSync(hook, 0o755);
  writeFileSync(
    join(home, "config.toml"),
    `[[hooks.before_tool]]
matcher = "run_command"
command = "${hook}"
[[hooks.session_start]]
command = "echo the moon is full"
[[hooks.stop]]
command = "cat > ${place.home}/stop.json"
`,
  );
  const run = await place.exec("go");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("not that word");
  expect(run.stdout).toContain("new");
  expect(run.stderr).toContain("not that word");
  expect(JSON.stringify(place.server.requests[0])).toContain("the moon is full");
  expect(JSON.parse(readFileSync(join(place.home, "stop.json"), "utf8"))).toMatchObject({ hook_event_name: "stop", outcome: "unverified" });
});

test("a project's hook runs only in a trusted project, only as it was accepted, and only in the sandbox", async () => {
  const mark = "touch inside; touch ../outside; true";
  const config = (line: string) => `[[hooks.prompt_submitted]]\ncommand = "${line}"\n`;
  const place = await createPlace(() => ({ text: "Done." }), { "README.md": "x", ".holdfast/config.toml": config(mark) });
  const ran = () => [existsSync(join(place.workspace, "inside")), existsSync(join(place.workspace, "../outside"))];
  await place.exec("untrusted");
  await place.exec("--trust-project", "trusted, not accepted");
  expect(ran()).toEqual([false, false]);
  expect((await place.start(["trust"]).finished).stderr.replaceAll(/\s+/g, " ")).toContain(mark);
  await place.start(["trust", "--all"]).finished;
  await place.exec("accepted");
  expect(ran()).toEqual([true, false]);
  writeFileSync(join(place.workspace, ".holdfast/config.toml"), config("touch changed"));
  const changed = await place.exec("changed since");
  expect(existsSync(join(place.workspace, "changed"))).toBe(false);
  expect(changed.stderr).toContain("was not accepted");
});

test.each(["session_start", "prompt_submitted", "session_end"])(
  "Ctrl-C ends a hook that hangs at %s, with all it started",
  async (event) => {
    const place = await createPlace(() => ({ text: "Done." }));
    const home = join(place.home, ".holdfast");
    mkdirSync(home);
    writeFileSync(join(home, "config.toml"), `[[hooks.${event}]]\ncommand = "sleep 300; : ${place.marker}"\n`);
    const run = place.start(["exec", "go"]);
    await until(() => processesWith(`: ${place.marker}`).length > 0, "the hook runs");
    run.child.kill("SIGINT");
    expect((await run.finished).code).toBe(event === "session_end" ? 0 : 130);
    expect(processesWith(`: ${place.marker}`)).toEqual([]);
  },
);

test("a hook of the user's ends with Holdfast, however that ends", async () => {
  const place = await createPlace(() => ({ text: "Done." }));
  mkdirSync(join(place.home, ".holdfast"));
  writeFileSync(join(place.home, ".holdfast/config.toml"), '[[hooks.session_start]]\ncommand = "sleep 316.5 & setsid true; sleep 316.5"\n');
  const run = place.start(["exec", "go"]);
  await until(() => processesWith("316.5").length > 1, "the hook runs");
  run.child.kill("SIGKILL");
  await run.finished;
  await until(() => processesWith("316.5").length === 0, "the hook has ended");
});
