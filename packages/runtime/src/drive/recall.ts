import type { SessionEvent } from "@holdfast/protocol";
import { showHidden } from "../hidden.ts";
import type { RecallEvent } from "../ports/index.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";

/** How long a search may take: the turn goes on without it. */
const longestMs = 30_000;

/**
 * What documents have to say to an event, as a notice with its reason. In a project without trust it is information of nobody's.
 * Whatever goes wrong, the turn goes on.
 */
export async function recallAt(driver: Driver, event: RecallEvent): Promise<SessionEvent[]> {
  const { recall, secrets } = driver.ports;
  const found = (await recall?.on(event, AbortSignal.timeout(longestMs)).catch(() => null)) ?? null;
  if (found === null) return [];
  const isTrusted = settingsOf(driver).isTrusted;
  const clean = redact(found.text, secrets.values());
  const notice = {
    kind: "notice" as const,
    id: newId(driver)("itm"),
    trust: isTrusted ? found.trust : ("untrusted" as const),
    text: isTrusted ? clean : showHidden(clean),
    context: found.context,
  };
  return [{ type: "notice.added", payload: { notice } }];
}
