import type { CallOutcome, CallPlan, Json, Scope } from "@holdfast/protocol";
import type { Owner } from "./log.ts";
import type { Confinement } from "./processes.ts";
import type { ToolSpec } from "./model.ts";

/** A proposal that can't be carried out as it stands; `text` tells the model why and what would work. */
export interface CallRefusal {
  readonly type: "refused";
  readonly text: string;
}

/** What a tool may know of the session when it plans or runs a call. */
export interface CallContext {
  readonly session: string;
  readonly callId: string;
  readonly cwd: string;
  readonly confinement: Confinement;
  /** Digest of a file as the model saw it last, by real path; null where it never did. */
  seenDigest(realPath: string): string | null;
  /** Tasks of this session that still run, and where their output is. */
  task(taskId: string): { readonly ref: string; readonly callId: string; readonly title: string } | null;
  /** Streams what the call shows while it runs. */
  readonly emit: (text: string) => void;
  /** Told of the process that the call's effect now hangs on: what the call holds passes to it, and outlives us with it. */
  readonly handOver: (owner: Owner) => Promise<void>;
}

/** A durable intent: exactly what runs, whatever happens to us. */
export interface CallIntent {
  readonly callId: string;
  readonly name: string;
  readonly plan: CallPlan;
  readonly attempt: number;
  readonly key: string;
  readonly scope: Scope;
  readonly prepared: Json;
}

/** Data the intent must keep for `run` and `probe`. `blobs` are referred to by the commit of the intent. */
export interface Prepared {
  readonly prepared: Json;
  readonly blobs: readonly string[];
}

export type ProbeFinding =
  | { readonly type: "happened"; readonly outcome: CallOutcome }
  | { readonly type: "not_happened" }
  /** Run it again under the next attempt: what was begun can be completed safely. */
  | { readonly type: "resume" }
  | { readonly type: "running" }
  | { readonly type: "unknown"; readonly look: string };

/** One tool. `plan` and `prepare` only read; `run` acts; `probe` finds out after an ending without an answer. */
export interface Tool {
  readonly spec: ToolSpec;
  /** What the call would do: its parsed input and the resources it touches. */
  plan(input: Json, context: CallContext): Promise<CallPlan | CallRefusal>;
  prepare?(plan: CallPlan, context: CallContext): Promise<Prepared | CallRefusal>;
  /**
   * When the signal aborts, the effect is ended; unless its reason is a `stale_driver` error: then the driver lets go, and
   * what runs goes on for the next one.
   * Never throws for what the model can cause: that is an outcome with status `failed`. Throws `claim_lost` for a lost claim.
   */
  run(intent: CallIntent, context: CallContext, signal: AbortSignal): Promise<CallOutcome>;
  /** Required for class `probe`. Revokes untaken claims up to the intent's attempt first. */
  probe?(intent: CallIntent, context: CallContext): Promise<ProbeFinding>;
  /**
   * For a call whose class knows no way to ask (`never`, or `keyed` after the key's lifetime): what the tool can find out at
   * its target about whether it happened. `running` and `resume` count as unknown.
   */
  reconcile?(intent: CallIntent, context: CallContext): Promise<ProbeFinding>;
  /** Goes on with a run that `probe` found running. */
  attach?(intent: CallIntent, context: CallContext, signal: AbortSignal): Promise<CallOutcome>;
}

export interface ToolHost {
  /** In the order the request shows them. */
  readonly specs: readonly ToolSpec[];
  get(name: string): Tool | null;
}
