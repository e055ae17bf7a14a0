/** A program that talks JSON lines over its standard streams for as long as we live: an MCP server. */
export interface ServerSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Added to the few variables that every server gets. */
  readonly env: Readonly<Record<string, string>>;
  /** A project's server: it sees the workspace but can't write there, and reaches the network as far as the session's commands. */
  readonly isConfined: boolean;
}

export interface ServerEnd {
  /** Null where a signal ended it, or it never ran. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly error: string | null;
}

export interface ServerProcess {
  /** Called with each line of its standard output, without the line end. A line over the bound is dropped whole and counted. */
  onLine: ((line: string) => void) | null;
  /** Resolves when it is gone, never rejects. */
  readonly ended: Promise<ServerEnd>;
  /** The end of what it wrote to its standard error: bounded, raw. */
  readonly lastWords: () => string;
  /** Lines of its output that were too long to be kept. */
  readonly droppedLines: () => number;
  /** Resolves once the line is handed to the system; rejects where the server takes none any more. */
  send(line: string): Promise<void>;
  /** Ends it and everything it started: closes its input, then asks, then forces. Resolves when nothing of its group is left. */
  stop(): Promise<void>;
}

/**
 * Servers that end with us: however this process ends, killed included, its servers end too. Never throws: what can't be
 * started has ended with an error.
 */
export interface ServerProcesses {
  start(spec: ServerSpec): ServerProcess;
}
