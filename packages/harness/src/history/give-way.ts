/** Milliseconds that work goes on at most before what else there is has its turn: an interrupt, a stream, a timer. */
const longestAtOnce = 25;

/** Asked between two pieces of long work; waits a turn of the event loop where that has gone on for long. */
export function createGiveWay(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < longestAtOnce) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    since = performance.now();
  };
}
