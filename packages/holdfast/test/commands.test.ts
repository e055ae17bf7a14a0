import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
let home = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-commands-")));
  home = join(folder, "home");
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const start = (cwd = folder, env: Record<string, string> = { OPENAI_API_KEY: "k" }) => fakeIo({ cwd, home, env });
const exec = ["exec", "-m", "openai/x"];

test("sessions are listed for their folder, shown on a page, and deleted with what belongs to them", async () => {
  const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
  await mkdir(join(folder, "other"));
  await main([...exec, "the first\nwith more"], start(), hosts);
  await main([...exec, "elsewhere"], start(join(folder, "other")), hosts);
  const here = start();
  await main(["sessions"], here, hosts);
  expect(here.out()).toContain("the first");
  expect(here.out()).not.toContain("elsewhere");
  const everywhere = start();
  await main(["sessions", "list", "--all"], everywhere, hosts);
  expect(everywhere.out()).toContain("elsewhere");

  const id = /ses_\S+/.exec(here.out())?.[0] ?? "";
  const page = start();
  expect(await main(["sessions", "show", id.slice(0, -1)], page, hosts)).toBe(0);
  for (const text of ["openai/x", "workspace-write", "unverified · nothing to verify · the first ⏎ with more", "tokens:"])
    expect(page.out()).toContain(text);

  await hosts.log.lock(`session:${id}`, { pid: 7, startTime: "7", bootId: "b", label: "alive" }, () => true);
  expect(await main(["sessions", "delete", id], start(), hosts)).toBe(2);
  await hosts.log.unlock(`session:${id}`, { pid: 7, startTime: "7", bootId: "b", label: "alive" });
  expect(await main(["sessions", "delete", id], start(), hosts)).toBe(0);
  expect(hosts.endedSessions).toContain(id);
  expect(await main(["sessions", "show", id], start(), hosts)).toBe(2);
});

test("an approval is shown with its exact input and its scope, and an answer is given once", async () => {
  const hosts = fakeHosts({ script: [{ calls: [{ name: "danger", input: { text: "rm -rf \u202e/tmp" } }] }, { text: "done" }] });
  await main([...exec, "--approvals", "ask", "go"], start(), hosts);
  const listed = start();
  await main(["approvals", "list", "--json"], listed, hosts);
  const { id } = JSON.parse(listed.out()) as { id: string };
  const shown = start();
  expect(await main(["approvals", "show", id], shown, hosts)).toBe(0);
  for (const text of ["<U+202E>", "reach example.org, for this call only", `approvals ${id} allow`]) expect(shown.out()).toContain(text);
  expect(await main(["approvals", "answer", id, "deny", "--note", "not here"], start(), hosts)).toBe(0);
  const resumed = start();
  expect(await main(["exec", "resume", "--last", "and hurry"], resumed, hosts)).toBe(0);
  expect(resumed.err()).toContain("deny by");
  expect(resumed.err()).toContain("steered  and hurry");
});

test("a project is trusted, listed and no longer trusted; its instructions are named", async () => {
  await writeFile(join(folder, "AGENTS.md"), "be kind");
  await mkdir(join(folder, ".git"));
  await mkdir(join(folder, "src"));
  const io = start(join(folder, "src"));
  expect(await main(["trust"], io, fakeHosts({ script: [] }))).toBe(0);
  expect(io.err()).toContain(`trusted: ${folder}`);
  expect(io.err()).toContain("AGENTS.md");
  const list = start();
  await main(["trust", "--list"], list, fakeHosts({ script: [] }));
  expect(list.out()).toContain(folder);
  const hosts = fakeHosts({ script: [{ text: "ok" }] });
  await main([...exec, "go"], start(), hosts);
  const shown = start();
  const [row] = await hosts.log.list({});
  await main(["sessions", "show", row?.session ?? ""], shown, hosts);
  expect(shown.out()).toMatch(/trusted: +yes/);
  expect(await main(["trust", "--remove"], start(), hosts)).toBe(0);
  const empty = start();
  await main(["trust", "--list"], empty, hosts);
  expect(empty.out()).toBe("");
});

test("trusting a project names its rules, and what its checks would run without a question", async () => {
  await mkdir(join(folder, ".git"));
  await mkdir(join(folder, ".holdfast"));
  await writeFile(join(folder, ".holdfast/policy.toml"), '[[rule]]\nid = "mine"\ndecision = "deny"\nread = "README.md"\n');
  const checks = '[checks]\ncommands = ["make check"]\n[checks.named.units]\nkind = "tests"\ncommand = "node --test \\u001b[2J"\n';
  await writeFile(join(folder, ".holdfast/config.toml"), checks);
  const io = start();
  expect(await main(["trust"], io, fakeHosts({ script: [] }))).toBe(0);
  expect(io.err()).toContain("used from now on: .holdfast/policy.toml");
  expect(io.err()).toContain('runs as a check from now on, without a question: "make check"\n');
  expect(io.err()).toContain('without a question: "node --test \\u001b[2J"');
  expect(io.err()).not.toContain("\u001b[2J");
});

test("doctor says what is missing and exits 1 only where that blocks", async () => {
  const well = start(folder, { OPENAI_API_KEY: "k", PATH: process.env["PATH"] ?? "" });
  expect(await main(["doctor"], well, fakeHosts({ script: [] }))).toBe(0);
  for (const about of ["node", "home", "config", "store", "sandbox", "git", "model", "trust"])
    expect(well.out()).toMatch(new RegExp(`^(ok|note) +${about} `, "m"));

  await writeFile(join(home, "config.toml"), "modle = 1\n", { mode: 0o644 });
  const ill = start(folder, { PATH: "/nowhere" });
  expect(await main(["doctor"], ill, fakeHosts({ script: [] }))).toBe(1);
  expect(ill.out()).toMatch(/^problem +config .*config\.toml:1: unknown\n +key "modle"; did/m);
  expect(ill.out()).toMatch(/^problem +git +not found/m);
});
