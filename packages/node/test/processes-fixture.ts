import { mkdirSync, mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandEnd, CommandSpec, Confinement, Processes } from "@holdfast/runtime/ports/processes";
import { createProcesses } from "@holdfast/node/processes/index";
import type { ProcessesOptions } from "@holdfast/node/processes/index";

export interface Place {
  readonly base: string;
  readonly home: string;
  readonly workspace: string;
  readonly userHome: string;
}

/** Folders of a user with a workspace, below `parent`. */
export function makePlace(parent: string = tmpdir()): Place {
  const base = mkdtempSync(join(parent, "holdfast-test-"));
  const place = { base, home: join(base, "user/.holdfast"), workspace: join(base, "user/project"), userHome: join(base, "user") };
  for (const path of [place.home, place.workspace]) mkdirSync(path, { recursive: true });
  return place;
}

/** This process's environment without npm's variables: where npm keeps packages for whoever runs the tests is no part of a place. */
export const ownEnvironment: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith("npm_")),
);

export function processesAt(place: Place, options: Partial<ProcessesOptions> = {}): ReturnType<typeof createProcesses> {
  return createProcesses({
    home: place.home,
    workspaceRoots: [place.workspace],
    userHome: place.userHome,
    environment: ownEnvironment,
    ...options,
  });
}

type SpecOptions = Partial<Omit<CommandSpec, "confinement" | "command">> & { readonly confinement?: Partial<Confinement> };

let runs = 0;
export function specFor(place: Place, command: string, options: SpecOptions = {}): CommandSpec {
  runs += 1;
  const confinement: Confinement = {
    mode: "off",
    network: "none",
    scope: {},
    roots: [place.workspace],
    purpose: "session",
    ...options.confinement,
  };
  return {
    session: "session",
    id: `call-${runs}`,
    attempt: 1,
    cwd: place.workspace,
    timeoutMs: 20_000,
    outputCap: 1_000_000,
    env: {},
    ...options,
    command,
    confinement,
  };
}

export interface Result {
  readonly end: CommandEnd;
  readonly durationMs: number;
  readonly bytes: Uint8Array;
  readonly text: string;
}

export async function runToEnd(processes: Processes, spec: CommandSpec): Promise<Result> {
  const running = await processes.start(spec);
  return resultOf(processes, running.ref, await running.ended);
}

export async function resultOf(
  processes: Processes,
  ref: string,
  ended: { readonly end: CommandEnd; readonly durationMs: number },
): Promise<Result> {
  const { bytes } = await processes.read(ref, 0, 10_000_000);
  return { ...ended, bytes, text: Buffer.from(bytes).toString("utf8") };
}

/** Resolves once the run's output holds `text`. */
export async function untilOutput(processes: Processes, ref: string, text: string): Promise<string> {
  for (let look = 0; look < 2_000; look += 1) {
    const seen = Buffer.from((await processes.read(ref, 0, 1_000_000)).bytes).toString("utf8");
    if (seen.includes(text)) return seen;
    await new Promise((done) => setTimeout(done, 5));
  }
  throw new Error(`the output never held ${text}`);
}

/**
 * Living processes whose environment holds `name=value`: found wherever they hide in the process tree. The wrapper's own
 * may take a moment to go after the command has ended.
 */
export async function carriers(name: string, value: string): Promise<number[]> {
  let found: number[] = [];
  for (let look = 0; look < 20; look += 1) {
    found = readdirSync("/proc")
      .map(Number)
      .filter((pid) => carries(pid, `${name}=${value}`));
    if (found.length === 0) break;
    await new Promise((done) => setTimeout(done, 10));
  }
  return found;
}

function carries(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(variable);
  } catch {
    return false;
  }
}
