import type { ContextReason, TrustLabel } from "@holdfast/protocol";

/** What happened in a turn that documents may have something to say to. `text`: what the model is told of it. */
export interface RecallEvent {
  readonly type: "check_failed";
  readonly text: string;
}

/** Words for the model, where they come from, and why they are there. */
export interface Recalled {
  readonly text: string;
  readonly trust: TrustLabel;
  readonly context: ContextReason;
}

/** Brings what is known elsewhere into a session by rule: at events, never before a sampling as such. */
export interface Recall {
  /** Null where nothing fits, or the rule doesn't ask for it. Never throws. */
  on(event: RecallEvent, signal: AbortSignal): Promise<Recalled | null>;
}
