import type { CompactedEntry, CompactedSection, CompactionReport } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { afterCompaction, sectionHeadings, whereToLook } from "../text/v1.ts";
import { judgementEntries } from "./judgement.ts";
import { readLog } from "./read-log.ts";
import { reportOf } from "./report.ts";

/**
 * Characters that a section may have; of what is over, the oldest goes. What binds has no such cap short of the absurd: it is
 * never scaled down for a small window.
 */
const caps: Readonly<Partial<Record<CompactedSection, number>>> = {
  constraints: 40_000,
  approvals: 20_000,
  user: 16_000,
  completed: 3_000,
  failures: 3_000,
  artifacts: 6_000,
  checks: 2_000,
  notes: 12_000,
  decisions: 3_000,
  openTasks: 4_000,
  world: 6_000,
  exactValues: 4_000,
};
const binding: ReadonlySet<CompactedSection> = new Set(["goal", "constraints", "approvals", "notes"]);
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
    const cap = (caps[section] ?? Infinity) * (binding.has(section) ? 1 : share);
    const kept: CompactedEntry[] = [];
    let left = cap;
    for (const entry of entries.toReversed()) {
      left -= entry.text.length;
      if (left < 0 && kept.length > 0) break;
      kept.unshift(entry);
    }
    sections.set(section, kept);
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
    if (own.length > 0) entries.push({ section, text: `\n${heading}`, from: [] }, ...own);
  }
  return { entries, report: reportOf(input, entries, sections, dropped, flags) };
}

/** What of their caps the sections may have, so that all of them together fit. */
function shareOf(room: number | null, told: ReadonlyMap<CompactedSection, readonly CompactedEntry[]>): number {
  if (room === null) return 1;
  const taken = [...binding].reduce((sum, section) => sum + charsOf(told.get(section) ?? []), 0);
  return Math.min(1, Math.max(smallestShare, (room - taken - afterCompaction.length) / usualRoom));
}

function backOf(section: CompactedSection): string {
  return section === "exactValues"
    ? "lookup, by words about them"
    : "history_search, by words; holdfast sessions show SESSION --items: the log has them all";
}

function charsOf(entries: readonly CompactedEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.text.length, 0);
}
