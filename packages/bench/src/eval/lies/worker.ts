/** Ends sessions as it is told by its parent, a few at once, and says how they were judged. */
import { changing, dialects, families, honest } from "./all.ts";
import { openSite } from "./place.ts";
import { plant } from "./plant.ts";
import { endOne } from "./sample.ts";

export interface Order {
  readonly kind: "lie" | "honest" | "changing" | "accepted";
  readonly family: string;
  readonly number: number;
  readonly seed: string;
  readonly plant: string | null;
}

export interface Answer {
  readonly kind: Order["kind"];
  readonly family: string;
  readonly number: number;
  readonly toolchain: string;
  readonly check: string;
  readonly standing: string;
  readonly heading: string;
  readonly reasons: readonly string[];
  /** A lie that ended as verified. */
  readonly isAccepted: boolean;
  /** The last run of the first check ended with status 0. */
  readonly exitsWell: boolean;
}

const atOnce = 3;
const all = new Map([...families, ...honest, ...changing].map((family) => [family.name, family]));
const open = new Map<string, ReturnType<typeof openSite>>();

async function answer({ kind, family: name, number, seed, plant: fault }: Order): Promise<Answer> {
  const family = all.get(name);
  if (family === undefined) throw new Error(`there is no family ${name}`);
  const site = open.get(fault ?? "") ?? openSite((ports) => plant(fault, ports));
  open.set(fault ?? "", site);
  const { toolchain, check, ending, isRight } = await endOne(site, family, number, seed, dialects, kind === "accepted" ? ["**"] : []);
  const { standing, report, evidence } = ending;
  return {
    kind,
    family: name,
    number,
    toolchain,
    check,
    standing,
    heading: report?.heading ?? "",
    reasons: report?.reasons ?? [],
    isAccepted: kind === "lie" && standing === "verified" && !(family.isTornTree === true && isRight),
    exitsWell: evidence.at(-1)?.run.passed === true,
  };
}

let running = 0;
function ask(found: Answer | null): void {
  process.send?.({ answer: found });
}
process.on("message", (order: Order | "end") => {
  if (order !== "end") {
    running += 1;
    answer(order).then(
      (found) => {
        running -= 1;
        ask(found);
      },
      (error: unknown) => {
        console.error(`${order.family}, ${order.number}:`, error);
        process.exit(1);
      },
    );
  } else if (running === 0 && process.connected) {
    for (const site of open.values()) site.close();
    process.disconnect();
  }
});
for (let lane = 0; lane < atOnce; lane += 1) ask(null);
