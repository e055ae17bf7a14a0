import { checksInOrder } from "../kernel/active-checks.ts";
import type { Driver } from "./driver.ts";

/** Of a turn that reached a limit: what it did and what it cost, and what nobody has looked at or done yet. */
export function accountOf(driver: Driver): string[] {
  const { head, registers } = driver;
  const { turn, usage, cost } = head;
  if (turn === null) return [];
  const tokens = usage.inputTokens - usage.cachedInputTokens + usage.outputTokens;
  const spent =
    cost === null ? "at an unknown cost" : `for $${Number(cost.toFixed(4))}${head.hasUnknownCost === true ? " and what is unknown" : ""}`;
  const minutes = Number((turn.activeMs / 60_000).toFixed(1));
  const checks = checksInOrder(registers).flatMap((check) => (check.isRequired ? [check.name] : []));
  const refused = registers.entries("denied").length;
  const open = (registers.get("plan", "")?.steps ?? []).filter((step) => step.status !== "completed").length;
  return [
    `done: ${turn.step} steps and ${turn.calls} tool calls in ${minutes} min; the session has used ${tokens} tokens ${spent}`,
    ...(refused === 0 ? [] : [`${refused} of the calls were refused`]),
    ...(checks.length === 0 ? [] : [`remains: the checks were not run on what there is now (${checks.join(", ")})`]),
    ...(open === 0 ? [] : [`remains: ${open} steps of the plan`]),
    ...(checks.length + open === 0 && !turn.saysDone ? ["remains: the model had not said that it was done"] : []),
  ];
}
