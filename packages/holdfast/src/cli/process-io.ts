import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Io, Output, StopSignal } from "./io.ts";
import { harmless } from "../render/sanitize.ts";
import { redact } from "./io.ts";

/** How long what is written waits for its reader once somebody ended the program. */
const unreadMs = 2_000;

const stopSignals: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * The `Io` of this process. A reader that went away (EPIPE, as in `| head`) loses what it didn't read; the session goes
 * on and its exit status still says how it ended. `isOutputLost`: the disk was full, or the like.
 */
export function processIo(): Io & { flush(): Promise<void>; isOutputLost(): boolean } {
  let secrets: readonly string[] = [];
  let isEnded = false;
  let isLost = false;
  const output = (stream: NodeJS.WriteStream): Output => {
    let isOpen = true;
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!isOpen) return;
      isOpen = false;
      // A full disk takes what was asked for, and nobody would know.
      if (error.code === "EPIPE" || stream === process.stderr) return;
      isLost = true;
      process.stderr.write(`holdfast: output is lost: ${error.message}\n`);
    });
    return {
      write: (text) => {
        if (isOpen && text !== "") stream.write(harmless(redact(text, secrets), stream.isTTY === true));
      },
      stream,
      isTTY: stream.isTTY === true,
      get columns() {
        return stream.columns || 80;
      },
    };
  };
  return {
    stdin: {
      get isTTY() {
        return process.stdin.isTTY === true;
      },
      readAll: async (mostBytes) => {
        const bytes = await (await import("./bounded.ts")).readBounded(process.stdin, mostBytes);
        if (bytes !== null) return bytes.toString("utf8");
        throw new HoldfastError("usage", `stdin holds more than ${Math.floor(mostBytes / 1024 / 1024)} MB`, {
          hint: "give less at a time",
        });
      },
      get stream() {
        return process.stdin;
      },
    },
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    env: process.env,
    get cwd() {
      try {
        return process.cwd();
      } catch {
        throw new HoldfastError("workspace_invalid", "the folder you are in is no longer there", { hint: "change to another, with cd" });
      }
    },
    onStop: (handler) => {
      const listeners = stopSignals.map((signal) => {
        const listener = (): void => {
          isEnded ||= signal !== "SIGINT";
          handler(signal);
        };
        return { signal, listener };
      });
      for (const { signal, listener } of listeners) process.on(signal, listener);
      return () => {
        for (const { signal, listener } of listeners) process.off(signal, listener);
      };
    },
    hide: (values) => {
      // Another list: what is looked for is worked out once for each.
      secrets = [...new Set([...secrets, ...values])];
    },
    isOutputLost: () => isLost,
    flush: async () => {
      const all = Promise.all([drained(process.stdout), drained(process.stderr)]);
      // A program that ends us may keep the pipe open and read no more.
      await (isEnded ? Promise.race([all, sleep(unreadMs)]) : all);
    },
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.errored) resolve();
    else stream.write("", () => resolve());
  });
}
