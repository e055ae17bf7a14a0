import type { Notice } from "@holdfast/protocol";
import type { Budget, CostOf } from "../kernel/limits.ts";
import { weighed, worstInput, worstOfFixed } from "../kernel/worst-input.ts";
import type { Driver } from "./driver.ts";
import { settingsOf } from "./driver.ts";

/** The worst case of the next request's input, tokens, with what is staged, and with `notices` that are not yet. */
export function worstInputOf(driver: Driver, notices: readonly Notice[] = []): number {
  const { head, window, staged } = driver;
  return worstInput(head, staged.events.reduce(weighed, window.weight), newFixed(driver), notices);
}

export function budgetOf(driver: Driver, costOf: CostOf | null, notices: readonly Notice[]): Budget {
  return { head: driver.head, limits: settingsOf(driver).limits, costOf, worstInput: worstInputOf(driver, notices) };
}

/** Null where the provider has counted them with the last request: the same model, and the same tools. */
function newFixed(driver: Driver): number | null {
  const { ports, registers, head, digests } = driver;
  const { specs } = ports.tools;
  const known = registers.get("tools", "")?.digest;
  if (head.measured !== undefined && (known === undefined || known === digests.tools(specs))) return null;
  const world = registers.entries("world").map(([, section]) => section);
  const { instructions, tools } = ports.director.direct({ world, tools: specs, items: [] });
  return worstOfFixed({ instructions, tools, schema: settingsOf(driver).outputSchema });
}
