import type {
  Approval,
  CallPlan,
  CheckDefinition,
  CompactionTrigger,
  Evidence,
  Grant,
  InspectedPart,
  Json,
  PlanStep,
  Question,
  RecordedRun,
  ReplayClass,
  Root,
  RuleRef,
  Scope,
  Settings,
  Task,
  Usage,
  WorldSection,
} from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import type { Ladder } from "./ladder.ts";
import type { Repeats } from "./repeats.ts";

/** A call of the latest sampling that has no settlement yet. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** `waiting` for an approval or the answer to a question; `ready` to run once nothing it conflicts with is open before it; `intended`: its intent is durable. */
  readonly state: "waiting" | "ready" | "intended";
  readonly attempt: number;
  /** True once an attempt ended without an answer and the target is asked again: it may have happened. */
  readonly isUncertain: boolean;
}

export interface Sampling {
  readonly id: string;
  readonly attempt: number;
  /** Set after a failure: when the next attempt starts. */
  readonly retryAt: number | null;
  readonly firstFailureAt: number | null;
}

export interface Stopping {
  readonly outcome: "failed" | "blocked" | "interrupted" | "exhausted";
  readonly reason: string;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Turn {
  readonly id: string;
  readonly startedAt: number;
  readonly step: number;
  readonly calls: number;
  readonly activeMs: number;
  /** When the last event came: what lies between two events of a turn that isn't waiting was active time. */
  readonly lastAt: number;
  readonly sampling: Sampling | null;
  readonly open: readonly OpenCall[];
  /** True once the model answered without a call: it says it is done. */
  readonly saysDone: boolean;
  /** True once the answer was cut at the model's output limit. */
  readonly wasCut: boolean;
  /** Answers in a row that held nothing to read and no call. */
  readonly empty: number;
  readonly round: number;
  /** How often a hook has refused that the turn is done. */
  readonly refusals?: number;
  readonly checking: {
    readonly round: number;
    readonly attempt: number;
    readonly done: readonly string[];
    readonly isReopened: boolean;
  } | null;
  readonly judged: { readonly round: number; readonly verdict: "pass" | "weak" | "fail" | "none" } | null;
  /** The answer of this step as held to the schema; `repairs` counts the answers in a row that were not valid. */
  readonly output?: { readonly step: number; readonly isValid: boolean; readonly repairs: number };
  /** The plan that this step's answer is, and whether its question is still open. */
  readonly proposed?: { readonly step: number; readonly questionId: string; readonly isOpen: boolean };
  readonly isInterrupted: boolean;
  readonly stopping: Stopping | null;
  /** True once an effect that can change the workspace was intended: then its end is compared with its start. */
  readonly isEffectful: boolean;
  readonly hasSnapshot: boolean;
  /** Missing in a turn that an earlier version began. */
  readonly repeats?: Repeats;
  /** Missing until a call counts. */
  readonly ladder?: Ladder;
  /** Limits of which the turn was told that little is left. */
  readonly warned?: readonly string[];
}

/** The sandbox as a session's head knows it. */
export interface HeadSandbox {
  readonly id: string;
  readonly expiresAt: number | null;
  /** When something was last seen of it. */
  readonly seenAt: number;
  /** False after a pause, and once it is lost: then it is looked at before anything happens in it. */
  readonly isChecked: boolean;
  /** Its end can't be moved away any more. */
  readonly isExpiring: boolean;
  /** Something happened in it that isn't saved. */
  readonly isDirty: boolean;
  readonly snapshot: string | null;
  /** What changed when it was made again, until the model is told. */
  readonly untold?: readonly string[];
  /** Digest of the workspace as it was saved. */
  readonly subject: string | null;
}

/** A session's control state: small, overwritten at each commit. */
export interface Head {
  readonly version: 1;
  readonly seq: number;
  readonly hash: string;
  readonly behaviour: number;
  readonly windowStart: number;
  /** Characters of all items in the window: the estimate of a request's size. */
  readonly windowChars: number;
  /** The input tokens of the last request as the provider counted them, and `windowChars` as it was then. */
  readonly measured?: { readonly tokens: number; readonly chars: number };
  /** Set while the conversation is to be shortened, as soon as nothing is in flight. */
  readonly compacting?: { readonly trigger: CompactionTrigger };
  /** `windowChars` when that failed last. */
  readonly compactFailedAt?: number;
  /** Answers of the model before this window. */
  readonly answersBefore?: number;
  /** Answers of the model in this window, where a session counts them. */
  readonly windowSteps?: number;
  readonly usage: Usage;
  readonly cost: number | null;
  /** Set once a request's cost could not be told: `cost` is then only a part of what was spent. */
  readonly hasUnknownCost?: true;
  readonly baseline: { readonly attempt: number; readonly isRecorded: boolean };
  readonly turn: Turn | null;
  readonly turns: number;
  /** Where commands run, where that has a life of its own. */
  readonly sandbox?: HeadSandbox;
}

/** The largest head a commit accepts, in UTF-16 units of its JSON text. */
export const headBound = 32_000;

/** Calls of one answer that can be open at once: each has a place in the head. */
export const mostOpen = 100;

/** Longest reason for stopping that the head holds, in UTF-16 units of its JSON text; the event has the whole. */
export const longestReason = 4_000;

export const emptyHead: Head = {
  version: 1,
  seq: 0,
  hash: "",
  behaviour: 1,
  windowStart: 1,
  windowChars: 0,
  usage: noUsage,
  cost: null,
  baseline: { attempt: 0, isRecorded: false },
  turn: null,
  turns: 0,
};

/** What is known of an open call beyond its place in the head. Deleted when it is settled. */
export interface CallRegister {
  readonly name: string;
  readonly plan: CallPlan;
  readonly inputDigest: string;
  readonly rule: RuleRef;
  readonly reason: string;
  readonly scope: Scope;
  readonly approvalId: string | null;
  /** Words that its result brings along. */
  readonly note?: string;
  readonly questionId?: string;
  readonly intent: { readonly replay: ReplayClass; readonly key: string; readonly prepared: Json; readonly at: number } | null;
}

/** The values of each kind of register. Singletons have the key "". */
export interface RegisterKinds {
  readonly session: {
    readonly roots: readonly Root[];
    readonly cwd: string | null;
    readonly title: string;
    /** The sessions it was forked from, the nearest first: their commands' records are under their names. */
    readonly ancestors?: readonly string[];
  };
  readonly settings: Settings;
  /** Sections as the first request shows them, and as they were seen last. */
  readonly world: WorldSection;
  readonly worldNow: WorldSection;
  readonly check: CheckDefinition;
  readonly call: CallRegister;
  readonly approval: { readonly approval: Approval; readonly status: "open" | "allowed" | "denied" | "expired" };
  /** Rules that a person allowed with the answer to an approval, by that approval. */
  readonly grant: Grant & { readonly callId: string };
  readonly question: { readonly question: Question; readonly status: "open" | "answered" | "expired" };
  /** The model's plan, and the call that set it. */
  readonly plan: { readonly callId: string; readonly steps: readonly PlanStep[] };
  /** Calls in doubt, by tool and what makes a call the same; by the digest of its input in logs of earlier versions. */
  readonly doubt: { readonly callId: string };
  /** Calls that were refused in the open turn. */
  readonly denied: { readonly name: string };
  /** Content digest of a file as the model saw it last, by real path. */
  readonly seen: { readonly digest: string };
  readonly task: Task;
  /** Parts of changes that a call showed to the model, by call. */
  readonly inspected: readonly InspectedPart[];
  /** Where the whole of a result is of which the model saw a part, by its handle. */
  readonly output: { readonly callId: string; readonly blob: string };
  /** Digest of the tools of the last recorded request: they are written down when they change. */
  readonly tools: { readonly digest: string };
  /** Commands of this session that installed dependencies or built, oldest first. */
  readonly runs: readonly RecordedRun[];
  readonly baseline: {
    readonly subject: string;
    readonly manifest: string | null;
    readonly evidence: readonly Evidence[];
    readonly inputs: Json;
    /** The event whose tree it has, where that was recorded before it. */
    readonly tree?: number;
  };
  /** Evidence of the open round, by check. */
  readonly evidence: Evidence;
  /** The workspace when the open turn's first effect began. */
  readonly snapshot: { readonly subject: string; readonly manifest: string | null };
  readonly report: Json;
  /** Erasures that the store has still to carry out, by item. */
  readonly erasing: {
    readonly seqs: readonly number[];
    readonly blobs: readonly string[];
    readonly title: string | null;
    readonly outputOf: string | null;
  };
}
export type RegisterKind = keyof RegisterKinds;
export interface RegisterPut {
  readonly kind: RegisterKind;
  readonly key: string;
  readonly value: Json | null;
}

/** Reads registers. Values are plain data and never changed in place. */
export interface Registers {
  get<K extends RegisterKind>(kind: K, key: string): RegisterKinds[K] | null;
  entries<K extends RegisterKind>(kind: K): readonly (readonly [string, RegisterKinds[K]])[];
}

export interface State {
  readonly head: Head;
  readonly registers: Registers;
  /** True where commands run in something that can end and be made again. */
  readonly hasSandbox?: boolean;
}

export interface MutableRegisters extends Registers {
  /** Every register there is. */
  all(): RegisterPut[];
  put(puts: readonly RegisterPut[]): void;
}

/** Registers in memory. A driver changes them only through what `apply` returns. */
export function createRegisters(): MutableRegisters {
  const rows = new Map<string, Map<string, Json>>();
  return {
    get: <K extends RegisterKind>(kind: K, key: string) => (rows.get(kind)?.get(key) ?? null) as unknown as RegisterKinds[K] | null,
    entries: <K extends RegisterKind>(kind: K) => [...(rows.get(kind) ?? [])] as unknown as (readonly [string, RegisterKinds[K]])[],
    all: () => [...rows].flatMap(([kind, keys]) => [...keys].map(([key, value]) => ({ kind: kind as RegisterKind, key, value }))),
    put(puts) {
      for (const { kind, key, value } of puts) {
        const keys = rows.get(kind) ?? new Map<string, Json>();
        rows.set(kind, keys);
        if (value === null) keys.delete(key);
        else keys.set(key, value);
      }
    },
  };
}
