import type { CompactedEntry, CompactedSection, CompactionReport } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { afterCompaction, sectionHeadings, whereToLook } from "../text/v1.ts";
import { binding, caps, charsOf, isShort, keep, shortMessages } from "./keep.ts";
import { judgementEntries } from "./judgement.ts";
import { readLog } from "./read-log.ts";
import { reportOf } from "./report.ts";

/** What a fresh window has by rule, and nothing beside it. */
const fresh: ReadonlySet<CompactedSection> = new Set([...binding, "user", "openTasks", "world", "currentState", "nextAction", "history"]);
/** What the other sections have together at most, and what each keeps of its own in the smallest window. */
const usualRoom = Object.entries(caps).reduce((sum, [section, cap]) => sum + (binding.has(section as CompactedSection) ? 0 : cap), 0);
const smallestShare = 0.1;

/**
 * The state of a session, derived from its log: nothing of it comes from a model but what is marked as its judgement. What was
 * told before is carried on, and replaced where the log has news.
 */
export function deriveState(input: CompactionInput): { readonly entries: readonly CompactedEntry[]; readonly report: CompactionReport } {
  const told = readLog(input);
  const share = shareOf(input.room, told);
  const sections = new Map<CompactedSection, CompactedEntry[]>();
  const dropped: CompactionReport["dropped"] = [];
  for (const [section, entries] of told) {
    if (input.strategy === "fresh" && !fresh.has(section)) {
      if (entries.length > 0)
        dropped.push({
          what: `entries of ${section}, as windows begin fresh`,
          count: entries.length,
          chars: charsOf(entries),
          back: backOf(section),
        });
      continue;
    }
    const kept = keep(section, entries, share);
    sections.set(section, [...kept]);
    const gone = entries.length - kept.length;
    if (gone > 0)
      dropped.push({ what: `older entries of ${section}`, count: gone, chars: charsOf(entries) - charsOf(kept), back: backOf(section) });
  }
  const { judged, flags } = judgementEntries(input, [...sections.values()].flat());
  for (const entry of judged) sections.set(entry.section, [...(sections.get(entry.section) ?? []), entry]);
  const [first, last] = [input.events[0]?.seq, input.events.at(-1)?.seq];
  const where = first === undefined || last === undefined ? [] : [whereToLook(first, last)];
  const entries: CompactedEntry[] = [afterCompaction, ...where].map((text) => ({ section: "history", text, from: [] }));
  for (const [section, heading] of Object.entries(sectionHeadings) as [CompactedSection, string][]) {
    const own = sections.get(section) ?? [];
    if (own.length > 0) entries.push({ section, text: `\n${heading}`, from: [] }, ...own.map(withinItsPlace));
  }
  return { entries, report: reportOf(input, entries, sections, dropped, flags) };
}

const lineEnd = String.raw`[\n\r\v\f\u0085\u2028\u2029]`;
const nextLine = new RegExp(String.raw`(\r\n|${lineEnd})(?! {2}|${lineEnd})`, "g");
const likeHeading = new RegExp(String.raw`^(?![-*] )\S.*:\s*(?:${lineEnd}|$)`);

/** Only a heading stands as one at a line's beginning: nothing that somebody wrote can look like it. */
function withinItsPlace(entry: CompactedEntry): CompactedEntry {
  const text = entry.text.replaceAll(nextLine, "$1  ");
  return { ...entry, text: likeHeading.test(text) ? `  ${text}` : text };
}

/** What of their caps the sections may have, so that all of them together fit. */
function shareOf(room: number | null, told: ReadonlyMap<CompactedSection, readonly CompactedEntry[]>): number {
  if (room === null) return 1;
  const taken = [...binding].reduce((sum, section) => sum + Math.min(caps[section] ?? Infinity, charsOf(told.get(section) ?? [])), 0);
  const short = Math.min(shortMessages, charsOf((told.get("user") ?? []).filter(isShort)));
  return Math.min(1, Math.max(smallestShare, (room - taken - afterCompaction.length) / (usualRoom + short)));
}

function backOf(section: CompactedSection): string {
  return section === "exactValues"
    ? "lookup, by words about them"
    : "history_search, by words; holdfast sessions show SESSION --items: the log has them all";
}
