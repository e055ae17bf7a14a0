import type { CompactedEntry, CompactedSection } from "@holdfast/protocol";
import { bothEnds } from "./words.ts";

/** Characters that a section may have; of what is over, the oldest goes. */
export const caps: Readonly<Partial<Record<CompactedSection, number>>> = {
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
/** Never scaled down for a small window. */
export const binding: ReadonlySet<CompactedSection> = new Set(["goal", "constraints", "approvals", "notes"]);

/** A user's message up to this length is kept before longer ones, as what it says may bind, whatever its words. */
export const shortMessage = 1_000;
export const shortMessages = 40_000;
/** The shortest that an approval becomes where there are very many. */
const shortestApproval = 80;

/** Begins an entry that gives way first: a sentence of a long text, a message that is not a person's own. */
export const lesser = "* ";

/** The entries of a section that stay, in their order. `share`: what of its cap a section may have that isn't binding. */
export function keep(section: CompactedSection, entries: readonly CompactedEntry[], share: number): readonly CompactedEntry[] {
  const cap = caps[section] ?? Infinity;
  switch (section) {
    case "constraints": {
      const own = latest(
        entries.filter(({ text }) => !text.startsWith(lesser)),
        cap,
      );
      const quoted = entries.filter(({ text }) => text.startsWith(lesser));
      return inOrder(entries, own, within(quoted, Math.max(0, cap - charsOf(own)) * share));
    }
    case "user": {
      const short = entries.filter(isShort);
      const long = entries.filter((entry) => !isShort(entry));
      return inOrder(entries, latest(short, shortMessages * share), latest(long, cap * share));
    }
    case "approvals":
      return shortened(entries, cap);
    default:
      return latest(entries, cap * (binding.has(section) ? 1 : share));
  }
}

/** A person's own message that is kept before longer ones. */
export function isShort({ text }: CompactedEntry): boolean {
  return !text.startsWith(lesser) && text.length <= shortMessage;
}

export function charsOf(entries: readonly CompactedEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.text.length, 0);
}

/** The newest that fit; the last one in any case. */
function latest(entries: readonly CompactedEntry[], cap: number): readonly CompactedEntry[] {
  const kept = within(entries, cap);
  return kept.length === 0 ? entries.slice(-1) : kept;
}

function within(entries: readonly CompactedEntry[], cap: number): readonly CompactedEntry[] {
  let [first, left] = [entries.length, cap];
  while (first > 0 && (left -= entries[first - 1]!.text.length) >= 0) first -= 1;
  return entries.slice(first);
}

function inOrder(entries: readonly CompactedEntry[], ...kept: readonly (readonly CompactedEntry[])[]): readonly CompactedEntry[] {
  const all = new Set(kept.flat());
  return entries.filter((entry) => all.has(entry));
}

/** Each of them: where they are too long together, the longest lose their middle. */
function shortened(entries: readonly CompactedEntry[], cap: number): readonly CompactedEntry[] {
  let most = Infinity;
  if (charsOf(entries) > cap) {
    const lengths = entries.map(({ text }) => text.length).toSorted((a, b) => a - b);
    let left = cap;
    // What the shorter ones don't take of their part, the longer ones may.
    for (const [at, length] of lengths.entries()) {
      most = left / (lengths.length - at);
      if (length > most) break;
      left -= length;
    }
    most = Math.max(shortestApproval, Math.floor(most));
  }
  return entries.map((entry) => (entry.text.length <= most ? entry : { ...entry, text: bothEnds(entry.text, most) }));
}
