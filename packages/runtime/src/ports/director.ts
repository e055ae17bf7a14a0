import type {
  CheckDefinition,
  CompactedEntry,
  CompactionReport,
  Item,
  PlanStep,
  SessionEvent,
  Settings,
  Task,
  WorldSection,
} from "@holdfast/protocol";
import type { ToolSpec } from "./model.ts";

export interface DirectedRequest {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly items: readonly Item[];
}

export interface CompactionInput {
  readonly previous: readonly CompactedEntry[];
  readonly events: readonly (SessionEvent & { readonly seq: number; readonly at: number })[];
  readonly plan: readonly PlanStep[];
  /** Sections of the world that are not as the first request shows them. */
  readonly world: readonly WorldSection[];
  readonly tasks: readonly Task[];
  readonly before: CompactionReport["before"];
  readonly judgement: string | null;
}

/** What the runtime asks of the harness. Pure: whatever it may use was observed and recorded first. */
export interface Director {
  /** The version of all model-visible words; pinned per session. */
  readonly behaviour: number;
  /** What the model is told of the session's own rules; recorded with the world, so that a change is told as one. */
  describe(input: { readonly settings: Settings; readonly checks: readonly CheckDefinition[] }): WorldSection[];
  /**
   * The state of a session for a new window, from what the log says since the window began and what was told of the state then.
   * `judgement`: what a model made of it, in whatever form; it is held against the log, and nothing is lost without it.
   */
  compact(input: CompactionInput): Promise<{ readonly entries: readonly CompactedEntry[]; readonly report: CompactionReport }>;
  direct(input: {
    readonly world: readonly WorldSection[];
    readonly tools: readonly ToolSpec[];
    /** Append-only within a window: the same array grows, its items keep their identity. */
    readonly items: readonly Item[];
  }): DirectedRequest;
}
