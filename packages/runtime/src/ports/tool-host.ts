import type { CallOutcome, CallPlan, Json, Scope, SessionEvent, Task, TrustLabel } from "@holdfast/protocol";
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
  /** The sessions it was forked from, the nearest first: what their commands put out is part of its history. */
  readonly ancestors: readonly string[];
  readonly callId: string;
  readonly cwd: string;
  readonly confinement: Confinement;
  /** The longest that its parts may take, ms. */
  readonly limits: { readonly commandMs: number; readonly mutatingCallMs: number };
  /** Digest of a file as the model saw it last, by real path; null where it never did. */
  seenDigest(realPath: string): string | null;
  /** Tasks of this session that still run, and where their output is. */
  task(taskId: string): Task | null;
  /** Blob that holds the whole of an earlier result, by the handle that the result named; null where there is none. */
  output(handle: string): string | null;
  /** What the session's log holds after an event: as committed, oldest first. 0: all of it. */
  history(after: number): Promise<readonly (SessionEvent & { readonly seq: number; readonly at: number })[]>;
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
  /** An attempt before this one had no answer: whatever becomes of this one, it can't be said that nothing was done. */
  readonly isUncertain?: boolean;
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

/** What a tool says of itself, absent where it says nothing. Hints: no one of them alone lets a call pass. */
export interface ToolHints {
  /** It changes nothing. */
  readonly reads?: boolean;
  /** It may overwrite or delete. */
  readonly destroys?: boolean;
  /** It reaches beyond its own store. */
  readonly reachesOut?: boolean;
}

/** One tool. `plan` and `prepare` only read; `run` acts; `probe` finds out after an ending without an answer. */
export interface Tool {
  readonly spec: ToolSpec;
  readonly hints?: ToolHints;
  /** Not shown in the request: the model finds it with `search_tools` and calls it by its name or through `use_tool`. */
  readonly isDeferred?: boolean;
  /** Of a deferred tool: its name stands in no request. What it is for is told where there is something to use it on. */
  readonly isUnnamed?: boolean;
  /**
   * Of a tool that passes calls on (`use_tool`, a command that is a patch): the call that is meant; null where it is this
   * tool's own. Everything from policy to audit sees the one that is meant. It may be passed on once more, in no circle.
   */
  unwrap?(input: Json): InnerCall | CallRefusal | null | Promise<InnerCall | CallRefusal | null>;
  /** What the call would do: its parsed input and the resources it touches. It may wait for its target; the signal ends that. */
  plan(input: Json, context: CallContext, signal?: AbortSignal): Promise<CallPlan | CallRefusal>;
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

export interface InnerCall {
  readonly name: string;
  readonly input: Json;
}

export interface ToolHost {
  /** In the order the request shows them, deferred ones left out. They never change while a session is driven. */
  readonly specs: readonly ToolSpec[];
  /** Any tool by name, deferred ones included. */
  get(name: string): Tool | null;
  /** Tools of sources that are called so there: `read_file` of a server beside the built-in one. It may wait for their start. */
  namesakes?(name: string, signal: AbortSignal): Promise<readonly Tool[]>;
}

/** Deferred tools that come and go while the program runs: those of MCP servers. */
export interface ToolSource {
  /** What its tools say of themselves counts as this. */
  readonly trust: TrustLabel;
  /** Begins to start what isn't running yet. Returns at once and never throws. */
  start(): void;
  /** Resolves once nothing is starting any more, after `maxMs`, or when the signal aborts. Never rejects. */
  settled(maxMs: number, signal: AbortSignal): Promise<void>;
  /** The tools known now. */
  readonly specs: readonly ToolSpec[];
  /** A tool of this source by its name, also where what offers it isn't running yet or has gone: then its plan says so. */
  get(name: string): Tool | null;
  /** What offers no tools now, and why, one line each, for the model. */
  absent(): readonly string[];
}
