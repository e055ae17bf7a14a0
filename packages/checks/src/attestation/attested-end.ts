import type { CheckDefinition, EventPayload, Evidence, Report, Root, Settings } from "@holdfast/protocol";
import type { Baseline, RecordedEvent } from "@holdfast/runtime";
import { storedInputs } from "../baseline.ts";
import { outputsOf } from "../own-report.ts";

/** All that the log says about the end of one verified turn. */
export interface AttestedEnd {
  readonly turn: number;
  readonly turnId: string;
  readonly endedAt: number;
  readonly report: Report;
  readonly policy: string | null;
  readonly tip: EventPayload<"tip.signed">;
  readonly settings: Settings;
  readonly roots: readonly Root[];
  readonly cwd: string | null;
  readonly checks: readonly CheckDefinition[];
  /** The last of the turn, for each check. */
  readonly evidence: readonly Evidence[];
  readonly baseline: readonly Evidence[];
  /** The scope in which the workspace was digested; null where none was recorded. */
  readonly scope: Pick<Baseline, "manifest" | "inputs"> | null;
  /** What no check's digest of the workspace covers: globs. */
  readonly outputs: readonly string[];
}

/** Why a turn can't be attested. */
export type Unattestable = { readonly why: "no_turn" | "open" | "not_verified" | "unsigned" | "no_subject"; readonly outcome?: string };

/** Pure: the turn of this number (the last one that has ended where null), if it ended `verified`. */
export function attestedEnd(events: readonly RecordedEvent[], wanted: number | null): AttestedEnd | Unattestable {
  let settings: Settings | null = null;
  let about: { readonly roots: readonly Root[]; readonly cwd: string | null } = { roots: [], cwd: null };
  const checks = new Map<string, CheckDefinition>();
  let baseline: EventPayload<"baseline.recorded"> | null = null;
  let evidence = new Map<string, Evidence>();
  let turn = 0;
  let found: AttestedEnd | Unattestable = { why: "no_turn" };
  for (const [index, event] of events.entries()) {
    switch (event.type) {
      case "session.created":
        about = event.payload;
        settings = event.payload.settings;
        break;
      case "session.changed":
        settings = event.payload.settings;
        break;
      case "checks.accepted":
        for (const check of event.payload.checks) checks.set(check.id, check);
        break;
      case "turn.started":
        turn += 1;
        evidence = new Map();
        if (turn === wanted) found = { why: "open" };
        break;
      case "baseline.recorded":
        baseline = event.payload;
        break;
      case "check.completed":
        evidence.set(event.payload.evidence.checkId, event.payload.evidence);
        break;
      case "turn.ended": {
        if (settings === null || (wanted !== null && turn !== wanted)) break;
        const { turnId, outcome, report, policy = null } = event.payload;
        const tip = events[index + 1];
        if (outcome !== "verified") found = { why: "not_verified", outcome };
        else if (tip?.type !== "tip.signed") found = { why: "unsigned" };
        else if (report.subject === null) found = { why: "no_subject" };
        else {
          found = {
            ...about,
            ...{ turn, turnId, endedAt: event.at, report, policy, settings, tip: tip.payload },
            checks: [...checks.values()].filter(({ constraint }) => constraint?.turn === undefined || constraint.turn === turn),
            evidence: [...evidence.values()],
            baseline: baseline?.evidence ?? [],
            scope: baseline,
            outputs: leftOut(baseline, [...checks.values()], about),
          };
        }
      }
    }
  }
  return found;
}

/** As the runtime's own digest leaves them out. */
function leftOut(
  baseline: EventPayload<"baseline.recorded"> | null,
  checks: readonly CheckDefinition[],
  { roots, cwd }: { readonly roots: readonly Root[]; readonly cwd: string | null },
): string[] {
  const own = checks.flatMap((check) => outputsOf(check, { roots, cwd: cwd ?? roots[0]?.path ?? "" }));
  return [...new Set([...storedInputs(baseline?.inputs ?? null).outputs, ...own])].sort();
}
