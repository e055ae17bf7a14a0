import type {
  CheckDefinition,
  CompactedEntry,
  CompactionReport,
  CompactionStrategy,
  ContextReason,
  Item,
  Json,
  PlanStep,
  SessionEvent,
  Settings,
  ShedPart,
  Task,
  TrustLabel,
  WorldSection,
} from "@holdfast/protocol";
import type { WorldChange } from "../kernel/world.ts";
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
  /** Sections that the first request shows and that are there no more, by id. */
  readonly gone?: readonly string[];
  readonly tasks: readonly Task[];
  readonly before: CompactionReport["before"];
  /** Items that stay in the window as they are, or shortened: what the model has not answered yet. */
  readonly stays?: ReadonlySet<string>;
  /** Characters that the state should have at most; what binds is kept whatever it takes. Null: no less than usual. */
  readonly room: number | null;
  readonly judgement: string | null;
  /** Absent: `state`. */
  readonly strategy?: CompactionStrategy;
}

/** What a model is asked for its judgement of a session. */
export interface JudgementRequest {
  readonly instructions: string;
  /** The record of the session, shortened; no images. */
  readonly text: string;
  readonly schema: Json;
}

/** What holds for a moment only: told when a session is gone on with, and after its conversation was shortened. */
export interface PassingState {
  /** Of each limit what is used, in words. */
  readonly used: readonly string[];
  readonly plan: readonly PlanStep[];
  readonly tasks: readonly Task[];
}

/** Words about the world at a boundary between steps, of one label. */
export interface ToldWorld {
  readonly trust: TrustLabel;
  readonly text: string;
  readonly context: ContextReason;
}

/** What the runtime asks of the harness. Pure: whatever it may use was observed and recorded first. */
export interface Director {
  /** The version of all model-visible words; pinned per session. */
  readonly behaviour: number;
  /** What the model is told of the session's own rules; recorded with the world, so that a change is told as one. */
  describe(input: { readonly settings: Settings; readonly checks: readonly CheckDefinition[] }): WorldSection[];
  describePassing(state: PassingState): WorldSection[];
  /** Holds what was seen of the world to the budget of a request. `window`: of the model, tokens; null where it isn't known. */
  fit(
    sections: readonly WorldSection[],
    window: number | null,
  ): { readonly sections: readonly WorldSection[]; readonly shed: readonly ShedPart[] };
  /** What the model is told of changes, one text a label; `whole`: of all that is, once, as it goes on after a pause. */
  tell(changes: readonly WorldChange[], whole: boolean): Promise<readonly ToldWorld[]>;
  /**
   * The state of a session for a new window, from what the log says since the window began and what was told of the state then.
   * `judgement`: what a model made of it, in whatever form; it is held against the log, and nothing is lost without it.
   */
  compact(input: CompactionInput): Promise<{ readonly entries: readonly CompactedEntry[]; readonly report: CompactionReport }>;
  /**
   * How a model is asked for what only it can say of the window that ends: at most `room` characters, so that it fits whatever
   * the window holds. Where it is missing, none is asked.
   */
  askJudgement?(
    input: CompactionInput & { readonly entries: readonly CompactedEntry[]; readonly requestRoom: number },
  ): Promise<JudgementRequest>;
  direct(input: {
    readonly world: readonly WorldSection[];
    readonly tools: readonly ToolSpec[];
    /** Append-only within a window: the same array grows, its items keep their identity. */
    readonly items: readonly Item[];
  }): DirectedRequest;
}
