import type { Item, ModelError, ModelItem, SentBody, ToolSpec, Usage, Json } from "@holdfast/protocol";

export type { ToolSpec } from "@holdfast/protocol";

export interface SamplingRequest {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  /** The window, oldest first. The same objects come again at the next step, so an encoding can be kept by identity. */
  readonly items: readonly Item[];
  /** Answers that the model gave before this window, where there was one before. */
  readonly answersBefore?: number;
  readonly cacheKey: string;
  readonly effort: string | null;
  readonly maxOutputTokens: number | null;
  /**
   * The JSON Schema that the turn's final answer must be valid under; calls stay free. A model that can be held to it is,
   * another is told by the instructions. `isRepair`: the last answer was not valid, and this one is only its correction.
   */
  readonly output?: { readonly schema: Json; readonly isRepair: boolean };
  image(blob: string): Promise<Uint8Array | null>;
}

/** A finished piece of the answer without ids; the runtime gives it its own. */
export type ProposedItem = ModelItem extends infer T ? (T extends unknown ? Omit<T, "id" | "callId"> : never) : never;

export type StreamPart =
  /** The first byte of the answer arrived. `sent`: the digest of the request's body, from models that have one. */
  | { readonly type: "started"; readonly sent?: SentBody }
  /** `index` tells the answer's items apart. */
  | { readonly type: "text.delta" | "reasoning.delta" | "call.delta"; readonly index: number; readonly text: string }
  /** In the answer's order, which needn't be that of their deltas. */
  | { readonly type: "item"; readonly index: number; readonly item: ProposedItem }
  /** Always last in a sampling that ended properly. */
  | { readonly type: "finished"; readonly finish: "stop" | "calls" | "length"; readonly usage: Usage; readonly cost: number | null }
  /** Always last in one that did not. */
  | { readonly type: "failed"; readonly error: ModelError };

/**
 * A model. `sample` never throws: a failure is its last part. When the signal aborts, the stream just ends.
 * It makes one attempt; waiting and trying again is the runtime's, where it can be seen and interrupted.
 */
export interface Model {
  /** `provider/name`. */
  readonly id: string;
  /** Tokens that fit into one request, where known. */
  readonly contextWindow: number | null;
  /** True where the window is a safe guess, which the model's own may well pass. */
  readonly assumesWindow?: boolean;
  /** True where its answers are written down in an order: nothing but the session's own steps may ask it. */
  readonly isPlayed?: boolean;
  /** Most tokens of one answer, where known. */
  readonly maxOutput?: number | null;
  /** US dollars of a sampling that uses so much; none where the price isn't known. Grows with each count. */
  readonly cost?: ((usage: Usage) => number) | null;
  sample(request: SamplingRequest, signal: AbortSignal): AsyncIterable<StreamPart>;
}
