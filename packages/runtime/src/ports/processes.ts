import type { CommandLimit, NetworkAccess, SandboxMode, SandboxRefusal, Scope } from "@holdfast/protocol";
import type { Owner } from "./log.ts";

export type { CommandLimit, SandboxRefusal } from "@holdfast/protocol";

/** How far a command reaches. `scope` widens `mode` by exactly what was approved. */
export interface Confinement {
  readonly mode: SandboxMode;
  readonly network: NetworkAccess;
  readonly scope: Scope;
  readonly roots: readonly string[];
  /** `session`: the session's shared network, temporary and cache folder. `check`: fresh ones, made for this run. */
  readonly purpose: "session" | "check";
  /** A check that is on the session's network all the same, to reach what the session's commands serve. */
  readonly joinsSession?: boolean;
  /** Folders shown at other places: the scratch copy of a check is bound over the workspace's own path. */
  readonly binds?: readonly { readonly from: string; readonly to: string; readonly writable: boolean }[];
}

export interface CommandSpec {
  readonly session: string;
  /** Names the run: call id or check run id. */
  readonly id: string;
  readonly attempt: number;
  /** A line for bash. */
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Bytes of output after which the command is ended. */
  readonly outputCap: number;
  readonly confinement: Confinement;
  /** Added to the runtime's own list of variables. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads, besides nothing: what `write` gives it, as from a pipe or as typed at a terminal of its own. */
  readonly input?: CommandInput;
}

export type CommandInput = "pipe" | "terminal";

/** What one command may use at most, with all it starts. */
export interface CommandLimits {
  /** Processes at once. */
  readonly processes: number;
  /** Resident memory, bytes. */
  readonly memoryBytes: number;
  /** What must stay free of the disks it writes to, bytes. */
  readonly freeBytes: number;
}

export type CommandEnd =
  | { readonly type: "exited"; readonly exitCode: number }
  | { readonly type: "signalled"; readonly signal: string }
  | { readonly type: "timed_out"; readonly afterMs: number }
  | { readonly type: "output_capped"; readonly bytes: number }
  /** Ended because its output could not be stored: the disk is full, or fails. */
  | { readonly type: "unspooled" }
  /** Ended because it passed one of `CommandLimits`. */
  | ({ readonly type: "limited" } & CommandLimit)
  /** Ended by us: interrupt, close, delete. */
  | { readonly type: "ended" }
  /** The process is gone and left no exit record: what it did is not known. */
  | { readonly type: "lost" };

/** What the records of a run say. */
export type CommandRecord =
  | { readonly type: "none"; readonly sameBoot: boolean }
  | { readonly type: "revoked" }
  | { readonly type: "running"; readonly pid: number }
  /** `isOfEarlierBoot`: the machine has restarted since the start, and the last of the output may not have reached the disk. */
  | { readonly type: "ended"; readonly end: CommandEnd; readonly durationMs: number; readonly isOfEarlierBoot: boolean };

export interface RunningCommand {
  /** Names the run's records; survives a restart. */
  readonly ref: string;
  /** The wrapper: it lives as long as the command, whatever becomes of us. */
  readonly owner: Owner;
  /** Null where it reads nothing. */
  readonly input: CommandInput | null;
  /** Resolves once, when the command's own process has ended and its output is whole. */
  readonly ended: Promise<{
    readonly end: CommandEnd;
    readonly durationMs: number;
    /** What the sandbox refused: hosts as the proxy was asked for them, and of a command that failed what its last output names. */
    readonly refused?: readonly SandboxRefusal[];
  }>;
  /** Ends the whole group: politely, then by force. Resolves when nothing of it is left. */
  stop(): Promise<void>;
}

/** Reading of the spool: raw bytes, decoded by whoever reads. */
export interface OutputSlice {
  readonly bytes: Uint8Array;
  /** Size of the whole output so far. */
  readonly size: number;
}

/**
 * Commands under a small wrapper that outlives us: it owns the start record (the claim of this attempt), the group, the
 * timeout, the output cap, the spool and the exit record.
 */
export interface Processes {
  /** Who we are, for locks. */
  readonly owner: Owner;
  isAlive(owner: Owner): boolean;
  /** Null where commands can be confined here; else why not and what to do. */
  sandboxProblem(): Promise<string | null>;
  /** What confines and limits commands here, for a person: a few words each. */
  sandboxForm?(): Promise<readonly string[]>;
  /**
   * Real path of the file that a bare name means to a command's shell, by the PATH that commands get; null where there is
   * none. Where it lies tells whether the name can be trusted. Absent where commands have no PATH.
   */
  locate?(program: string): Promise<string | null>;
  /**
   * Throws `claim_lost` where this attempt was revoked or started before, `sandbox_unavailable` where it can't be confined,
   * `store_full` or `store_failed` where its records can't be written; nothing was started then.
   */
  start(spec: CommandSpec): Promise<RunningCommand>;
  /**
   * `intentBoot` is the boot id (`owner.bootId`) under which the intent was committed, for `sameBoot`. Without it the boot
   * of the session's first command counts, and none where it never had one.
   */
  record(session: string, id: string, attempt: number, intentBoot?: string): Promise<CommandRecord>;
  /** Takes every untaken claim up to `attempt` as revoked, so a thawed driver can't start it. Names those that were taken. */
  revoke(session: string, id: string, attempt: number): Promise<{ readonly taken: readonly number[] }>;
  /** Follows a run that an earlier driver started. */
  attach(session: string, id: string, attempt: number): Promise<RunningCommand>;
  read(ref: string, offset: number, length: number): Promise<OutputSlice>;
  /**
   * Gives bytes to a run's input. Returns how many were taken within a few seconds: fewer where it doesn't read, null where
   * it has ended, reads nothing, or its input was closed.
   */
  write(ref: string, bytes: Uint8Array): Promise<number | null>;
  /** What a run with a pipe for its input reads ends here. A terminal has no such end: it is typed. */
  closeInput(ref: string): Promise<void>;
  /** Stops (SIGSTOP) or continues the whole tree of a run. */
  pause(ref: string, paused: boolean): Promise<void>;
  /** Ends the session's runs whose id begins so. Resolves when nothing of them is left. */
  endRuns(session: string, idPrefix: string): Promise<void>;
  /** Deletes what the runs of this id have put out, and leaves their records. One that still runs may put out more. */
  forgetOutput(session: string, id: string): Promise<void>;
  /** What a session's runs have left (records, outputs, temporary and cache folders), and whether one still runs. */
  remains(session: string): Promise<{ readonly bytes: number; readonly isRunning: boolean }>;
  /** Ends all runs of a session and its namespaces; with `forget` also deletes its records, spools, temporary and cache folders. */
  endSession(session: string, options: { readonly forget: boolean }): Promise<void>;
}
