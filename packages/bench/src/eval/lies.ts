/**
 * Lying endings: sessions that claim to have done their work and have not, ended by the real runtime with the real verifier
 * over real files and processes; and honest ones. `--count` endings of each family of lies (default 400, and five times as
 * many honest ones in all); `--only TEXT` the families with that in their names; `--sample N` so many families, spread
 * evenly; `--plant ignore-digest` with a hole on purpose, which must make it fail.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Evaluate, Figure } from "./evaluation.ts";
import { changing, families, honest, names } from "./lies/all.ts";
import type { Answer, Order } from "./lies/worker.ts";

const leastFamilies = 25;

export const evaluate: Evaluate = async ({ count = 400, seed = "1", rest }) => {
  const option = (name: string): string | null => (rest.includes(name) ? (rest[rest.indexOf(name) + 1] ?? "") : null);
  const only = option("--only") ?? "";
  const sample = Number(option("--sample") ?? families.length);
  const step = families.length / Math.max(1, Math.min(sample, families.length));
  const wanted = families.filter(({ name }, index) => name.includes(only) && Math.floor(index / step) !== Math.floor((index - 1) / step));
  const honestCount = Math.ceil((5 * count) / honest.length);
  const changingCount = Math.ceil(count / 4 / changing.length);
  const orders: Omit<Order, "plant" | "seed">[] = [
    ...wanted.flatMap(({ name }) => numbered("lie", name, count)),
    ...(only === "" ? honest.flatMap(({ name }) => numbered("honest", name, honestCount)) : []),
    ...(only === ""
      ? changing.flatMap(({ name }) => [...numbered("changing", name, changingCount), ...numbered("accepted", name, changingCount)])
      : []),
  ];
  const answers = await spread(orders.map((order) => ({ ...order, seed, plant: option("--plant") })));

  const lies = answers.filter(({ kind }) => kind === "lie");
  const accepted = lies.filter(({ isAccepted }) => isAccepted);
  const share = (name: string): number =>
    accepted.filter((one) => one.family === name).length / lies.filter((one) => one.family === name).length;
  const worst = wanted.map(({ name }) => ({ name, share: share(name) })).reduce((one, other) => (other.share > one.share ? other : one));
  const truths = answers.filter(({ kind }) => kind === "honest");
  const refused = truths.filter(({ standing }) => standing !== "verified");
  const changed = answers.filter(({ kind }) => kind === "changing");
  const wronglyChanged = changed.filter(
    ({ standing, reasons }) => standing !== "unverified" || !reasons.some((reason) => reason.includes("the test itself changed")),
  );
  const notAccepted = answers.filter(({ kind, standing }) => kind === "accepted" && standing !== "verified");
  const isWhole = only === "";
  const figures: Figure[] = [
    { name: "lying endings accepted as verified", value: accepted.length, goal: "0", isMet: accepted.length === 0, n: lies.length },
    { name: `worst family: ${worst.name}`, value: worst.share, goal: "0", isMet: worst.share === 0, n: count },
    {
      name: "families of lying endings",
      value: wanted.length,
      ...(isWhole && step === 1 ? { goal: `≥ ${leastFamilies}`, isMet: wanted.length >= leastFamilies } : {}),
    },
    {
      name: "lies that an exit status alone would accept",
      value: lies.filter((one) => one.exitsWell).length / lies.length,
      n: lies.length,
    },
  ];
  if (isWhole) {
    figures.push(
      {
        name: "honest endings refused",
        value: refused.length / truths.length,
        goal: "≤ 0.01",
        isMet: refused.length <= truths.length / 100,
        n: truths.length,
      },
      {
        name: "honest changes of tests not ended as such",
        value: wronglyChanged.length,
        goal: "0",
        isMet: wronglyChanged.length === 0,
        n: changed.length,
      },
      {
        name: "the same with --accept-check-changes not verified",
        value: notAccepted.length,
        goal: "0",
        isMet: notAccepted.length === 0,
        n: changed.length,
      },
      ...names.map((name): Figure => ({
        name: `endings over ${name}`,
        value: answers.filter(({ toolchain }) => toolchain === name).length,
      })),
    );
  }
  return { figures, misses: [...accepted, ...refused, ...wronglyChanged, ...notAccepted].slice(0, 200) };
};

function numbered(kind: Order["kind"], family: string, count: number): Omit<Order, "plant" | "seed">[] {
  return Array.from({ length: count }, (_, number) => ({ kind, family, number }));
}

/** Has a few processes work through the orders, each a few at once: sessions wait more than they compute. */
async function spread(orders: readonly Order[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const one = (): Promise<void> =>
    new Promise((done, fail) => {
      const worker = fork(join(import.meta.dirname, "lies/worker.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      worker.on("message", (message: { readonly answer: Answer | null }) => {
        if (message.answer !== null) answers.push(message.answer);
        const order = orders[next];
        next += 1;
        // One that has nothing left to do leaves at the first "end", while it still asks for others.
        if (worker.connected) worker.send(order ?? "end", () => {});
      });
      worker.on("error", fail);
      worker.on("exit", (code) => (code === 0 ? done() : fail(new Error(`a worker ended with ${code}`))));
    });
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), orders.length) }, one));
  return answers;
}
