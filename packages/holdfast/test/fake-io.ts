import { PassThrough } from "node:stream";
import type { Io, StopSignal } from "../src/cli/io.ts";
import { redact } from "../src/cli/io.ts";

export interface FakeIo extends Io {
  readonly out: () => string;
  readonly err: () => string;
  readonly stop: (signal: StopSignal) => void;
  readonly isListening: () => boolean;
}

/** A process without a terminal: output is kept, stdin is `input`. */
export function fakeIo(options: { cwd: string; home: string; input?: string; stdinIsTTY?: boolean; env?: Record<string, string> }): FakeIo {
  let out = "";
  let err = "";
  let secrets: readonly string[] = [];
  const handlers = new Set<(signal: StopSignal) => void>();
  const stdin = new PassThrough();
  stdin.end(options.input ?? "");
  const output = (take: (text: string) => void) => ({
    write: (text: string) => take(redact(text, secrets)),
    isTTY: false,
    columns: 80,
    stream: new PassThrough(),
  });
  return {
    stdin: { isTTY: options.stdinIsTTY ?? false, readAll: async () => options.input ?? "", stream: stdin },
    stdout: output((text) => {
      out += text;
    }),
    stderr: output((text) => {
      err += text;
    }),
    env: { HOLDFAST_HOME: options.home, HOME: options.home, ...options.env },
    cwd: options.cwd,
    onStop: (handler) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    hide: (values) => {
      secrets = [...secrets, ...values];
    },
    out: () => out,
    err: () => err,
    stop: (signal) => {
      for (const handler of handlers) handler(signal);
    },
    isListening: () => handlers.size > 0,
  };
}
