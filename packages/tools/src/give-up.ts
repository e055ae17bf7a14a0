import { z } from "zod";
import { completed, defineTool } from "./define.ts";

const input = z.strictObject({
  reason: z.string().trim().min(1),
  blocked_by: z.string().optional().describe("id of the refused call, if that is why"),
});

/** Ends the turn as failed, or as blocked where a refused call was the reason; the runtime judges which. */
export const giveUp = defineTool({
  name: "give_up",
  description: "End the turn: the task can't be done.",
  input,
  plan: async ({ reason }) => ({ summary: `Give up: ${reason}` }),
  run: async ({ reason, blocked_by }) => ({ ...completed("Ended."), gaveUp: { reason, blockedBy: blocked_by ?? null } }),
});
