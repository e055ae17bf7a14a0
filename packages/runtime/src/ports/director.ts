import type { CheckDefinition, Item, Settings, WorldSection } from "@holdfast/protocol";
import type { ToolSpec } from "./model.ts";

export interface DirectedRequest {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly items: readonly Item[];
}

/** What the runtime asks of the harness. Pure: whatever it may use was observed and recorded first. */
export interface Director {
  /** The version of all model-visible words; pinned per session. */
  readonly behaviour: number;
  /** What the model is told of the session's own rules; recorded with the world, so that a change is told as one. */
  describe(input: { readonly settings: Settings; readonly checks: readonly CheckDefinition[] }): WorldSection[];
  direct(input: {
    readonly world: readonly WorldSection[];
    readonly tools: readonly ToolSpec[];
    /** Append-only within a window: the same array grows, its items keep their identity. */
    readonly items: readonly Item[];
  }): DirectedRequest;
}
