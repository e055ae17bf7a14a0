import { stepStatuses } from "@holdfast/protocol/plan";
import { z } from "zod";
import { completed, defineTool, refuse } from "./define.ts";
import { decoded } from "./input.ts";

const mostSteps = 50;
/** In UTF-16 units. */
const longestStep = 500;

const input = z.strictObject({
  plan: decoded(z.array(z.strictObject({ step: z.string(), status: z.enum(stepStatuses) }))),
});

/** The plan that a person watches. It directs nothing: the runtime keeps it, shows it, and tells what was left of it. */
export const updatePlan = defineTool({
  name: "update_plan",
  description: "Show the user your steps; send all each time.",
  input,
  async plan({ plan }) {
    const problem =
      plan.length > mostSteps
        ? `more than ${mostSteps} steps`
        : plan.some(({ step }) => step.trim() === "" || step.length > longestStep)
          ? `a step has 1 to ${longestStep} characters`
          : null;
    if (problem !== null) return refuse(`The input of update_plan is invalid; the plan is as it was.\n- plan: ${problem}`);
    const done = plan.filter(({ status }) => status === "completed").length;
    // Two updates in one answer: the later is the plan.
    return { summary: `Plan: ${done} of ${plan.length} steps done`, writes: ["plan"] };
  },
  run: async ({ plan }) => ({ ...completed("Shown."), steps: plan.map(({ step, status }) => ({ text: step.trim(), status })) }),
});
