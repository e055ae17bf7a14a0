import type { CallStatus, Json, ModelError, Usage } from "@holdfast/protocol";
import type { SamplingRequest } from "@holdfast/runtime";

/** `input` as a string is sent as it is, so that a script can also propose input that is no JSON. */
export interface ScriptCall {
  readonly name: string;
  readonly input: Json;
}

export interface ScriptFailure {
  readonly class: ModelError["class"];
  readonly message?: string;
  readonly status?: number;
  readonly code?: string;
  readonly retryAfterMs?: number;
}

/** What the scripted model answers to one request: reasoning, then text, then calls; all may be left out. */
export interface ScriptAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptCall[];
  /** Into how many pieces each text is streamed. Default 4. */
  readonly deltas?: number;
  /** Milliseconds before the answer begins. */
  readonly delayMs?: number;
  /** Fails after what the answer has streamed, as a connection that is cut does. */
  readonly fail?: ScriptFailure;
  /** Ends the answer as one that reached its longest length. */
  readonly isCutShort?: boolean;
  /** Default: estimated. */
  readonly usage?: Usage;
}

/** What must hold when a step is reached, judged on the newest tool result. Else the sampling fails with class `script`. */
export interface ScriptExpectation {
  readonly lastResultContains?: string;
  readonly lastStatus?: CallStatus;
}

export interface ScriptStep extends ScriptAnswer {
  readonly expect?: ScriptExpectation;
  /** How many times the step is taken. Default 1. */
  readonly repeat?: number;
}

/** A list of steps taken in order. */
export interface Script {
  /** What a person knows it by: its file. */
  readonly name: string;
  readonly steps: readonly ScriptStep[];
  /** Line of each step in its file. */
  readonly lines?: readonly number[];
}

/** `index`: how many answers of a model the request's items hold. */
export type ScriptFunction = (input: { readonly request: SamplingRequest; readonly index: number }) => ScriptAnswer | Promise<ScriptAnswer>;
