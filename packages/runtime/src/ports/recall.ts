import type { ContextReason, TrustLabel } from "@holdfast/protocol";

/** What happened in a turn that documents may have something to say to. `text`: what the model is told of it. */
export interface RecallEvent {
  readonly type: "check_failed";
  readonly text: string;
}

/** A piece of text for the model, where it comes from, and why it is there. */
export interface Recalled {
  readonly text: string;
  readonly trust: TrustLabel;
  readonly context: ContextReason;
}

/** Brings what is known elsewhere into a session by rule: at events, never before a sampling as such. */
export interface Recall {
  /** Each piece by itself; none where nothing fits, or the rule doesn't ask for it. */
  on(event: RecallEvent, signal: AbortSignal): Promise<readonly Recalled[]>;
}
