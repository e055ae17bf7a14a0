import type { Link } from "./network.ts";
import { isolation } from "./problem.ts";
import type { SandboxPrograms } from "./problem.ts";

/** What is to run inside, and how bubblewrap is to be told. */
export interface Confined {
  readonly programs: Pick<SandboxPrograms, "bwrap">;
  readonly link: Pick<Link, "args"> | null;
  /** The descriptor from which bubblewrap reads the filter of system calls; null where there is none. */
  readonly filter: number | null;
  /** `viewOf`'s arguments. */
  readonly view: readonly string[];
  /** Further options of bubblewrap. */
  readonly options: readonly string[];
  readonly cwd: string;
  readonly command: readonly string[];
}

/** The command line of whatever runs in the sandbox, from bubblewrap on. */
export function confinedLine({ programs, link, filter, view, options, cwd, command }: Confined): string[] {
  return [
    programs.bwrap,
    ...isolation(process.getuid?.() === 0),
    ...(link?.args ?? []),
    ...(filter === null ? [] : ["--seccomp", String(filter)]),
    ...view,
    ...options,
    "--chdir",
    cwd,
    "--",
    ...command,
  ];
}
