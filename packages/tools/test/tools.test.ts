import type { Processes } from "@holdfast/runtime/ports/processes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTools } from "../src/index.ts";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
beforeEach(async () => {
  at = await workbench({ processes: {} as Processes });
});
afterEach(() => at.close());

const specs = () =>
  createTools({ files: at.files, blobs: at.blobs, processes: {} as Processes, isRedacted: () => false })
    .filter((tool) => tool.isDeferred !== true)
    .map((tool) => tool.spec);

test("the specs are small, the same each time, and hold only what a model needs", () => {
  const text = JSON.stringify(specs());
  expect(new TextEncoder().encode(text).length).toBeLessThan(5000);
  expect(JSON.stringify(specs())).toBe(text);
  expect(text).not.toMatch(/\$schema|additionalProperties|9007199254740991/);
  expect(specs().map((spec) => spec.name)).toEqual([
    "read_file",
    "edit_file",
    "write_file",
    "apply_patch",
    "search",
    "list_folder",
    "view_image",
    "run_command",
    "read_output",
    "update_plan",
    "ask_user",
    "give_up",
  ]);
  for (const spec of specs()) expect(spec.schema).toMatchObject({ type: "object", properties: expect.any(Object) as object });
});

test("without processes there are no commands", () => {
  const tools = createTools({ files: at.files, blobs: at.blobs, processes: null, isRedacted: () => false });
  const names = tools.map((tool) => tool.spec.name);
  expect(names).toContain("read_file");
  for (const name of ["run_command", "read_output"]) expect(names).not.toContain(name);
});

const plan = (name: string, input: Parameters<Workbench["call"]>[1]) => at.tool(name).plan(input, at.context);

describe("input", () => {
  test("what is wrong is listed, with its place", async () => {
    const refusal = await plan("edit_file", { edits: [{ old: 1, new: "x", replace: true }], dry_run: true });
    expect(refusal).toMatchObject({ type: "refused" });
    const { text } = refusal as { text: string };
    expect(text).toMatch(/^The input of edit_file is invalid; nothing was done\.\n/);
    for (const part of ["- path: ", "- edits[0].old: ", '"replace"', '"dry_run"']) expect(text).toContain(part);
    for (const bad of [null, "text", [], 3]) expect(await plan("read_file", bad)).toMatchObject({ type: "refused" });
    expect(await plan("read_file", { path: "a", offset: 0 })).toMatchObject({ type: "refused" });
    expect(await plan("search", { limit: 5000 })).toMatchObject({ type: "refused" });
  });

  test("slips that can mean only one thing are taken for what they are", async () => {
    expect(await plan("read_file", { path: "a", offset: "3", limit: null })).toMatchObject({ input: { path: "a", offset: 3 } });
    expect(await plan("search", { pattern: "x", ignore_case: "true" })).toMatchObject({ input: { ignore_case: true } });
    expect(await plan("edit_file", { path: "a", edits: '[{"old":"x","new":"y"}]' })).toMatchObject({
      input: { edits: [{ old: "x", new: "y" }] },
    });
    expect(await plan("read_file", { path: "a", offset: "3rd" })).toMatchObject({ type: "refused" });
    expect(await plan("write_file", { path: "a", content: 3 })).toMatchObject({ type: "refused" });
  });
});

describe("plans", () => {
  test("a command is probed, takes the workspace whole and may change it", async () => {
    expect(await plan("run_command", { command: " make ", expect: { output_contains: "ok" } })).toMatchObject({
      summary: "make",
      command: "make",
      cwd: at.root,
      replay: "probe",
      workspace: "exclusive",
      changesWorkspace: true,
      expect: { outputContains: "ok" },
    });
  });

  test("giving up carries the reason and what blocked it", async () => {
    const outcome = await at.call("give_up", { reason: "no access", blocked_by: "call_3" });
    expect(outcome).toMatchObject({ status: "completed", gaveUp: { reason: "no access", blockedBy: "call_3" } });
    expect((await at.call("give_up", { reason: "x" })).gaveUp).toEqual({ reason: "x", blockedBy: null });
    expect((await at.call("give_up", { reason: " " })).status).toBe("denied");
  });
});
