import type { SessionEvent } from "@holdfast/protocol";
import { showHidden } from "../hidden.ts";
import type { Recall, Recalled, RecallEvent } from "../ports/index.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";

/** How long a search may take: the turn goes on without it. */
const longestMs = 30_000;

/**
 * What documents have to say to an event, a notice for each piece with its reason. In a project without trust it is information
 * of nobody's. Whatever goes wrong, the turn goes on: also where a search heeds neither its time nor an interrupt.
 */
export async function recallAt(driver: Driver, event: RecallEvent, signal: AbortSignal): Promise<SessionEvent[]> {
  const { recall, secrets } = driver.ports;
  const pieces = recall === undefined ? [] : await within(AbortSignal.any([signal, AbortSignal.timeout(longestMs)]), recall, event);
  const { isTrusted } = settingsOf(driver);
  return pieces.map(({ text, trust, context }): SessionEvent => {
    const clean = redact(text, secrets.values());
    const said = isTrusted ? { trust, text: clean } : { trust: "untrusted" as const, text: showHidden(clean) };
    return { type: "notice.added", payload: { notice: { kind: "notice", id: newId(driver)("itm"), ...said, context } } };
  });
}

async function within(signal: AbortSignal, recall: Recall, event: RecallEvent): Promise<readonly Recalled[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Recalled[]>();
  const giveUp = (): void => resolve([]);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  else recall.on(event, signal).then(resolve, giveUp);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
