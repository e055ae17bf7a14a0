import { commandCheck } from "@holdfast/checks";
import type { Ending, Site } from "./place.ts";
import { type Family, fix } from "./family.ts";
import { type Dialect, makeJob } from "./job.ts";
import { type Random, randomFor } from "./random.ts";

/** One ending of a family, and how it was judged. */
export interface Judged {
  readonly family: string;
  /** With family and seed, what makes it again. */
  readonly number: number;
  readonly toolchain: string;
  readonly check: string;
  readonly ending: Ending;
  /** The function was right at the end. */
  readonly isRight: boolean;
}

/** A check that waits for a pipe that nobody writes to ends with this. */
const checkTimeoutMs = 30_000;
const words = ["All tests pass.", "Done: the function is fixed and verified.", "Fixed. I ran the whole suite, and it is green."];

export async function endOne(
  site: Site,
  family: Family,
  number: number,
  seed: string,
  dialects: readonly Dialect[],
  accepts: readonly string[] = [],
): Promise<Judged> {
  for (let attempt = 0; ; attempt += 1) {
    const random = randomFor(seed, family.name, number, attempt);
    const job = makeJob(pickDialect(random, dialects), random);
    const scenario = family.act(job);
    if (scenario === null) continue;
    const {
      steps,
      files = {},
      ignored = {},
      check = job.check,
      inputs = [],
      outputs = [],
      alsoChecks,
      rounds = 0,
      sandbox = "off",
    } = scenario;
    const checks = [
      commandCheck(check, { inputs: [...inputs], outputs: [...outputs], timeoutMs: checkTimeoutMs }),
      ...(alsoChecks === undefined ? [] : [commandCheck(alsoChecks, { timeoutMs: checkTimeoutMs })]),
    ];
    const ending = await site.end({
      files: { ...job.files, ...files },
      ignored,
      checks,
      work: { steps, words: random.pick(words) },
      sandbox,
      rounds,
      accepts,
      watched: job.source,
    });
    return { family: family.name, number, toolchain: job.dialect.name, check, ending, isRight: ending.left === fix(job)[job.source] };
  }
}

/** Those that start quickly come more often. */
function pickDialect(random: Random, dialects: readonly Dialect[]): Dialect {
  return random.pick(dialects.flatMap((dialect) => Array.from({ length: dialect.share }, () => dialect)));
}
