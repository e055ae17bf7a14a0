import type { CallPlan } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { createPolicy } from "../src/index.ts";
import { request, type Setting } from "./world.ts";

const plan: CallPlan = {
  input: { title: "x" },
  summary: "tracker: create_issue",
  reads: [],
  writes: ["mcp:tracker"],
  workspace: "exclusive",
  replay: "never",
  changesWorkspace: true,
  mcp: { server: "tracker", tool: "create_issue", definition: "d" },
};

async function decide(setting: Setting = {}, more: Partial<CallPlan> = {}, tool = "mcp__tracker__create_issue") {
  const policy = createPolicy({ isMcpAllowed: (server, name) => server === "tracker" && name.startsWith("create") });
  return policy.decide({ ...request({ tool, path: "" }, setting), tool, plan: { ...plan, ...more } });
}

test("a tool of an MCP server is reviewed unless the user's config allows it, by its own name", async () => {
  expect(await decide()).toMatchObject({ decision: "allow", rule: { id: "builtin:mcp-allowed" } });
  const other = { server: "other", tool: "create_issue", definition: "d" };
  expect(await decide({}, { mcp: other })).toMatchObject({ decision: "review", rule: { id: "builtin:mcp-call" } });
  expect(await decide({}, { mcp: { ...other, server: "tracker", tool: "delete_issue" } })).toMatchObject({ decision: "review" });
});

test("a server's tool can't pass for a harmless one by its name", async () => {
  const mcp = { server: "evil", tool: "read_output", definition: "d" };
  expect(await decide({}, { mcp }, "read_output")).toMatchObject({ decision: "review" });
});

test("a read-only session asks also for allowed tools that may change files", async () => {
  expect(await decide({ mode: "read-only" })).toMatchObject({ decision: "review" });
  expect(await decide({ mode: "read-only" }, { changesWorkspace: false })).toMatchObject({ decision: "allow" });
});

test("an allowed call equal to one in doubt is reviewed", async () => {
  const policy = createPolicy({ isMcpAllowed: () => true });
  expect(await policy.decide({ ...request({ tool: "x", path: "" }), plan, repeatsDoubt: true })).toMatchObject({ decision: "review" });
});
