import type { ThreadEvent } from "@openai/codex-sdk";
import { z } from "zod";

const text = z.string();
const count = z.number().int().nonnegative();
const item = <Type extends string, Shape extends z.core.$ZodLooseShape>(type: Type, shape: Shape) =>
  z.looseObject({ id: text, type: z.literal(type), ...shape });

const threadItem = z.discriminatedUnion("type", [
  item("agent_message", { text }),
  item("reasoning", { text }),
  item("command_execution", {
    command: text,
    aggregated_output: text,
    exit_code: z.number().optional(),
    status: z.enum(["in_progress", "completed", "failed"]),
  }),
  item("file_change", {
    changes: z.array(z.looseObject({ path: text, kind: z.enum(["add", "delete", "update"]) })),
    status: z.enum(["completed", "failed"]),
  }),
  item("mcp_tool_call", {
    server: text,
    tool: text,
    arguments: z.unknown(),
    result: z
      .looseObject({ content: z.array(z.looseObject({ type: z.literal("text"), text })), structured_content: z.unknown() })
      .optional(),
    error: z.looseObject({ message: text }).optional(),
    status: z.enum(["in_progress", "completed", "failed"]),
  }),
  item("web_search", { query: text }),
  item("todo_list", { items: z.array(z.looseObject({ text, completed: z.boolean() })) }),
  item("error", { message: text }),
]);

const usage = z.looseObject({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_input_tokens: count,
  output_tokens: count,
  reasoning_output_tokens: count,
});

/** The SDK's own types as something that can be asked at run time; the compiler holds it to them. */
const threadEvent = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("thread.started"), thread_id: text }),
  z.looseObject({ type: z.literal("turn.started") }),
  z.looseObject({ type: z.literal("turn.completed"), usage }),
  z.looseObject({ type: z.literal("turn.failed"), error: z.looseObject({ message: text }) }),
  z.looseObject({ type: z.literal("item.started"), item: threadItem }),
  z.looseObject({ type: z.literal("item.updated"), item: threadItem }),
  z.looseObject({ type: z.literal("item.completed"), item: threadItem }),
  z.looseObject({ type: z.literal("error"), message: text }),
]) satisfies z.ZodType<ThreadEvent>;

/** Holdfast's own, beside those of the SDK. */
const added: readonly string[] = ["approval.answered", "approval.requested", "check.completed", "hook.ran", "input.taken", "output.judged"];

/** Throws for an event that isn't what the SDK's types say. */
export function assertThreadEvent(event: ThreadEvent): void {
  if (!added.includes(event.type)) threadEvent.parse(event);
}
