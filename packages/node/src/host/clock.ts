import type { Clock } from "@holdfast/runtime";

export const clock: Clock = {
  now: () => Date.now(),
  awake: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      // Longer ones would overflow a timer's 31 bits and ring at once.
      const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
      signal.addEventListener("abort", done);
    }),
};
