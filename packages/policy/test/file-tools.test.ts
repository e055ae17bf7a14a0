import { expect, test } from "vitest";
import { createPolicy } from "../src/index.ts";
import { decide, home, policy, request } from "./world.ts";

const file = (tool: string, path: string) => decide({ tool, path });

test("reading is allowed inside the workspace and outside it", async () => {
  expect(await file("read_file", "/srv/app/src/a.ts")).toMatchObject({ decision: "allow", provenRead: true });
  expect(await file("read_file", "/usr/include/stdio.h")).toMatchObject({ decision: "allow" });
  expect(await file("search", "/srv/app")).toMatchObject({ decision: "allow" });
});

test("credentials outside the workspace are refused, also through a link", async () => {
  for (const path of [
    "/home/ana/.ssh/id_rsa",
    "/home/ana/.aws/credentials",
    "/home/ana/.npmrc",
    "/etc/shadow",
    "/srv/app/key-link",
    "/home/ana/.holdfast/keys/tip",
    "/srv/app/../../home/ana/.ssh/id_rsa",
    "/proc/self/environ",
    "/proc/thread-self/environ",
    "/proc/4711/task/4711/environ",
    "/proc/4711/map_files/1-2",
    "/etc/ssh/ssh_host_ed25519_key",
  ]) {
    expect(await file("read_file", path), path).toMatchObject({ decision: "deny", rule: { id: "builtin:secret-folder" } });
  }
});

test("a file that a hook or an MCP server runs is changed only with a person's consent, by an edit or a command line", async () => {
  const guarding = createPolicy({ home, guarded: ["/srv/app/src/a.ts"] });
  const calls = [request({ tool: "edit_file", path: "/srv/app/src/a.ts" }), request("echo x > src/a.ts"), request("cp README.md src/a.ts")];
  for (const call of calls)
    expect(await guarding.decide(call)).toMatchObject({ decision: "review", rule: { id: "builtin:protected-write" } });
  for (const call of calls) expect(await policy.decide(call)).toMatchObject({ decision: "allow" });
});

test("secret files inside the workspace are asked for", async () => {
  for (const path of ["/srv/app/.env", "/srv/app/.env.production", "/srv/app/certs/server.key"]) {
    expect(await file("read_file", path), path).toMatchObject({ decision: "review", rule: { id: "builtin:secret-read" } });
  }
  expect(await file("read_file", "/srv/app/.env.example")).toMatchObject({ decision: "allow" });
});

test("images and lists of files are read under the same rules", async () => {
  expect(await file("view_image", "/srv/app/logo.png")).toMatchObject({ decision: "allow", provenRead: true });
  expect(await file("list_folder", "/srv/app")).toMatchObject({ decision: "allow", provenRead: true });
  for (const tool of ["view_image", "list_folder"]) {
    expect(await file(tool, "/home/ana/.ssh/id_rsa"), tool).toMatchObject({ decision: "deny" });
  }
  expect(await file("list_folder", "/home")).toMatchObject({ decision: "review" });
});

test("a search from above a home is asked for", async () => {
  expect(await file("search", "/")).toMatchObject({ decision: "review" });
  expect(await file("search", "/home/ana/.ssh")).toMatchObject({ decision: "deny" });
  expect(await file("search", "/proc/4711/task")).toMatchObject({ decision: "deny" });
  expect(await file("search", "/proc")).toMatchObject({ decision: "deny" });
  expect(await file("search", "/proc/4711")).toMatchObject({ decision: "deny" });
  expect(await file("read_file", "/proc/self/status")).toMatchObject({ decision: "allow" });
});

test("edits inside the workspace are allowed, in the machine's temporary folder only without a sandbox", async () => {
  for (const tool of ["edit_file", "write_file", "apply_patch"])
    expect(await file(tool, "/srv/app/src/new.ts")).toMatchObject({ decision: "allow" });
  expect(await file("write_file", "/tmp/other/.git/config")).toMatchObject({ decision: "review", rule: { id: "builtin:outside-write" } });
  expect(await decide({ tool: "write_file", path: "/tmp/x" }, { mode: "off" })).toMatchObject({ decision: "allow" });
});

test("an edit outside is asked for with the real path as its scope", async () => {
  expect(await file("write_file", "/srv/app/out-link/x")).toMatchObject({
    decision: "review",
    rule: { id: "builtin:outside-write" },
    scope: { writable: ["/opt/out/x"] },
  });
  expect(await file("write_file", "/srv/application/x")).toMatchObject({ decision: "review" });
});

test("what runs later is asked for with its own reason", async () => {
  for (const path of [
    ".git/hooks/pre-commit",
    ".git/config",
    "hooks-link/pre-push",
    ".holdfast/config.toml",
    ".vscode/tasks.json",
    ".mcp.json",
    "AGENTS.md",
    "sub/CLAUDE.md",
    ".github/workflows/ci.yml",
    ".husky/pre-commit",
  ]) {
    expect(await file("write_file", `/srv/app/${path}`), path).toMatchObject({
      decision: "review",
      rule: { id: "builtin:protected-write" },
    });
  }
});

test("one bad path in a patch decides for all of it", async () => {
  const base = request({ tool: "apply_patch", path: "/srv/app/src/a.ts" });
  const plan = { ...base.plan, writes: ["file:/srv/app/src/a.ts", "file:/etc/hosts", "file:/home/ana/.ssh/config"] };
  expect(await policy.decide({ ...base, plan })).toMatchObject({ decision: "deny" });
});

test("a call that doesn't say what it touches is asked for", async () => {
  const base = request({ tool: "edit_file", path: "/srv/app/src/a.ts" });
  expect(await policy.decide({ ...base, plan: { ...base.plan, writes: [] } })).toMatchObject({ decision: "review" });
  expect(await policy.decide({ ...base, tool: "read_file", plan: { ...base.plan, writes: [], reads: [] } })).toMatchObject({
    decision: "review",
  });
  expect(await policy.decide({ ...base, tool: "run_command" })).toMatchObject({ decision: "review" });
});

test("an unknown tool is asked for", async () => {
  expect(await file("mcp__bank__transfer", "/srv/app/a")).toMatchObject({ decision: "review", rule: { id: "builtin:unknown-tool" } });
});
