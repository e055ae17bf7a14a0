import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../random.ts";
import type { Contestant } from "./contestants.ts";
import { floor, floorSynced, holdfast } from "./contestants.ts";
import type { Run } from "./run-once.ts";
import { runOnce } from "./run-once.ts";
import type { Workload } from "./workloads.ts";
import { makeRepository, resetRepository } from "./workloads.ts";

export type RepositorySize = "small" | "large";

/** Everything a figure is taken with. */
export interface Field {
  readonly isQuick: boolean;
  readonly unconfined: Contestant;
  readonly confined: Contestant;
  readonly floor: Contestant;
  readonly floorSynced: Contestant;
  readonly peers: readonly Contestant[];
  /** How often something is to be repeated, that should be repeated so often. */
  rounds(count: number): number;
  /** One run, in a repository as it was made. */
  run(contestant: Contestant, workload: Workload, size?: RepositorySize): Promise<Run>;
  /** The contestants one after the other, so many rounds, each in another order; by their names. */
  inTurn(
    contestants: readonly Contestant[],
    workload: Workload,
    rounds: number,
    size?: RepositorySize,
  ): Promise<ReadonlyMap<string, readonly Run[]>>;
  /** An empty folder on the disk that is measured. */
  folder(name: string): string;
  close(): void;
}

export interface FieldOptions {
  readonly program: string;
  readonly peers: readonly Contestant[];
  readonly isQuick: boolean;
  readonly seed: number;
  readonly largeFiles: number;
  readonly mostRounds: number;
}

const smallFiles = 20;

export function openField({ program, peers, isQuick, seed, largeFiles, mostRounds }: FieldOptions): Field {
  const base = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const random = createRandom(seed);
  const made = new Map<RepositorySize, string>();
  const warm = new Set<string>();
  let folders = 0;

  const repository = (size: RepositorySize): string => {
    const folder = join(base, size);
    if (!made.has(size)) makeRepository(folder, size === "large" ? largeFiles : smallFiles);
    else resetRepository(folder);
    made.set(size, folder);
    return folder;
  };
  const run: Field["run"] = async (contestant, workload, size = "small") => {
    const home = join(base, "homes", contestant.name);
    const workspace = repository(size);
    // What a program sets up once, and what it keeps of a repository, is there from its first run on.
    if (!warm.has(`${contestant.name} ${size}`)) {
      warm.add(`${contestant.name} ${size}`);
      await runOnce(contestant, { name: "warm", steps: 0, script: () => null }, home, workspace);
    }
    return runOnce(contestant, workload, home, workspace);
  };

  return {
    isQuick,
    unconfined: holdfast(program, "off"),
    confined: holdfast(program, "workspace-write"),
    floor,
    floorSynced,
    peers,
    rounds: (count) => (isQuick ? 1 : Math.min(count, mostRounds)),
    run,
    inTurn: async (contestants, workload, rounds, size) => {
      const runs = new Map<string, Run[]>(contestants.map(({ name }) => [name, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const contestant of shuffled(contestants, random)) {
          process.stderr.write(`${workload.name} ${size ?? "small"} ${round + 1}/${rounds} ${contestant.name}\n`);
          runs.get(contestant.name)?.push(await run(contestant, workload, size));
        }
      }
      return runs;
    },
    folder: (name) => join(base, `${name}-${++folders}`),
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Fisher and Yates: whoever always ran second would always run on a warmer machine. */
function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const order = [...values];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] as T, order[last] as T];
  }
  return order;
}
