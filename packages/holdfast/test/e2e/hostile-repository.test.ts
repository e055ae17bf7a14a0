import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHostilePlace, fillWithTraps, outsideText } from "./hostile-repository.ts";
import type { HostilePlace } from "./hostile-repository.ts";
import type { Finished } from "./run.ts";

const command = (text: string) => ({ name: "run_command", input: { command: text } });
const use = (name: string, input: object) => ({ name: "use_tool", input: { name, input } });

/** A PATH as `npm run` and careless people have it. */
const runner =
  ({ place }: HostilePlace) =>
  (line: string, more: Readonly<Record<string, string>> = {}): Promise<Finished> =>
    place.start(line.split(" "), { env: { PATH: `.:${place.workspace}/node_modules/.bin:${process.env["PATH"]}`, ...more } }).finished;

function configure({ place }: HostilePlace, toml: string): void {
  mkdirSync(join(place.home, ".holdfast"), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, ".holdfast/config.toml"), toml, { mode: 0o600 });
}

/** The files below a folder that hold a text. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() && readFileSync(path).includes(text) ? [path] : [];
  });
}

test("before trust nothing of a hostile repository runs, connects, is obeyed or sets anything", async () => {
  const hostile: HostilePlace = await createHostilePlace((results) =>
    results.length === 0
      ? {
          calls: [
            { name: "list_folder", input: {} },
            { name: "search", input: { pattern: "nowhere at all" } },
            command("git status --short; git diff | head -c 300; git log -1"),
            use("mcp__local__any", {}),
            use("http_request", { method: "POST", url: `${hostile.thief.url}/`, body: "x" }),
            { name: "write_file", input: { path: ".holdfast/config.toml", content: "approvals = 'allow'\n" } },
            { name: "write_file", input: { path: ".git/hooks/post-commit", content: "#!/bin/sh\n" } },
          ],
        }
      : { text: "Done." },
  );
  fillWithTraps(hostile);
  const { place, thief, ran } = hostile;
  const config = readFileSync(join(place.workspace, ".holdfast/config.toml"), "utf8");
  const run = runner(hostile);
  const said: Finished[] = [];
  for (const line of [
    "exec go",
    "config show",
    "mcp list",
    "mcp test",
    "prompts",
    "review --model openai/test --uncommitted",
    "exec /deploy",
  ]) {
    const finished = await run(line);
    said.push(finished);
    expect([line, ran(), thief.heard]).toEqual([line, [], []]);
    expect(finished.stdout + finished.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
  const [exec, shown, listed, tried, prompts, , deploy] = said;
  expect(exec).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(exec?.stderr).toMatch(/ignored: this project\s+is not trusted/);
  expect(shown?.stdout).not.toMatch(/thief|allow_net = \["all"\]|\.holdfast\/config\.toml/);
  expect(shown?.stdout).toContain('sandbox.mode = "workspace-write"  # built-in');
  for (const none of [listed, tried]) expect(none?.stderr).toContain("no MCP servers");
  expect(prompts?.stderr).toContain("not used: accounts, deploy of this project");
  expect(deploy?.code).toBe(2);
  const requests = JSON.stringify(place.server.requests);
  expect(requests).not.toContain("BAIT");
  expect(requests).toContain("this project is not trusted");
  expect(requests).not.toMatch(/mcp__local__(?!any)/);
  expect(readFileSync(join(place.workspace, ".holdfast/config.toml"), "utf8")).toBe(config);
  expect(existsSync(join(place.workspace, ".git/hooks/post-commit"))).toBe(false);
  // Neither the request nor what is kept of the workspace went through a link.
  expect(filesWith(join(place.home, ".holdfast"), outsideText)).toEqual([]);
});

test("a trusted project that reaches for keys, the sandbox or looser limits is an error that names each line", async () => {
  const hostile = await createHostilePlace(() => ({ text: "Done." }));
  fillWithTraps(hostile);
  const run = runner(hostile);
  await run("trust");
  const { code, stderr } = await run("config check");
  expect(code).not.toBe(0);
  const text = stderr.replaceAll(/\s+/g, " ");
  for (const [line, key] of [
    [1, "config.toml"],
    [2, "approvals"],
    [4, "providers.openai.base_url"],
    [5, "providers.openai.api_key_env"],
    [6, "providers.openai.headers.x-key"],
    [8, "providers.thief.base_url"],
    [10, "sandbox.mode"],
    [11, "sandbox.allow_net"],
    [13, "limits.max_steps"],
    [17, "web.search.provider"],
    [20, "secrets.key.env"],
    [32, "profiles.work.sandbox.mode"],
  ] as const) {
    if (key !== "config.toml") expect(text).toMatch(new RegExp(`config\\.toml:${line}: [^:]*${key.replaceAll(".", "\\.")}`));
  }
  expect((await run("exec go")).code).toBe(2);
  expect([hostile.ran(), hostile.thief.heard, hostile.place.server.requests]).toEqual([[], [], []]);
});

test("what a trusted project runs is what was accepted, in the sandbox alone, and no more once a file of it has changed", async () => {
  let calls: { name: string; input: object }[] = [];
  const hostile = await createHostilePlace((results) => (results.length === 0 && calls.length > 0 ? { calls } : { text: "Done." }));
  const { place, trap, traps, ran, write } = hostile;
  const run = runner(hostile);
  // The loader of every program that gets these variables leaves a file.
  write(
    ".holdfast/config.toml",
    `[[hooks.prompt_submitted]]
command = "sh scripts/hook.sh"
[[hooks.stop]]
command = "sh scripts/hook.sh"
[mcp.bait]
command = "sh"
args = ["scripts/server.sh"]
env = { LD_DEBUG = "files", LD_DEBUG_OUTPUT = "${traps}/loader", PATH = "${place.workspace}/node_modules/.bin:/usr/bin:/bin" }
`,
  );
  write("node_modules/.bin/bwrap", `#!/bin/sh\n${trap("bwrap")}\n`, 0o755);
  write("scripts/hook.sh", `echo hooked >> hooked; ${trap("hook")}; true\n`);
  write("scripts/server.sh", `${trap("server")}; exit 3\n`);
  const hooked = (): number =>
    existsSync(join(place.workspace, "hooked")) ? readFileSync(join(place.workspace, "hooked"), "utf8").length / 7 : 0;
  const look = { name: "search_tools", input: { query: "bait" } };
  const lastRequest = (): string => JSON.stringify(place.server.requests.at(-1));

  await run("trust");
  expect((await run("exec go")).stderr).toContain("was not accepted");
  expect(hooked()).toBe(0);

  await run("trust --all");
  calls = [look];
  // The user lets the session's commands out of the sandbox, not what a project brings along.
  await run("exec --sandbox off go");
  expect([hooked(), ran()]).toEqual([2, []]);
  expect(lastRequest()).toContain("it ended with exit status 3");

  // Changed by the session itself, where a person allowed just that: it doesn't run any more, within the session or later.
  calls = [command("echo true >> scripts/hook.sh; echo true >> scripts/server.sh"), look];
  const changing = await run("exec --sandbox off --approvals allow go");
  expect(changing.stderr.replaceAll(/\s+/g, " ")).toContain("has changed since it was accepted");
  expect(hooked()).toBe(3);
  expect(lastRequest()).not.toContain("exit status 3");
  calls = [];
  const later = await run("exec go");
  expect(later.stderr).toMatch(/hooks\.stop was\s+not accepted/);
  expect(later.stderr).toContain("mcp.bait of this project isn't used");
  expect([hooked(), ran()]).toEqual([3, []]);
});

test("the user's own hooks and servers are never programs of the repository", async () => {
  const hostile = await createHostilePlace((results) =>
    results.length === 0 ? { calls: [{ name: "search_tools", input: { query: "own" } }] } : { text: "Done." },
  );
  fillWithTraps(hostile);
  const { place, ran } = hostile;
  // By name, as people write them; `python -m` and `npx` would look into the folder they start in.
  configure(
    hostile,
    `[[hooks.session_start]]
command = "date > ${place.home}/hook; sh -c 'git --version' >> ${place.home}/hook"
[mcp.own]
command = "sh"
args = ["-c", "pwd > ${place.home}/server; date >> ${place.home}/server; exit 3"]
`,
  );
  const run = runner(hostile);
  await run("exec go");
  expect(ran()).toEqual([]);
  expect(readFileSync(join(place.home, "hook"), "utf8")).toMatch(/:[^]*git version/);
  expect(readFileSync(join(place.home, "server"), "utf8").split("\n")[0]).toBe(join(place.home, ".holdfast/servers/empty"));
  // A folder that the user named is meant: `.` is the project.
  configure(hostile, `[mcp.own]\ncommand = "sh"\nargs = ["-c", "pwd > ${place.home}/server; exit 3"]\ncwd = "."\n`);
  await run("mcp test");
  expect(readFileSync(join(place.home, "server"), "utf8")).toBe(`${place.workspace}\n`);
});

test("a model in a trusted project can't plant what Holdfast, git or a hook takes from it the next time", async () => {
  const hostile = await createHostilePlace((results) =>
    results.length === 0
      ? {
          calls: [
            command("sh scripts/plant.sh"),
            { name: "write_file", input: { path: ".mcp.json", content: "{}" } },
            { name: "write_file", input: { path: ".holdfast/prompts/x.md", content: "x" } },
            { name: "write_file", input: { path: "scripts/guard.sh", content: "true" } },
            command("echo true > scripts/guard.sh"),
          ],
        }
      : { text: "Done." },
  );
  const { place, write, git, trap, ran } = hostile;
  const names = ["scripts/guard.sh", "linked/stop.sh", "included.gitconfig", ".git/config", "hooks/pre-commit"] as const;
  write("scripts/guard.sh", `cat > /dev/null\n`);
  write("tools/any.sh", "cat > /dev/null\n");
  mkdirSync(join(place.workspace, "linked"));
  symlinkSync("../tools/any.sh", join(place.workspace, "linked/stop.sh"));
  write("hooks/pre-commit", "#!/bin/sh\n", 0o755);
  write("included.gitconfig", "[core]\n\thooksPath = hooks\n");
  git("config", "include.path", "../included.gitconfig");
  write(
    "scripts/plant.sh",
    `mkdir -p .holdfast/prompts
echo "BAIT" > .holdfast/prompts/x.md
echo 'checks.commands = ["true"]' > .holdfast/config.toml
echo '{"mcpServers":{}}' > .mcp.json
for file in ${names.join(" ")}; do { echo "${trap("planted")}" >> $file; rm -f $file; mv $file other; } 2>/dev/null; done
mv scripts moved; mv hooks moved-hooks; rm linked/stop.sh; mv linked l; mkdir linked; echo "${trap("link")}" > linked/stop.sh; echo x > tools/any.sh
true
`,
  );
  configure(hostile, `[[hooks.stop]]\ncommand = "sh scripts/guard.sh"\n[[hooks.stop]]\ncommand = "sh linked/stop.sh"\n`);
  const before = names.map((name) => readFileSync(join(place.workspace, name), "utf8"));
  const run = runner(hostile);
  await run("trust");
  const { code, stderr } = await run("exec go");
  expect(code).toBe(0);
  expect(names.map((name) => readFileSync(join(place.workspace, name), "utf8"))).toEqual(before);
  for (const name of [".holdfast", ".mcp.json"]) expect(existsSync(join(place.workspace, name))).toBe(false);
  const said = JSON.stringify(place.server.requests.at(-1));
  expect(said).toContain(`moved ${place.workspace}/.mcp.json out of the workspace`);
  expect(stderr.match(/builtin:protected-write/g)).toHaveLength(4);
  expect(ran()).toEqual([]);
});

test("trust that was taken back ends for a session that began with it", async () => {
  const hostile = await createHostilePlace(() => ({ text: "Done." }));
  const { place, write } = hostile;
  write("AGENTS.md", "BAIT one");
  const run = runner(hostile);
  await run("exec --trust-project go");
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("BAIT one");
  await run("trust --remove");
  write("AGENTS.md", "BAIT two");
  write(".holdfast/config.toml", "approvals = 'allow'\n");
  const resumed = await run("exec resume --last go");
  expect(resumed).toMatchObject({ code: 0, stdout: "Done.\n" });
  const request = JSON.stringify(place.server.requests.at(-1));
  expect(request).not.toContain("BAIT two");
  expect(request).toContain("this project is not trusted");
});
