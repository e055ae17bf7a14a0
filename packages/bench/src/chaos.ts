/**
 * Kills the real program again and again while it works, goes on with its sessions until they have ended, and looks at what
 * became of their work: `npm run chaos -- [--kills 300] [--seed 1] [--lanes 3] [--wrappers 0.1] [--results FILE] [--fault NAME]`.
 * The seed decides what is done; where a kill finds the program depends on the machine. `--wrappers`: how often the commands'
 * wrappers are killed along, so that their ends are not known. `--results` keeps what was counted, and each fault in whole,
 * also where the run is ended on the way; with `--after FILE` (repeatable) kills go where such a file has few; `--sum FILE…`
 * reports several of them as one, and with `--page` writes that into docs/durability.md. `--fault` plants one that has to be found. Exit status 1 where anything was lost, doubled,
 * left behind or told otherwise than it was.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { entryFolder } from "./chaos/lives.ts";
import { startModel } from "./chaos/model.ts";
import { faults } from "./chaos/plant.ts";
import { createDice } from "./chaos/dice.ts";
import { writePage } from "./chaos/page.ts";
import { addUp, commitOf, save } from "./chaos/results.ts";
import { round } from "./chaos/round.ts";
import { openShops } from "./chaos/shops.ts";
import type { Tally } from "./chaos/tally.ts";
import { newTally, report } from "./chaos/tally.ts";
import { readNumber, readOptions, refuse } from "./options.ts";

const usage = `usage: npm run chaos -- [--kills 300] [--seed 1] [--lanes 3] [--wrappers 0.1] [--results FILE] [--after FILE]… [--fault NAME]
       npm run chaos -- --sum FILE… [--page]
NAME is one of: ${faults.join(", ")}`;
const { values, positionals } = readOptions(usage, {
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    lanes: { type: "string", default: "3" },
    wrappers: { type: "string", default: "0.1" },
    results: { type: "string" },
    after: { type: "string", multiple: true, default: [] },
    sum: { type: "boolean", default: false },
    page: { type: "boolean", default: false },
    fault: { type: "string" },
  },
});
if (values.sum !== positionals.length > 0) refuse(usage, "--sum goes with files of results, and files with --sum");
const kills = readNumber(usage, "kills", values.kills, { min: 1 });
const seed = readNumber(usage, "seed", values.seed, { min: 0 });
const lanes = readNumber(usage, "lanes", values.lanes, { min: 1 });
const wrappers = readNumber(usage, "wrappers", values.wrappers, { min: 0, max: 1, isWhole: false });
const fault = faults.find((name) => name === values.fault) ?? null;
if (values.fault !== undefined && fault === null) refuse(usage, `there is no fault ${JSON.stringify(values.fault)}`);
const root = join(import.meta.dirname, "../../..");
const tally = values.sum ? addTogether() : await run();
console.log(report(tally));
process.exitCode = tally.faults.length === 0 && tally.kills.count > 0 ? 0 : 1;

function addTogether(): Tally {
  const sum = addUp(positionals);
  if (values.page) writePage(sum.runs, sum.tally);
  return sum.tally;
}

async function run(): Promise<Tally> {
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), entryFolder, "chaos=packages/bench/src/chaos/entry.ts"]);
  const counted = newTally();
  const { points, windows } = addUp(values.after).tally;
  const random = createDice(seed);
  const [shops, model] = [await openShops(createDice(random.whole(2 ** 31))), await startModel(createDice(random.whole(2 ** 31)))];
  const [commit, startedAt, start] = [commitOf(root), new Date().toISOString(), performance.now()];
  const work = async (lane: number): Promise<void> => {
    const own = createDice(seed * 1_000 + lane);
    while (counted.kills.count < kills && (fault === null || counted.faults.length === 0)) {
      await round({
        random: own,
        tally: counted,
        seen: { points, windows },
        shops,
        model,
        mostKills: kills,
        wrappers,
        fault,
      });
      const seconds = Math.round((performance.now() - start) / 1000);
      console.error(`${counted.kills.count} kills, ${counted.faults.length} faults, ${seconds} s`);
      if (values.results !== undefined) save(values.results, { seed, commit, startedAt, seconds, tally: counted });
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => work(lane)));
  shops.close();
  model.close();
  return counted;
}
