import type { CheckDefinition, OtherCheck, Weakness } from "@holdfast/protocol";
import type {
  Baseline,
  BlobStore,
  Bounded,
  CheckFiles,
  Clock,
  Confinement,
  Network,
  Observer,
  Processes,
  VerifierContext,
} from "@holdfast/runtime";
import type { Workplace } from "./inputs.ts";

export interface VerifierInput {
  readonly observer: Observer & CheckFiles;
  readonly processes: Processes;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** The workspace: checks run in `cwd`. */
  readonly files: Workplace;
  readonly confinement: (purpose: "check", binds?: Confinement["binds"], joinsSession?: boolean) => Confinement;
  /** Added to the runtime's own list of variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** What ends a pattern that takes too long. Where nothing does, patterns are not judged, which no check passes with. */
  readonly bounded?: Bounded;
  /** What `http` checks ask over. */
  readonly network?: Network;
  /** Kinds of checks beside the built-in ones, by the name that a definition of kind `other` gives. */
  readonly kinds?: Readonly<Record<string, CheckKind<OtherCheck>>>;
}

/** What a look at the world found. Nothing was run in the workspace for it. */
export interface Finding {
  readonly passed: boolean;
  /** For a person and the model: what holds, or what doesn't. The first line is enough by itself. */
  readonly says: string;
  readonly weaknesses?: readonly Weakness[];
  readonly notes?: readonly string[];
  /** Paths whose change counts for nothing, since a person accepts it. */
  readonly accepted?: readonly string[];
  /** Of what was observed, where that is not the workspace. */
  readonly observed?: string;
}

/** A kind of check that looks instead of running a command. It must change nothing. */
export type CheckKind<T extends CheckDefinition = CheckDefinition> = (
  input: VerifierInput,
  check: T,
  baseline: Baseline,
  context: VerifierContext,
  signal: AbortSignal,
) => Promise<Finding>;
