import { nodeGuard } from "./node-guard.ts";

/**
 * A run that the sources under test can't change: Node's assertion library is frozen, Python's is compared at the end, and a
 * source that ends the tests' process with status 0 ends it with 86. Both are loaded by the interpreters themselves, before
 * anything of the workspace.
 */

/** The folder in a scratch copy that holds Python's part. */
export const watchFolder = ".holdfast-watch";
/** What a process ends with that a source had reached. */
export const status = 86;

export type Watched = "node" | "python";

/** A guarded run in a folder: what its interpreters are told, and the files by which they show that they were. */
export interface Guard {
  readonly watched: readonly string[];
  /** Paths of the project's own programs. */
  readonly programs: readonly string[];
  /** The folder in the copy, as the run sees it. */
  readonly folder: string;
  /** Nothing in the workspace knows it. */
  readonly nonce: string;
}

export function markOf({ nonce }: Pick<Guard, "nonce">, language: Watched): string {
  return `${nonce}.${language}`;
}

/** What Node is told; it holds nothing that a shell reads. */
export function nodeOption(guard: Guard): string {
  const code = encodeURIComponent(nodeGuard(guard, `${guard.folder}/${markOf(guard, "node")}`, status));
  return `--import=data:text/javascript,${code.replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`;
}

/** What Rust's tests are built as is what is built to be used, but that an overflow still ends it. */
const asReleased = {
  CARGO_PROFILE_DEV_DEBUG_ASSERTIONS: "false",
  CARGO_PROFILE_TEST_DEBUG_ASSERTIONS: "false",
  CARGO_PROFILE_DEV_OVERFLOW_CHECKS: "true",
  CARGO_PROFILE_TEST_OVERFLOW_CHECKS: "true",
};

/** `watched`: paths of changed sources, as the ends of absolute paths. */
export function watchEnvironment(guard: Guard): Readonly<Record<string, string>> {
  return {
    ...(guard.watched.some((path) => path.endsWith(".rs")) ? asReleased : {}),
    NODE_OPTIONS: nodeOption(guard),
    PYTHONPATH: guard.folder,
    // A source that asks for them knows that it is checked.
    PYTHONDONTWRITEBYTECODE: "",
    PYTHONPYCACHEPREFIX: "",
  };
}
