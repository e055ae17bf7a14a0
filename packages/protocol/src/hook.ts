import { z } from "zod";

/** Moments at which hooks are asked, or just told. */
export const hookEvents = [
  "session_start",
  "session_end",
  "prompt_submitted",
  "before_model",
  "after_model",
  "before_tool",
  "after_tool",
  "approval_asked",
  "before_compaction",
  "before_done",
  "stop",
] as const;
export const hookEvent = z.enum(hookEvents);
export type HookEvent = z.infer<typeof hookEvent>;

/** What a hook did: let it pass (maybe with words to the model, or another input), refused, or could not be run to its end. */
export const hookRun = z.object({
  /** Where it is from and its command line. */
  hook: z.string(),
  event: hookEvent,
  callId: z.string().nullable(),
  result: z.enum(["passed", "denied", "changed", "failed"]),
  /** Of a refusal or a failure. */
  reason: z.string(),
  durationMs: z.number(),
});
export type HookRun = z.infer<typeof hookRun>;
