import type { CheckDefinition } from "@holdfast/protocol";
import type { Head, Registers } from "./state.ts";

/** The checks of the turn that is open, or comes next: constraints that were said with an earlier turn are over. */
export function activeChecks(head: Head, registers: Registers): CheckDefinition[] {
  const turn = head.turn === null ? head.turns + 1 : head.turns;
  return registers
    .entries("check")
    .flatMap(([, check]) => (check.constraint?.turn === undefined || check.constraint.turn === turn ? [check] : []));
}

/** Those that look at the workspace; the others are only told. */
export function runnableChecks(head: Head, registers: Registers): CheckDefinition[] {
  return activeChecks(head, registers).filter(({ kind }) => kind !== "stated");
}
