import type { FileChange, WorldSection } from "@holdfast/protocol";

/** The workspace at one moment. `manifest` is a blob that lists every file in scope with its digest and mode. */
export interface Snapshot {
  /** Hex SHA-256 over all roots: sorted (root, path, mode, content digest). */
  readonly subject: string;
  readonly manifest: string;
  readonly gitTree: string | null;
}

/** Reads the world; changes nothing in it, and nothing in the user's `.git`. */
export interface Observer {
  /** What the model is told of the world at the start of a turn: folder, platform, git state, project instructions. */
  world(isTrusted: boolean): Promise<WorldSection[]>;
  /** Whether something that \`world\` tells looks otherwise than at its last look: another day, branch or instruction file. Costs little. */
  hasMoved?(): boolean;
  /**
   * Tracked and not-ignored files of all roots. `scope` keeps what an earlier manifest had in scope. `gitTree` is looked for
   * only where it is wanted: it takes git a few more calls.
   */
  snapshot(scope: string | null, wantsTree?: boolean): Promise<Snapshot>;
  /** True where version control tracks this file, or any file below this folder (real path). */
  isTracked(realPath: string): Promise<boolean>;
  /** Every blob that has to be kept for a manifest: itself and the contents it refers to. */
  blobsOf(manifest: string): Promise<readonly string[]>;
  /** What changed between two manifests; line counts where both contents are known. */
  changes(before: string, after: string): Promise<FileChange[]>;
  /** Unified diff of one changed path between two manifests; null where the earlier content was not kept. */
  diff(before: string, after: string, path: string): Promise<string | null>;
}
