import type { Checkpoint, Json, TreeChange, TreeNode } from "@holdfast/protocol";

/** What a session is about to do. */
export interface CheckpointRequest {
  readonly session: string;
  /** The lines of the commands that are about to run. */
  readonly commands: readonly string[];
  /** The turn's manifest of the workspace (`Observer.snapshot`), whose ignore rules and kept contents hold here too. */
  readonly manifest: string;
}

/**
 * Follows how the workspace changes, so that a step can be taken back. It never writes into the workspace or its `.git`, and
 * follows no link. What a session's own edits changed is told to it (`changed`) and stands in the log with their calls.
 */
export interface Checkpoints {
  /**
   * Looks at the workspace and keeps what can't be had again, durably. Never throws: what could not be kept, or looked at, is
   * said in the checkpoint.
   */
  take(request: CheckpointRequest): Promise<Checkpoint>;
  /**
   * A call begins only now, after others may have had the workspace since its checkpoint was taken, or it was not run after
   * all: what differs by now, they did. Looks, and never rejects.
   */
  begun(session: string): Promise<void>;
  /**
   * A call that may have changed anything has ended: what differs now, it did. Begins to look, and returns at once. `approved`:
   * the places that a person let a confined command write; it leaves no repository with programs for git to run elsewhere. Null
   * where it was not confined.
   */
  ended(session: string, approved: readonly string[] | null): void;
  /** What changed since the last checkpoint where a call has ended since; null otherwise. For the end of a turn. */
  close(session: string): Promise<Checkpoint | null>;
  /** Resolves once what was begun to be looked at is known. Never rejects. */
  ready(): Promise<void>;
  /**
   * The session itself changed these files: edits, or an undo. Also said, without any, where something of the session's that
   * isn't looked at when it ends may have changed files: a look that was begun before it is none of now.
   */
  changed(session: string, changes: readonly TreeChange[]): void;
  /** The changes of a checkpoint, also where they are listed in a blob; null where that is gone. */
  changesOf(checkpoint: Checkpoint): Promise<readonly TreeChange[] | null>;
  /** The whole tree of a checkpoint's `base`, by path; null where it is gone. */
  tree(base: string): Promise<ReadonlyMap<string, TreeNode> | null>;
  /** What stands at these paths now. No link is followed: below one there is nothing. */
  nodesAt(paths: readonly string[]): Promise<ReadonlyMap<string, TreeNode | null>>;
  /** The content of a file or link; null where it is kept nowhere, or is larger than `mostBytes`. */
  content(node: TreeNode, mostBytes: number): Promise<Uint8Array | null>;
  /** What a file or link holds now, links not followed; null where there is none, or a larger one than 16 MB. */
  contentAt(path: string): Promise<Uint8Array | null>;
  /**
   * Makes of each path what it was, all of them or none. Where the process dies on the way, `unfinished` tells of it, and
   * the same is finished by `finish`.
   */
  restore(session: string, restore: Restore): Promise<RestoreResult>;
  unfinished(session: string): Promise<Restore | null>;
  finish(session: string): Promise<RestoreResult>;
  /** To be said once what was restored is recorded: nothing is left of it then. */
  settled(session: string): Promise<void>;
}

/** One path that is to be made from what it is to what it was. */
export interface RestoreStep {
  readonly path: string;
  readonly from: TreeNode | null;
  readonly to: TreeNode | null;
}

export interface Restore {
  readonly steps: readonly RestoreStep[];
  /** What the caller wants to know of it again after a crash. */
  readonly note: Json;
}

export type RestoreResult =
  /** `kept`: folders that were to go, and hold something else. */
  | { readonly type: "restored"; readonly kept: readonly string[] }
  /** These are not what `from` says, or what they were is no longer kept: nothing was changed. */
  | { readonly type: "refused"; readonly paths: readonly { readonly path: string; readonly why: "changed" | "not_kept" }[] }
  /** The file system refused: everything was put back; or, where it `isBegun`, it stays unfinished, and is to be finished. */
  | { readonly type: "failed"; readonly path: string; readonly message: string; readonly isBegun: boolean; readonly full: FullDisk | null };

/** `missing`: bytes to be freed before it can be done; null where that isn't known. */
export interface FullDisk {
  readonly missing: number | null;
}
