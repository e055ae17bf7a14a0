/** A place where commands run, with a life of its own: it may end while the session goes on, and be made again. */
export interface SandboxLife {
  readonly id: string;
  /** When it ends by itself, ms; null: it lasts. */
  readonly expiresAt: number | null;
}

/** What a sandbox holds of the work, kept outside of it. */
export interface SavedSandbox {
  /** Names it for `open`. */
  readonly snapshot: string;
  /** Digest of the workspace's files. */
  readonly subject: string;
}

export interface SandboxHealth {
  /** Digest of the workspace's files as they are. */
  readonly subject: string;
  /** What work can't go on with: a tool that is missing, a credential that has expired and can't be renewed. Empty: it is well. */
  readonly problems: readonly string[];
  /** Credentials that were renewed, by name. */
  readonly renewed: readonly string[];
}

/**
 * The life of the sandbox in which a session's commands run. The session is durable, the sandbox isn't: any of these may find
 * that it has ended, and throws `sandbox_lost` then. Left out of the ports where commands run on this machine and nothing has
 * to be made again.
 */
export interface Sandbox {
  /** True where the workspace lies outside of it and outlives it: nothing of it is ever gone. */
  readonly keepsFiles?: boolean;
  /** Null where it has ended. */
  find(id: string): Promise<SandboxLife | null>;
  /**
   * Makes one for the session as its recipe says: creates it, restores the workspace from `snapshot` (null: as it is at the
   * start), installs, sets the environment, brings fresh credentials. Throws `sandbox_unavailable` where that fails.
   */
  open(session: string, snapshot: string | null): Promise<SandboxLife>;
  /** Moves its end away, as far as goes. Null: it can't be moved any more. */
  prolong(id: string): Promise<SandboxLife | null>;
  save(id: string): Promise<SavedSandbox>;
  /** Looks whether work can go on in it, and renews credentials that end soon. */
  check(id: string): Promise<SandboxHealth>;
}

/** How one is made again: in the user's config, or a trusted project's. */
export interface SandboxRecipe {
  /** Commands that install what the work needs, in order, once the workspace is there. */
  readonly install: readonly string[];
  /** Programs that have to be there. */
  readonly tools: readonly string[];
  /** Names of secrets that have to be valid. */
  readonly credentials: readonly string[];
}
