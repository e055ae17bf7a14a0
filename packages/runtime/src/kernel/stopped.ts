import type { Stopping } from "./state.ts";
import { longestReason } from "./state.ts";

/** What the head holds of why a turn stops: its words are cut, the event has them whole. */
export function brief({ outcome, reason, error }: Stopping): Stopping {
  // A character has up to six in JSON.
  const cut = (text: string): string =>
    JSON.stringify(text).length <= longestReason ? text : `${text.slice(0, Math.floor(longestReason / 6))}…`;
  return { outcome, reason: cut(reason), error: error && { ...error, message: cut(error.message) } };
}
