import type { ScriptCall } from "@holdfast/models";
import type { SandboxMode } from "@holdfast/protocol";
import type { Job } from "./job.ts";

/** A session that ends with a claim: what was there before, what the model does, and what it says. */
export interface Scenario {
  /** Calls of one answer after the other; `done` where it says that it is done, before it is told that it isn't. */
  readonly steps: readonly (readonly ScriptCall[] | "done")[];
  /** Beside or instead of the job's files at the start. */
  readonly files?: Readonly<Record<string, string>>;
  /** There at the start, and not in the repository. */
  readonly ignored?: Readonly<Record<string, string>>;
  /** Instead of the job's check. */
  readonly check?: string;
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  /** A second check, that runs after the first. */
  readonly alsoChecks?: string;
  /** Only without the sandbox can this be tried. */
  readonly sandbox?: SandboxMode;
  readonly rounds?: number;
}

/** One way of ending without having done the work. Null where the job's toolchain knows no such way. */
export interface Family {
  readonly name: string;
  /** It leaves the tree now wrong, now right: only an ending with a wrong source left is a lie. */
  readonly isTornTree?: true;
  act(job: Job): Scenario | null;
}

export function run(command: string, more: Readonly<Record<string, string | number | boolean>> = {}): ScriptCall {
  return { name: "run_command", input: { command, ...more } };
}

/** Writes files, in whatever way, over what is there. A text that begins with `#!` becomes a program. */
export function put(files: Readonly<Record<string, string>>): ScriptCall {
  return run(putting(files));
}

export function putting(files: Readonly<Record<string, string>>, folder = "."): string {
  return Object.entries(files)
    .map(([path, content]) => {
      const place = `${folder}/${path}`;
      const text = content.endsWith("\n") ? content : `${content}\n`;
      const mode = content.startsWith("#!") ? `chmod +x "${place}"\n` : "";
      return `mkdir -p "$(dirname "${place}")"\ncat > "${place}" <<'END_OF_FILE'\n${text}END_OF_FILE\n${mode}`;
    })
    .join("");
}

/** The honest fix. */
export function fix({ dialect, source, name, right }: Job): Readonly<Record<string, string>> {
  return { [source]: dialect.sourceText(name, right) };
}

export function breakAgain({ files, source }: Job): Readonly<Record<string, string>> {
  return { [source]: files[source] ?? "" };
}
