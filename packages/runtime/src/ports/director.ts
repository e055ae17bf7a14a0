import type { Item, WorldSection } from "@holdfast/protocol";
import type { ToolSpec } from "./model.ts";

/** One part of a request with its reason, so that every token in it can be accounted for. */
export interface ContextPart {
  readonly id: string;
  readonly reason: string;
  readonly bytes: number;
}

export interface DirectedRequest {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly items: readonly Item[];
  readonly parts: readonly ContextPart[];
}

/** What the runtime asks of the harness. Pure: whatever it may use was observed and recorded first. */
export interface Director {
  /** The version of all model-visible words; pinned per session. */
  readonly behaviour: number;
  direct(input: {
    readonly world: readonly WorldSection[];
    readonly tools: readonly ToolSpec[];
    /** Append-only within a window: the same array grows, its items keep their identity. */
    readonly items: readonly Item[];
  }): DirectedRequest;
}
