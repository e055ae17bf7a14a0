import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "./model-server.ts";

/** What a model asks for in one session. */
export interface Workload {
  readonly name: string;
  /** Requests that it answers with calls. */
  readonly steps: number;
  readonly script: (n: number) => Answer | null;
}

const kinds = {
  /** Proven to change nothing. */
  true: (n: number) => ({ tool: "command", input: { command: `true ${n}` } }) as const,
  /** A command that writes a file. */
  write: (n: number) => ({ tool: "command", input: { command: `echo ${n} > out.txt` } }) as const,
  edit: (n: number) =>
    ({ tool: "edits", input: { path: "notes.txt", edits: [{ old: `count ${n}\n`, new: `count ${n + 1}\n` }] } }) as const,
  read: (n: number) => ({ tool: "path", input: { path: "notes.txt", offset: 1 + (n % 40) } }) as const,
  output: (n: number) => ({ tool: "command", input: { command: `head -c 20000 /dev/zero | tr '\\0' '${n % 10}'` } }) as const,
} as const;
export type StepKind = keyof typeof kinds;

/** `steps` steps of one call each. */
export function stepsOf(kind: StepKind, steps: number): Workload {
  return { name: `${kind}-${steps}`, steps, script: (n) => (n < steps ? { type: "calls", calls: [kinds[kind](n)] } : null) };
}

/** One answer with so many calls that each sleep a second. */
export function parallelSleeps(count: number): Workload {
  const calls = Array.from({ length: count }, (_, index) => ({ tool: "command", input: { command: `sleep 1; true ${index}` } }) as const);
  return { name: `sleep-${count}`, steps: 1, script: (n) => (n === 0 ? { type: "calls", calls } : null) };
}

/** One answer of text in so many deltas. */
export function streamed(deltas: number): Workload {
  return { name: `deltas-${deltas}`, steps: 0, script: () => ({ type: "text", deltas }) };
}

/** One command that says so many million bytes. */
export function megabytes(count: number): Workload {
  const command = `yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde | head -c ${count}000000`;
  return {
    name: `output-${count}mb`,
    steps: 1,
    script: (n) => (n === 0 ? { type: "calls", calls: [{ tool: "command", input: { command } }] } : null),
  };
}

/** The first request fails, the second is answered. */
export function failing(fault: "cut" | "error"): Workload {
  const failure: Answer = fault === "cut" ? { type: "cut" } : { type: "error", status: 500 };
  return { name: `retry-${fault}`, steps: 1, script: (n) => (n === 0 ? failure : null) };
}

/** A git repository of `files` files, one of which the edits and reads use. */
export function makeRepository(folder: string, files: number): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < files; n += 1) {
    const part = join(folder, `src/part${Math.floor(n / 500)}/${Math.floor(n / 50) % 10}`);
    if (n % 50 === 0) mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `file${n}.ts`), `export const value${n} = ${n};\n`.repeat(1 + (n % 20)));
  }
  writeFileSync(join(folder, "README.md"), "# A repository\n");
  resetRepository(folder);
  const git = (...args: string[]): void => {
    const who = ["-c", "user.email=bench@example.com", "-c", "user.name=bench", "-c", "gc.auto=0"];
    execFileSync("git", [...who, ...args], { cwd: folder, stdio: "pipe" });
  };
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "start");
}

/** Puts back what a run changes. */
export function resetRepository(folder: string): void {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index} of the notes`).join("\n");
  writeFileSync(join(folder, "notes.txt"), `count 0\n${lines}\n`);
  writeFileSync(join(folder, "out.txt"), "0\n");
}
