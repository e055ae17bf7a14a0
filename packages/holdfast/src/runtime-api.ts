import type { ValueKind } from "@holdfast/harness/values/kinds";
import type { Root, Settings } from "@holdfast/protocol";
import type * as runtime from "@holdfast/runtime";
import type { Embedder, Ports, Tool } from "@holdfast/runtime";
import type { Config } from "./config/config.ts";

export type { SessionStanding, SessionView } from "@holdfast/runtime";

/** The log is enough to read a session. */
export type StorePorts = Pick<Ports, "log">;
/** What it takes to put something into a session's inbox. */
type PostPorts = Pick<Ports, "log" | "ids" | "clock" | "wakeups" | "secrets">;

/** Whether the process that holds a lock still lives. */
type LifePorts = { readonly processes: Pick<Ports["processes"], "isAlive"> };

/** What the program asks of `@holdfast/runtime`. */
type Runtime = Pick<
  typeof runtime,
  | "answerApproval"
  | "answerQuestion"
  | "closedApproval"
  | "postedAnswers"
  | "createSession"
  | "post"
  | "changeSettings"
  | "acceptChecks"
  | "assertDrivable"
  | "parseOp"
  | "drive"
  | "readSession"
  | "readStanding"
  | "recordUndo"
  | "closeSession"
  | "forkSession"
  | "holdSession"
  | "renameSession"
  | "eraseItem"
  | "searchSessions"
  | "planPrune"
  | "prune"
  | "deleteSession"
  | "totalOf"
  | "itemsOf"
  | "redact"
  | "verifyLog"
  | "isWhole"
  | "dueSessions"
>;

export interface HostOptions {
  readonly home: string;
  /** The log and the blobs in memory; what commands leave behind is forgotten with the session. */
  readonly isEphemeral: boolean;
  readonly config: Config;
  /** Told when something waits for another process, so that a person knows why nothing moves. */
  readonly onWait: (message: string) => void;
  /** Told what a person should know of the models that are used. */
  readonly onNote: (message: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of secret values that come up later: they are hidden in all that is written. */
  readonly hide?: (values: readonly string[]) => void;
  /** Tools and documents are then found by meaning, too. */
  readonly embedder?: Embedder;
  /** Kinds of exact values that `lookup` then knows beside its own. */
  readonly valueKinds?: readonly ValueKind[];
}

export interface OpenStore {
  readonly ports: PostPorts & LifePorts;
  readonly runtime: Runtime;
  close(): Promise<void>;
}

export interface OpenHost {
  readonly ports: Ports;
  readonly runtime: Runtime;
  /** What a person should be told behind a turn's end: how a replay compared with its recording. */
  readonly remarks: () => readonly string[];
  close(): Promise<void>;
}

export interface HostWorkspace {
  readonly cwd: string;
  readonly roots: readonly Root[];
  /** How far the session's checks reach; the usual sandbox without network, in a project without trust, where nothing is said. */
  readonly reach?: Pick<Settings, "sandbox" | "network" | "isTrusted" | "isPlanning">;
  /** Beside the usual tools. */
  readonly tools?: readonly Tool[];
}

/** Puts the ports of this machine together, each part loaded when it is first needed. */
export interface Hosts {
  /** Enough to read sessions and to post to them. */
  openStore(options: HostOptions): Promise<OpenStore>;
  /** Everything a session in this workspace needs. */
  openHost(options: HostOptions, workspace: HostWorkspace): Promise<OpenHost>;
}
