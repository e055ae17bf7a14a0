import type { DriveEnd, RecordedEvent } from "@holdfast/runtime";
import { expect, test } from "vitest";
import { createJsonEvents } from "../src/render/json-events.ts";
import { decided, done, event, proposes, recorded, settledWith, wholeTurn } from "./recorded.ts";

const ended: DriveEnd = { standing: "verified", exitStatus: 0, report: null, error: null, approvals: [], questions: [] };

function linesOf(events: readonly RecordedEvent[], end: DriveEnd = ended) {
  const json = createJsonEvents();
  return [json.thread("ses_1"), ...events.flatMap(json.take), ...json.end(end)];
}
const itemsOf = (lines: ReturnType<typeof linesOf>) =>
  lines.filter((line) => "item" in line).map((line) => [line.type, line["item"]] as [string, Record<string, unknown>]);

test("a whole turn has the events that tools read, in order", () => {
  const lines = linesOf(wholeTurn);
  expect(
    lines.map((line) => `${line.type} ${String((line["item"] as Record<string, unknown> | undefined)?.["type"] ?? "")}`.trim()),
  ).toEqual([
    "thread.started",
    "turn.started",
    "item.completed error",
    "item.completed reasoning",
    "item.completed agent_message",
    "check.completed",
    "item.started command_execution",
    "item.completed command_execution",
    "item.started command_execution",
    "item.completed file_change",
    "item.completed command_execution",
    "item.completed mcp_tool_call",
    "input.taken",
    "item.completed agent_message",
    "check.completed",
    "turn.completed",
  ]);
  expect(lines.at(-1)).toEqual({
    type: "turn.completed",
    usage: { input_tokens: 300, cached_input_tokens: 180, cache_write_input_tokens: 0, output_tokens: 60, reasoning_output_tokens: 15 },
    outcome: "verified",
    exit_status: 0,
    report: null,
  });
});

test("every item has an id of its own, the same from start to completion", () => {
  const items = itemsOf(linesOf(wholeTurn));
  const completed = items.filter(([type]) => type === "item.completed").map(([, item]) => item["id"]);
  expect(new Set(completed).size).toBe(completed.length);
  const started = items.filter(([type]) => type === "item.started").map(([, item]) => item["id"]);
  expect(completed).toEqual(expect.arrayContaining(started));
});

test("a command has its command, output, exit code and status, and what is ours beside them", () => {
  const [started, completed] = itemsOf(linesOf(wholeTurn)).filter(([, item]) => item["type"] === "command_execution");
  expect(started?.[1]).toEqual({
    id: expect.any(String),
    type: "command_execution",
    command: "npm test",
    status: "in_progress",
    aggregated_output: "",
    tool: "run_command",
    decision: "allow",
    rule: "workspace-command",
  });
  expect(completed?.[1]).toMatchObject({
    command: "npm test",
    exit_code: 1,
    status: "failed",
    duration_ms: 1234,
    expectation: { verdict: "unmet" },
  });
  expect(completed?.[1]["aggregated_output"]).toContain("line 30");
});

test("a refused command is failed, and a call in doubt says that it may have happened", () => {
  const items = itemsOf(linesOf(wholeTurn)).map(([, item]) => item);
  expect(items.find((item) => item["call_status"] === "denied")).toMatchObject({
    type: "command_execution",
    status: "failed",
    decision: "deny",
  });
  expect(items.some((item) => item["exit_code"] === null || item["result"] === null || item["error"] === null)).toBe(false);
  expect(items.find((item) => item["certainty"] === "in_doubt")).toMatchObject({
    type: "mcp_tool_call",
    server: "holdfast",
    tool: "read_file",
    arguments: { path: "a" },
    status: "failed",
    error: { message: "This may have happened." },
  });
});

test.each([
  [null, "b", "add"],
  ["a", null, "delete"],
  ["a", "b", "update"],
] as const)("a file from %s to %s is %s", (beforeDigest, afterDigest, kind) => {
  const lines = linesOf(
    recorded(
      settledWith(proposes("c", "write_file", {})),
      decided("c", { changesWorkspace: true }),
      done("c", { changed: [{ path: "/w/f", beforeDigest, afterDigest, before: null, beforeMode: null }] }),
    ),
  );
  expect(itemsOf(lines)).toEqual([
    ["item.completed", expect.objectContaining({ type: "file_change", status: "completed", changes: [{ path: "/w/f", kind }] })],
  ]);
});

test("a call that asks updates its item with what it asks for", () => {
  const approval = {
    id: "apr_1",
    callId: "c",
    digest: "d",
    shown: "git push",
    reason: "sends",
    rule: { id: "r", source: "builtin" },
    scope: {},
    deadline: null,
  };
  const lines = linesOf(
    recorded(
      settledWith(proposes("c", "run_command", {})),
      decided("c", { command: "git push" }, "review"),
      event("approval.requested", { approval }),
    ),
    { ...ended, standing: "waiting", exitStatus: 4, approvals: [approval] },
  );
  expect(lines.at(-2)).toMatchObject({
    type: "item.updated",
    item: { type: "command_execution", status: "in_progress", approval: { id: "apr_1", shown: "git push" } },
  });
  expect(lines.at(-1)).toMatchObject({
    type: "turn.failed",
    error: { message: "waits for the answer to apr_1", code: "waiting" },
    approvals: ["apr_1"],
  });
});

test("a change of files that waits for a person has an event of its own: the shape knows only changes that were made", () => {
  const approval = {
    id: "apr_1",
    callId: "c",
    digest: "d",
    shown: "edit .git/config",
    reason: "protected",
    rule: { id: "r", source: "builtin" },
    scope: {},
    deadline: null,
  };
  const lines = linesOf(
    recorded(
      settledWith(proposes("c", "edit_file", {})),
      decided("c", { changesWorkspace: true }, "review"),
      event("approval.requested", { approval }),
      done("c", { changed: [{ path: "/w/f", beforeDigest: "a", afterDigest: "b", before: null, beforeMode: null }] }),
    ),
  );
  const [asked, made] = lines.slice(2);
  expect(asked).toMatchObject({ type: "approval.requested", approval: { id: "apr_1", shown: "edit .git/config" } });
  expect(made).toMatchObject({ type: "item.completed", item: { id: asked?.["item_id"], type: "file_change" } });
});

test("only status 0 completes a turn: every other outcome fails it with its name as code", () => {
  for (const [standing, exitStatus] of [
    ["failed", 1],
    ["refuted", 3],
    ["exhausted", 5],
    ["unverified", 6],
    ["blocked", 7],
    ["interrupted", 130],
  ] as const) {
    expect(linesOf([], { ...ended, standing, exitStatus }).at(-1)).toMatchObject({
      type: "turn.failed",
      error: { code: standing },
      outcome: standing,
    });
  }
  expect(linesOf([], { ...ended, standing: "unverified" }).at(-1)).toMatchObject({ type: "turn.completed", outcome: "unverified" });
});

test("a turn that an earlier process began is opened by its first item, and an idle session has none", () => {
  expect(linesOf(recorded(done("c", { text: "x" }))).map((line) => line.type)).toEqual([
    "thread.started",
    "turn.started",
    "item.completed",
    "turn.completed",
  ]);
  expect(linesOf([], { ...ended, standing: "idle" }).map((line) => line.type)).toEqual(["thread.started"]);
});
