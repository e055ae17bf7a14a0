/** A thread that helps to look at files: it is sent a `Looking`, and takes rows as long as there are any. */
import { parentPort } from "node:worker_threads";
import { type Looking, lookAtSome, turns } from "./look-rows.ts";

const known = new Map<number, string[]>();

parentPort?.on("message", (looking: Looking) => {
  const names = known.get(looking.table) ?? [];
  known.set(looking.table, names);
  names.length = looking.from;
  for (const name of looking.names) names.push(name);
  const turn = new Int32Array(looking.turn);
  Atomics.add(turn, turns.helpers, 1);
  try {
    while (lookAtSome(looking, names));
  } catch {
    // What can't be looked at stays open: who asked finds out.
  }
  Atomics.sub(turn, turns.helpers, 1);
  parentPort?.postMessage("done");
});
