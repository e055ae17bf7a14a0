import type { Limits } from "@holdfast/protocol";

type Name = keyof Limits | "cycle" | "retryStorm";
const names: Partial<Readonly<Record<Name, string>>> = {
  stepsPerTurn: "steps a turn",
  callsPerTurn: "tool calls a turn",
  activeMsPerTurn: "active milliseconds a turn",
  tokensPerSession: "tokens of the session",
  costPerSession: "dollars of the session",
  sameCallSameResult: "times the same call with the same result",
  cycle: "times the same calls in turn",
  retryStorm: "failures of the same call",
};

/** A limit as a person knows it, from an event's name for it; one of another version is shown as it stands. */
export function limitName(limit: string): string {
  return names[limit as Name] ?? limit;
}
