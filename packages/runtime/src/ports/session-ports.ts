import type { Approval, Delta, Question, Report, SessionEvent, Settings, Standing, CheckDefinition, Root } from "@holdfast/protocol";
import type { BlobStore } from "./blobs.ts";
import type { Bounded } from "./bounded.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Clock } from "./clock.ts";
import type { Director } from "./director.ts";
import type { Files } from "./files.ts";
import type { Hooks } from "./hooks.ts";
import type { Ids } from "./ids.ts";
import type { Log } from "./log.ts";
import type { Model } from "./model.ts";
import type { Observer } from "./observer.ts";
import type { Policy } from "./policy.ts";
import type { Processes } from "./processes.ts";
import type { Recall } from "./recall.ts";
import type { RuleStore } from "./rule-store.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SecretStore } from "./secrets.ts";
import type { Signer } from "./signer.ts";
import type { Stop } from "./stop.ts";
import type { ToolHost } from "./tool-host.ts";
import type { Verifier } from "./verifier.ts";
import type { Wakeups } from "./wakeups.ts";

/** Everything a session needs from its host. */
export interface Ports {
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Resolves `provider/name`; throws `no_model` or `config_invalid`. */
  readonly model: (name: string) => Promise<Model>;
  readonly tools: ToolHost;
  readonly files: Files;
  readonly processes: Processes;
  readonly observer: Observer;
  readonly verifier: Verifier;
  readonly policy: Policy;
  readonly director: Director;
  readonly secrets: SecretStore;
  readonly signer: Signer;
  readonly wakeups: Wakeups;
  /** Left out where an answer can't add to the user's rules. */
  readonly rules?: RuleStore;
  /** Left out where commands run on this machine and nothing has to be made again. */
  readonly sandbox?: Sandbox;
  /** Left out where no hooks are set. */
  readonly hooks?: Hooks;
  /** Left out where nothing but edits can be taken back. */
  readonly checkpoints?: Checkpoints;
  /** Left out where nothing is brought in by rule. */
  readonly recall?: Recall;
  /** Left out where nothing can be ended while it computes: then no pattern of the model's is judged. */
  readonly bounded?: Bounded;
}

/** What a new session starts with. */
export interface NewSession {
  readonly roots: readonly Root[];
  readonly cwd: string | null;
  readonly settings: Settings;
  readonly title: string;
  readonly checks: readonly CheckDefinition[];
}

/** An event as it was committed, for clients. */
export type RecordedEvent = SessionEvent & { readonly seq: number; readonly at: number };

export interface DriveOptions {
  /** Called after each commit, in order. */
  readonly onEvent?: (event: RecordedEvent) => void;
  /** Streamed pieces; may be dropped. */
  readonly onDelta?: (delta: Delta) => void;
  /** Told once when an effect has waited for two seconds for another session's. */
  readonly onWait?: (message: string) => void;
  /** What to do when nothing but an approval or an answer is waited for: give the session back, or stay and listen. */
  readonly waiting: "return" | "stay";
  /**
   * The session's own commands are ended before a turn is judged verified, so that nothing of it can change what was tested:
   * for a client that leaves when the turn has ended.
   */
  readonly endsCommands?: boolean;
  /**
   * How long a failed sampling is tried again, ms, counted from its first failure. Where nothing is said: ten minutes, and
   * where the provider is busy (limited rate, overload) as long as the turn has time.
   */
  readonly retryForMs?: number;
  /** Aborting detaches: the driver stops at once and leaves the session as a killed process would. Not an interrupt. */
  readonly signal?: AbortSignal;
  /** Manual drive: awaited before and after every commit, effect and claim. What it throws stops the driver there, as a crash would. */
  readonly stops?: (stop: Stop) => Promise<void>;
}

/** How the session stands when `drive` gives it back. `idle`: there was nothing to do. */
export interface DriveEnd {
  readonly standing: Standing | "idle";
  readonly exitStatus: number;
  readonly report: Report | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly approvals: readonly Approval[];
  readonly questions: readonly Question[];
}
