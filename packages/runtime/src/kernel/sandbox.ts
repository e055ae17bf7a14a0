import type { SessionEvent } from "@holdfast/protocol";
import type { Head, HeadSandbox, State } from "./state.ts";

/** What is to be done about the sandbox before work goes on: see that it is well, move its end away, or keep what it holds. */
export type SandboxNeed = "ready" | "prolong" | "save";

/** After so long without an effect in it, nobody knows whether it is still there. */
const pauseMs = 60_000;
/** So long before its end it is prolonged, and where that can't be, saved. */
const marginMs = 120_000;

/** An effect, as far as it matters here (see `decide.ts`). */
interface Effect {
  readonly type: string;
}

/** True for an effect that happens in the sandbox. */
export function happensInside({ type }: Effect): boolean {
  return type === "call" || type === "baseline" || type === "snapshot" || type === "check";
}

/** `effects` are those that the turn wants; `rests`: nothing follows until somebody acts, or the turn ends. Pure. */
export function sandboxNeed({ head, hasSandbox }: State, effects: readonly Effect[], rests: boolean, now: number): SandboxNeed | null {
  if (hasSandbox !== true) return null;
  const { sandbox } = head;
  const isUsed = effects.some(happensInside);
  if (sandbox === undefined) return isUsed ? "ready" : null;
  const { expiresAt, isChecked, isExpiring, isDirty, seenAt } = sandbox;
  const hasEnded = expiresAt !== null && expiresAt <= now;
  if (isUsed && (!isChecked || hasEnded || now - seenAt > pauseMs)) return "ready";
  if (!isChecked || hasEnded) return null;
  if (expiresAt !== null && !isExpiring && expiresAt - now <= marginMs && !rests) return "prolong";
  // Near its end every bit of work is kept; otherwise what was done is kept before the session is left alone.
  return isDirty && !isUsed && (rests || isExpiring) ? "save" : null;
}

/** When time alone makes its end a concern. */
export function sandboxWakeAt({ head: { sandbox }, hasSandbox }: State): number[] {
  if (hasSandbox !== true || sandbox === undefined || sandbox.expiresAt === null || sandbox.isExpiring || !sandbox.isChecked) return [];
  return [sandbox.expiresAt - marginMs];
}

/** Whether an effect has to wait for what is done about the sandbox. */
export function waitsForSandbox(need: SandboxNeed | null, effect: Effect): boolean {
  if (need === "ready") return happensInside(effect) || effect.type === "end";
  return need === "save" && effect.type === "end";
}

export function withSandbox(head: Head, patch: Partial<HeadSandbox>): Head {
  return head.sandbox === undefined ? head : { ...head, sandbox: { ...head.sandbox, ...patch } };
}

/** What an event says of the sandbox besides its own. */
export function seenOfSandbox(event: SessionEvent, at: number): Partial<HeadSandbox> {
  switch (event.type) {
    case "call.settled":
      return event.payload.outcome.status === "denied" ? {} : { seenAt: at, isDirty: true };
    case "baseline.recorded":
    case "snapshot.recorded":
    case "check.completed":
      return { seenAt: at };
    case "turn.ended":
      // Whoever begins the next turn may be another process, a moment or a year later.
      return { isChecked: false };
    case "sampling.intended":
      return { untold: [] };
    default:
      return {};
  }
}
