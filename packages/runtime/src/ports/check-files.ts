/** A file by the root of the workspace it lies in, and its path below that root with `/`. */
export interface Place {
  readonly root: string;
  readonly path: string;
}

/** One file in scope, as a manifest lists it. A name's bytes that are no UTF-8 stand as lone surrogates U+DC80…U+DCFF. */
export interface ManifestEntry extends Place {
  readonly kind: "file" | "executable" | "link" | "submodule" | "other";
  /** Hex SHA-256 of the content; of the target's text for a link. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** What stands at a place. `unknown`: that can't be told, since a folder above may not be looked into. */
export interface Standing {
  readonly kind: ManifestEntry["kind"] | "folder" | "unknown";
  /** As a manifest has it; empty for a folder and what is unknown. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** An ignored file, or a folder in which everything is ignored. */
export interface IgnoredEntry extends Place {
  readonly isFolder: boolean;
  /** Installed dependencies (`node_modules`, `.venv`…), or something inside them. */
  readonly isDependency: boolean;
}

/** How a scratch copy differs from the workspace: this file has this content, or (null) is not there. `isOld`: it is older than all others. */
export interface ScratchChange extends Place {
  readonly content: Uint8Array | null;
  readonly kind: ManifestEntry["kind"];
  readonly isOld?: true;
}

export interface ScratchCopy {
  /** Where each root lies in the copy, by root id. */
  readonly roots: Readonly<Record<string, string>>;
  /** Shows the copy at the workspace's own paths, dependency folders read-only. For `Confinement.binds`. */
  readonly binds: readonly { readonly from: string; readonly to: string; readonly writable: boolean }[];
  remove(): Promise<void>;
}

/** What git goes by besides the files themselves: in it lies which of them a command of git lists, compares or writes. */
export interface GitState {
  /** Commit of HEAD, "" before the first; `branch`: the ref that it names, "" where it names none. */
  readonly head: string;
  readonly branch: string;
  readonly refs: Readonly<Record<string, string>>;
  /** Digest of the index; `paths`: what it lists, null where that is too much to keep. */
  readonly index: string;
  readonly paths: readonly string[] | null;
  /** Paths that git is told not to look at (`assume-unchanged`, `skip-worktree`). */
  readonly flagged: readonly string[];
  /** Paths that the index has otherwise than HEAD, and (`loose`) otherwise than they stand here. */
  readonly staged: readonly string[];
  readonly loose: readonly string[];
  /** Digests of its configuration and of the files by which it leaves out or rewrites, and of its hooks, by a name for a person. */
  readonly settings: Readonly<Record<string, string>>;
  readonly hooks: Readonly<Record<string, string>>;
}

/** Takes a content piece by piece; pieces are gone afterwards, so that what is to stay must be copied. */
export interface PieceReader<T> {
  take(piece: Uint8Array): void;
  end(): T;
}

/** What checks need to know of the files they are judged by, beyond `Observer`. It never writes into the workspace. */
export interface CheckFiles {
  list(manifest: string): Promise<readonly ManifestEntry[]>;
  /** The content that `manifest` lists; null where it was not kept and is gone. */
  content(manifest: string, place: Place): Promise<Uint8Array | null>;
  /**
   * The same however large it is, in pieces, which need not fit into memory together. `begin` gives a reader for each place
   * where the content may be: one that got another content is never asked for its end.
   */
  look<T>(manifest: string, place: Place, begin: () => PieceReader<T>): Promise<T | null>;
  /** What stands at this place now, ignored or not; null where there is no file, or one of more than 16 MB. `root` empty: `path` is absolute. */
  read(place: Place): Promise<Uint8Array | null>;
  /** What stands at this place now, ignored or not, of any size: a link as itself, or what it leads to. Null where there is nothing. */
  standing(place: Place, throughLinks?: boolean): Promise<Standing | null>;
  /** A manifest equal to this one for which the named files' content is kept, whatever becomes of them. */
  keep(manifest: string, places: readonly Place[]): Promise<string>;
  /** Git's state now, of the repository of the root in which `manifest` lists these files; null where there is none. */
  gitState(manifest: string, root: string): Promise<GitState | null>;
  /** What is ignored now, folders as one entry. */
  ignored(): Promise<readonly IgnoredEntry[]>;
  /**
   * A signature for each place that exists, from size, mtime, ctime and inode of everything below it (caches of the
   * tools left out), by `root:path`. An empty `root` takes `path` as absolute, and the key is the path alone. The cost
   * is bounded; a place too large to be walked whole is signed in part.
   */
  sign(places: readonly Place[]): Promise<ReadonlyMap<string, string>>;
  /**
   * A copy of the files in `manifest` outside the workspace, with `changes`. Dependency folders are bound, or linked
   * where `linksDependencies`; other ignored files are copied while they are few and small, except those in `without`.
   */
  scratch(
    manifest: string,
    changes: readonly ScratchChange[],
    options: { readonly linksDependencies: boolean; readonly without: readonly Place[] },
  ): Promise<ScratchCopy>;
}
