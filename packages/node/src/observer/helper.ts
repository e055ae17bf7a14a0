import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type Looking, turns } from "./look-rows.ts";

/** A thread that looks at files along with the one that asks. It keeps no process alive that has nothing else to do. */
export interface Helper {
  /** Resolves once it takes no more rows: at once where it has taken none, since it is still starting. */
  ask(looking: Looking): { isDone(): Promise<void> };
}

let helper: Helper | null | undefined;

/** The process's one; null where there is one processor, or the thread could not be had. */
export function lookHelper(): Helper | null {
  // One that came to an end is not started again: the tables would have to tell it everything anew.
  if (helper === undefined) helper = availableParallelism() > 1 ? startHelper() : null;
  return helper;
}

function startHelper(): Helper {
  const thread = new Worker(new URL("./look-helper.ts", import.meta.url), { execArgv: [], env: {}, stdin: false });
  thread.unref();
  const waiting: (() => void)[] = [];
  const release = (): void => {
    waiting.shift()?.();
    if (waiting.length === 0) thread.unref();
  };
  const end = (): void => {
    helper = null;
    while (waiting.length > 0) release();
  };
  thread.on("message", release);
  thread.on("error", end);
  thread.on("exit", end);
  return {
    ask(looking) {
      const answered = new Promise<void>((resolve) => waiting.push(resolve));
      thread.postMessage(looking);
      return {
        async isDone() {
          if (Atomics.load(new Int32Array(looking.turn), turns.helpers) === 0) return;
          // Nothing else may keep the process going meanwhile.
          thread.ref();
          await answered;
        },
      };
    },
  };
}
