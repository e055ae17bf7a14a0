import type { CheckDefinition } from "@holdfast/protocol";
import type { Head, Registers } from "./state.ts";

/** All that were accepted, as they were named: a build before what tests it. Those of one place keep the order of their ids. */
export function checksInOrder(registers: Registers): CheckDefinition[] {
  return registers
    .entries("check")
    .map(([, check]) => check)
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** The checks of the turn that is open, or comes next: constraints that were said with an earlier turn are over. */
export function activeChecks(head: Head, registers: Registers): CheckDefinition[] {
  const turn = head.turn === null ? head.turns + 1 : head.turns;
  return checksInOrder(registers).filter(({ constraint }) => constraint?.turn === undefined || constraint.turn === turn);
}

/** Those that look at the workspace; the others are only told. */
export function runnableChecks(head: Head, registers: Registers): CheckDefinition[] {
  return activeChecks(head, registers).filter(({ kind }) => kind !== "stated");
}

function placeOf({ order = Number.MAX_SAFE_INTEGER }: CheckDefinition): number {
  return order;
}
