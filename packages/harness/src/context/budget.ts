import type { ContextKind, ShedPart, WorldSection } from "@holdfast/protocol";
import { cutNote, leftOut } from "../text/v1.ts";
import { estimateTokens } from "./estimate.ts";

/** How much of a request one kind of part may be. */
export interface BudgetLine {
  /** Of the model's window. */
  readonly share: number;
  /** Tokens, however large the window is. */
  readonly cap: number;
  /** Where all parts before the conversation are too much together, the lowest goes first. Infinite: never, and it isn't cut for its cap either. */
  readonly priority: number;
}

/**
 * What each kind may take. What is observed of the world is held to it when it is observed (`fitWorld`); goal, notes, facts
 * and exact values when the conversation is shortened; results of tools when they come; the conversation itself by being
 * shortened. What says what is allowed and where the work is (`world`, `goal`) is never cut: its cap is shown, not held. Instructions and tools are fixed, and measured by the evaluation `context-cost`.
 */
export const budget: Readonly<Record<ContextKind, BudgetLine>> = {
  instructions: { share: 0.1, cap: 4_000, priority: Infinity },
  goal: { share: 0.1, cap: 16_000, priority: Infinity },
  world: { share: 0.05, cap: 4_000, priority: Infinity },
  rules: { share: 0.15, cap: 24_000, priority: 5 },
  notes: { share: 0.03, cap: 4_000, priority: 4 },
  facts: { share: 0.06, cap: 12_000, priority: 3 },
  skills: { share: 0.02, cap: 2_000, priority: 2 },
  documents: { share: 0.05, cap: 8_000, priority: 1 },
  values: { share: 0.02, cap: 2_000, priority: 4 },
  tools: { share: 0.1, cap: 12_000, priority: Infinity },
  attachments: { share: 0.1, cap: 20_000, priority: Infinity },
  history: { share: 0.75, cap: Infinity, priority: Infinity },
};

/** All that stands before the conversation, together: what is left has to hold the work. */
const headShare = 0.4;

/** Tokens that a kind may take in a window of so many; null where the window isn't known. */
export function lineCap(kind: ContextKind, window: number | null): number {
  const { share, cap } = budget[kind];
  return window === null ? cap : Math.min(cap, Math.floor(share * window));
}

export function kindOf(section: WorldSection): ContextKind {
  return section.context?.kind ?? (section.id.startsWith("instructions") ? "rules" : "world");
}

export interface FittedWorld {
  readonly sections: readonly WorldSection[];
  readonly shed: readonly ShedPart[];
}

/**
 * Holds what was seen of the world to its budget. Of one kind the last section counts most (project rules come from the top
 * folder down): it is kept whole while it fits, earlier ones are cut, and say so. Where all is too much together, whole kinds
 * go by their priority, and one more section names them.
 */
export function fitWorld(seen: readonly WorldSection[], window: number | null): FittedWorld {
  const shed: ShedPart[] = [];
  const kept = new Map<string, WorldSection>();
  for (const kind of new Set(seen.map(kindOf))) {
    let room = lineCap(kind, window);
    for (const section of seen.filter((one) => kindOf(one) === kind).toReversed()) {
      const tokens = estimateTokens(section.text);
      const fitted = tokens <= room || budget[kind].priority === Infinity ? section : cutTo(section, room);
      if (fitted !== section) shed.push({ kind, id: section.id, tokens: tokens - estimateTokens(fitted.text), why: "its kind's share" });
      kept.set(section.id, fitted);
      room -= Math.min(room, estimateTokens(fitted.text));
    }
  }
  const most = window === null ? Infinity : window * headShare;
  const gone: WorldSection[] = [];
  const total = (): number => [...kept.values()].reduce((sum, { text }) => sum + estimateTokens(text), 0);
  for (const kind of kindsByPriority) {
    if (total() <= most) break;
    for (const section of [...kept.values()].filter((one) => kindOf(one) === kind)) {
      kept.delete(section.id);
      gone.push(section);
      shed.push({ kind, id: section.id, tokens: estimateTokens(section.text), why: "the share of all that is told beforehand" });
    }
  }
  const sections = seen.flatMap(({ id }) => kept.get(id) ?? []);
  if (gone.length === 0) return { sections, shed };
  const context = { kind: "world", source: "the budget of the context", reason: "what was left out has to be known of" } as const;
  return { sections: [...sections, { id: "left-out", trust: "system", text: leftOut(gone.map(({ id }) => id)), context }], shed };
}

const kindsByPriority = (Object.entries(budget) as [ContextKind, BudgetLine][])
  .filter(([, { priority }]) => priority < Infinity)
  .sort(([, a], [, b]) => a.priority - b.priority)
  .map(([kind]) => kind);

/** The beginning of a section that fits into so many tokens, in whole lines where that leaves enough. */
function cutTo(section: WorldSection, tokens: number): WorldSection {
  let chars = section.text.length;
  while (chars > 0 && estimateTokens(section.text.slice(0, chars)) > tokens) chars = Math.floor(chars * 0.9);
  const start = section.text.slice(0, chars).toWellFormed();
  const lines = start.slice(0, start.lastIndexOf("\n") + 1);
  const text = lines.length > start.length / 2 ? lines.trimEnd() : start;
  return { ...section, text: `${text}\n${cutNote(text.length, section.text.length, section.context?.source ?? null)}` };
}
