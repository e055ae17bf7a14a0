/**
 * Kills the real program again and again while it works, goes on with its sessions until they have ended, and looks at what
 * became of their work: `npm run chaos -- [--kills 300] [--seed 1] [--lanes 3] [--wrappers 0.1] [--fault NAME]`. The seed
 * decides what is done; where a kill finds the program depends on the machine. `--wrappers`: how often the commands'
 * wrappers are killed along, so that their ends are not known. `--fault` plants one that has to be found. Exit status 1
 * where anything was lost, doubled, left behind or told otherwise than it was.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { entryFolder } from "./chaos/lives.ts";
import { startModel } from "./chaos/model.ts";
import { faults } from "./chaos/plant.ts";
import { createDice } from "./chaos/dice.ts";
import { round } from "./chaos/round.ts";
import { openShops } from "./chaos/shops.ts";
import { newTally, report } from "./chaos/tally.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    lanes: { type: "string", default: "3" },
    wrappers: { type: "string", default: "0.1" },
    fault: { type: "string" },
  },
});
const root = join(import.meta.dirname, "../../..");
const fault = faults.find((name) => name === values.fault) ?? null;
if (values.fault !== undefined && fault === null) throw new Error(`--fault is one of ${faults.join(", ")}`);
const [kills, seed, lanes] = [Number(values.kills), Number(values.seed), Number(values.lanes)];

execFileSync(process.execPath, [join(root, "scripts/build.ts"), entryFolder, "chaos=packages/bench/src/chaos/entry.ts"]);
const tally = newTally();
const random = createDice(seed);
const [shops, model] = [await openShops(createDice(random.whole(2 ** 31))), await startModel(createDice(random.whole(2 ** 31)))];
const startedAt = performance.now();

async function work(lane: number): Promise<void> {
  const own = createDice(seed * 1_000 + lane);
  while (tally.kills.count < kills && (fault === null || tally.faults.length === 0)) {
    await round({ random: own, tally, shops, model, mostKills: kills, wrappers: Number(values.wrappers), fault });
    console.error(`${tally.kills.count} kills, ${tally.faults.length} faults, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
}

await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
shops.close();
model.close();
console.log(report(tally));
process.exitCode = tally.faults.length === 0 ? 0 : 1;
