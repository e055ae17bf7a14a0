import { withoutSecrets } from "@holdfast/runtime/writings";

/** What the program may use of its process, so that a test can stand in for it. */
export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** The stream beneath, for line mode. */
  readonly stream: NodeJS.WritableStream;
  /** Columns of the terminal; 80 where there is none. */
  readonly columns: number;
}

interface Input {
  readonly isTTY: boolean;
  /** Everything until the end, as UTF-8. Throws `usage` where it is more than `mostBytes`. */
  readAll(mostBytes: number): Promise<string>;
  /** The stream beneath, for line mode. */
  readonly stream: NodeJS.ReadableStream;
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls `handler` at each of the signals until the returned function is called. */
  onStop(handler: (signal: StopSignal) => void): () => void;
  /** From now on these values are written as `[redacted]`, wherever they turn up. */
  hide(secrets: readonly string[]): void;
}

/** Colours only where a person looks at a terminal and didn't ask for none (https://no-color.org). */
export function usesColour(output: Output, env: Io["env"]): boolean {
  return output.isTTY && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** Whether a person sits at a terminal who can be asked. `on`: where they would read it. */
export function canAsk({ stdin, stdout, env }: Io, on: Output = stdout): boolean {
  return stdin.isTTY && on.isTTY && env["TERM"] !== "dumb";
}

/** Replaces every hidden value in a text, in whatever writing it stands there. */
export function redact(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets, "[redacted]");
}
