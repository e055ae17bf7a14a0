/**
 * Where looking takes long, a look that is under way and was begun so shortly before it was asked for counts as one of now: it
 * misses no more than one that begins now would. One that is over counts no more, as a person may have gone on since.
 */
const youngMs = 50;
const longMs = 20;

/** When the last look was, and whether it still stands for the files as they are. */
export interface LookTimes {
  /** Returns what is to be called when the look is over. */
  begin(): () => void;
  /** Something of our own may have changed files, besides the calls that are looked at when they end. */
  touch(): void;
  /** Whether the last look, which is over by now, does for who asked for one then (`performance.now()`). */
  isOfNow(askedAt: number): boolean;
}

export function createLookTimes(): LookTimes {
  let last = { begunAt: 0, endedAt: 0, touched: 0 };
  let touched = 0;
  return {
    begin() {
      const begun = { begunAt: performance.now(), touched };
      return () => (last = { ...begun, endedAt: performance.now() });
    },
    touch: () => (touched += 1),
    isOfNow: (askedAt) =>
      last.touched === touched && askedAt < last.endedAt && askedAt - last.begunAt < youngMs && last.endedAt - last.begunAt >= longMs,
  };
}
