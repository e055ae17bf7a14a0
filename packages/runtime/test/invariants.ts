import type { Item } from "@holdfast/protocol";
import { expect } from "vitest";
import type { Log } from "../src/index.ts";
import { faultsOfLaw, faultsOfPairing } from "./laws.ts";

/** The law: folding the events gives the stored head and registers; and the chain holds. Erased, it holds from the snapshot on. */
export async function expectLaw(log: Log, session: string): Promise<void> {
  expect(await faultsOfLaw(log, session)).toEqual([]);
}

/** Every call has exactly one result, right after the calls of its sampling and in their order. */
export function expectPaired(items: readonly Item[]): void {
  expect(faultsOfPairing(items)).toEqual([]);
}
