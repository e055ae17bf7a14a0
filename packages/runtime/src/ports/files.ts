/** Where a path really leads, after links and the file system's own rules (case, NFC/NFD). */
export interface PathIdentity {
  /** Absolute path with every existing part resolved; missing tail parts are appended as given. */
  readonly real: string;
  readonly kind: "file" | "directory" | "other" | "missing";
  /** The workspace root it lies in, and the path below it with `/`; null outside every root. */
  readonly root: string | null;
  readonly relative: string | null;
  /** True where any part of the path as given was a symbolic link. */
  readonly crossesLink: boolean;
  /** True inside a `.git` folder, or another place whose content runs later (hooks, tool configuration). */
  readonly isProtected: boolean;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Hex SHA-256 of the bytes. */
  readonly digest: string;
  readonly mode: number;
}

/** One file of an edit: from the content with digest `before` (null: there is none) to `after` (null: it is deleted). */
export interface FileEdit {
  /** Real absolute path. */
  readonly path: string;
  readonly before: string | null;
  readonly after: Uint8Array | null;
  readonly afterDigest: string | null;
  /** Permission bits of a new file; an existing one keeps its own. */
  readonly mode: number | null;
}

export interface EditClaim {
  readonly session: string;
  readonly callId: string;
  readonly attempt: number;
}

export type ApplyResult =
  | { readonly type: "applied" }
  /** Some file is not what `before` says: nothing was changed. */
  | { readonly type: "changed"; readonly path: string; readonly found: string | null }
  /** Another attempt took or revoked the claim: nothing was changed. */
  | { readonly type: "revoked" }
  /** The file system refused: everything was put back. */
  | { readonly type: "failed"; readonly path: string; readonly message: string; readonly code: string };

export interface SearchQuery {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly ignoreCase: boolean;
  readonly glob: readonly string[];
  readonly path: string;
  readonly limit: number;
  readonly context: number;
  /** Files, by real path, of which nothing is shown and nothing told: not even whether the pattern is found there. */
  readonly leaveOut?: (path: string) => boolean;
}
export interface SearchHit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isContext: boolean;
}

export interface Found {
  readonly hits: readonly SearchHit[];
  readonly truncated: boolean;
  readonly leftOut: number;
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
}

/** The files an agent works on. Everything here honours path identity; nothing here decides whether it is allowed. */
export interface Files {
  /** Base for relative paths, and the roots of the workspace. */
  readonly cwd: string;
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  identify(path: string): Promise<PathIdentity>;
  /** Throws `file_missing`, `file_unreadable` (with the reason). Reads at most `maxBytes`, else throws `file_unreadable`. */
  read(realPath: string, maxBytes: number): Promise<FileContent>;
  /**
   * What tells a file's content from another without reading it: its size, and times and numbers that the file system alone
   * sets. For files that are too large to read, or can't be. Throws as `read` does.
   */
  stamp?(realPath: string): Promise<string>;
  /** Names by glob, .gitignore respected, newest change first. `truncated` where `limit` cut it. */
  glob(pattern: string, path: string, limit: number): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  /** The same files in order of path, with their sizes in bytes. */
  list(pattern: string, path: string, limit: number): Promise<{ readonly files: readonly ListedFile[]; readonly truncated: boolean }>;
  /** `leftOut`: how many of the files with fitting names `leaveOut` left out. */
  search(query: SearchQuery, signal: AbortSignal): Promise<Found>;
  /**
   * Checks the claim, compares every file with `before`, and changes all of them or none, under the workspace's edit lock.
   * Modes survive; a new file never exists with wider permissions than its final ones. Where an earlier attempt of the call
   * was taken or revoked, a file that is already at its `after` counts as done. Throws `store_failed`, `store_full` or
   * `workspace_busy` where the lock can't be had: nothing was changed then.
   */
  apply(edits: readonly FileEdit[], claim: EditClaim): Promise<ApplyResult>;
  /**
   * Under the same lock: revokes untaken claims up to `claim.attempt`, then looks. `mixed`: each file is either before
   * or after, not all alike. `unknown`: some file is neither.
   */
  probe(edits: readonly FileEdit[], claim: EditClaim): Promise<"before" | "after" | "mixed" | "unknown">;
}
