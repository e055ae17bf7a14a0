import { z } from "zod";

export const stepStatuses = ["pending", "in_progress", "completed"] as const;

/** One step of the plan that the model keeps for its work; shown to people, and no evidence of anything. */
export const planStep = z.object({ text: z.string(), status: z.enum(stepStatuses) });
export type PlanStep = z.infer<typeof planStep>;
