import type { TrustLabel, WorldSection } from "@holdfast/protocol";
import type { ToldWorld, WorldChange } from "@holdfast/runtime";
import { lineChanges, splitLines } from "@holdfast/runtime/lines";
import { asAtStart, changedIn, isGone, worldHeadings } from "../text/v1.ts";
import { showSection } from "./head.ts";

/** A section that the head of the request shows as it is now is only named, where it is longer. */
const shortEnough = 400;

/** The order of authority: words of one label never stand in a notice with those of a higher one. */
const labels: readonly TrustLabel[] = ["system", "user", "project", "tool", "untrusted"];

/**
 * What the model is told of the world at a boundary between steps, one text for each label. `whole`: it goes on after a pause,
 * and is told everything once; else only what changed, as a difference where that is shorter.
 */
export function tellWorld(changes: readonly WorldChange[], whole: boolean): readonly ToldWorld[] {
  return labels.flatMap((trust): ToldWorld[] => {
    const own = changes.filter((change) => labelOf(change) === trust);
    const pieces = own.flatMap((change) => tell(change, whole) ?? []);
    if (pieces.length === 0) return [];
    const text = [worldHeadings[whole ? "whole" : "changes"], ...pieces].join("\n");
    const reason = whole ? "the session goes on after a pause: told in full once" : "it is not as it was told before";
    return [{ trust, text, context: { kind: "world", source: own.map(({ id }) => id).join(", "), reason } }];
  });
}

/** What is gone, or only named, is said by the runtime itself: the names of sections are its own. */
function labelOf({ now, isAtStart }: WorldChange): TrustLabel {
  return now === null || isNamed(now, isAtStart) ? "system" : now.trust;
}

function isNamed({ trust, text }: WorldSection, isAtStart: boolean): boolean {
  return isAtStart && (text.length > shortEnough || trust === "project" || trust === "untrusted");
}

function tell({ id, before, now, isAtStart }: WorldChange, whole: boolean): string | null {
  if (now === null) return isGone(id);
  if (whole) return isNamed(now, isAtStart) ? asAtStart(id) : showSection(now);
  if (before === null) return showSection(now);
  if (before.text === now.text) return null;
  const difference = lineDifference(before.text, now.text);
  return difference.length < now.text.length
    ? `${changedIn(id)}\n${showSection({ trust: now.trust, text: difference })}`
    : showSection(now);
}

/** The lines that went, and the lines that came. */
export function lineDifference(before: string, after: string): string {
  const [old, next] = [splitLines(before), splitLines(after)];
  const signed = (sign: string, lines: readonly string[]): string[] => lines.map((line) => `${sign} ${line.replace(/\n$/, "")}`);
  return lineChanges(old, next)
    .flatMap(({ oldStart, oldEnd, newStart, newEnd }) => [
      ...signed("-", old.slice(oldStart, oldEnd)),
      ...signed("+", next.slice(newStart, newEnd)),
    ])
    .join("\n");
}
