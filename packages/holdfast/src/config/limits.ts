import type { Limits } from "@holdfast/protocol";

/** Limits as a person writes them, in flags (`--max-steps`) and in `[limits]` (`max_steps`). */
export interface WrittenLimits {
  readonly preset?: "default" | "strict";
  readonly maxSteps?: number;
  readonly maxToolCalls?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeoutMs?: number;
  readonly commandTimeoutMs?: number;
  readonly mutatingCallTimeoutMs?: number;
  readonly maxDepth?: number;
}

/** Single limits win over the preset. `costFrom`: where a limit of cost among them was written. */
export function applyLimits(base: Limits, written: WrittenLimits, costFrom = "--max-cost"): Limits {
  return {
    ...base,
    ...(written.maxSteps === undefined ? {} : { stepsPerTurn: written.maxSteps }),
    ...(written.maxToolCalls === undefined ? {} : { callsPerTurn: written.maxToolCalls }),
    ...(written.maxTokens === undefined ? {} : { tokensPerSession: written.maxTokens }),
    // Who names a sum means it: where the cost can't be told, the turn ends.
    ...(written.maxCost === undefined ? {} : { costPerSession: written.maxCost, allowsUnknownCost: false, costFrom }),
    ...(written.timeoutMs === undefined ? {} : { activeMsPerTurn: written.timeoutMs }),
    ...(written.commandTimeoutMs === undefined ? {} : { commandMs: written.commandTimeoutMs }),
    ...(written.mutatingCallTimeoutMs === undefined ? {} : { mutatingCallMs: written.mutatingCallTimeoutMs }),
    ...(written.maxDepth === undefined ? {} : { depth: written.maxDepth }),
  };
}

/** What is larger can't be kept as it is: as JSON it may even become "no limit". */
function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

/** Whole numbers above 0, with `k` and `M` for thousands and millions: `200k`. Null for anything else. */
export function parseCount(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([kKmM]?)$/.exec(text);
  if (match === null) return null;
  const unit = match[2]?.toLowerCase();
  const value = Number(match[1]) * (unit === "k" ? 1000 : unit === "m" ? 1_000_000 : 1);
  return isWhole(value) ? value : null;
}

export function parseDollars(text: string): number | null {
  const match = /^\$?(\d+(?:\.\d+)?)$/.exec(text);
  const value = Number(match?.[1] ?? 0);
  return value > 0 && Number.isFinite(value) ? value : null;
}

/** Milliseconds from `90` (seconds), `90s`, `30m`, `2h`, `1h30m`. Null for anything else. */
export function parseDuration(text: string): number | null {
  if (/^\d+$/.test(text)) return isWhole(Number(text) * 1000) ? Number(text) * 1000 : null;
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  if (match === null) return null;
  const ms = (Number(match[1] ?? 0) * 3600 + Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0)) * 1000;
  return isWhole(ms) ? ms : null;
}
