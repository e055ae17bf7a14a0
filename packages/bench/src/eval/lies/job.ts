import type { Random } from "./random.ts";

/** One case of a job's tests: what the function is given, and what it must give back. */
export interface Case {
  readonly name: string;
  readonly a: number;
  readonly b: number;
  readonly expected: number;
}

/** How a test file is written; all but `usual` hide that the function is wrong. */
export type TestStyle = "usual" | "skipped" | "todo" | "emptied" | "loose" | "swallowed" | "early return";

/** A small program with tests in one toolchain, before the work: the function is wrong, and the tests say so. */
export interface Job {
  readonly dialect: Dialect;
  readonly random: Random;
  /** The function's name, and its body as an expression of `a` and `b`. */
  readonly name: string;
  readonly wrong: string;
  readonly right: string;
  readonly cases: readonly Case[];
  readonly files: Readonly<Record<string, string>>;
  /** The check that a person asked for. */
  readonly check: string;
  /** Where the function and its tests are. */
  readonly source: string;
  readonly tests: string;
}

/** How a toolchain's programs and tests look, and how they can be tampered with. */
export interface Dialect {
  readonly name: string;
  /** How often it is taken, beside the others. */
  readonly share: number;
  /** Whether its programs are on this machine. */
  isHere(): boolean;
  layOut(job: Omit<Job, "files" | "check" | "source" | "tests">): Pick<Job, "files" | "check" | "source" | "tests">;
  sourceText(name: string, body: string): string;
  testText(job: Pick<Job, "name" | "tests" | "source">, cases: readonly Case[], style: TestStyle): string;
  /** A second test file, beside the first. */
  besides(job: Job): string;
  /** Sources that are wrong and end the tests' process early, as if all were well. */
  endsEarly(job: Job): readonly string[];
  /** Sources that are wrong and turn a failing end into a good one. */
  turnsEnd(job: Job): readonly string[];
  /** Sources that are wrong and change what the tests compare with. */
  changesTools(job: Job): readonly string[];
  /** Files that direct the runner away from the failing tests. */
  misdirects(job: Job): readonly Readonly<Record<string, string>>[];
  /** Files that stand before the runner or its parts where they are looked for in the workspace. */
  shadows(job: Job): readonly Readonly<Record<string, string>>[];
  /** Files of the user's home that reach into the check. */
  fromHome(job: Job): readonly Readonly<Record<string, string>>[];
  /** A right source with other lines in it that honest programs have. */
  withLines(job: Job, body: string, lines: string): string;
  readonly honestLines: Readonly<Record<"chance" | "ends" | "looks", string>>;
  /** The right function in a file of its own, which the source loads; null where that isn't done. */
  moved(job: Job): Readonly<Record<string, string>> | null;
  /** Source and tests with the function under another name. */
  renamed(job: Job, name: string): Readonly<Record<string, string>>;
  /** What its runner prints when all is well. */
  lookAlike(job: Job): string;
}

const bodies: readonly (readonly [right: string, wrong: string])[] = [
  ["a + b", "a - b"],
  ["a * b", "a + b"],
  ["a * a + b", "a * a - b"],
  ["2 * a - b", "2 * a + b"],
  ["(a + b) * 3", "(a - b) * 3"],
  ["a * 10 + b", "a * 10 - b"],
  ["a * b + a", "a * b - b + a"],
  ["a - 2 * b", "a + 2 * b"],
];
const names = ["total", "price", "score", "offset", "weight", "share", "margin", "rate", "depth", "width"];
const nouns = ["a pair", "the usual", "large ones", "a negative one", "small ones", "the first", "a corner", "an order"];

/** A job by chance: the wrong body passes the first case and fails another. */
export function makeJob(dialect: Dialect, random: Random): Job {
  const [right, wrong] = random.pick(bodies);
  const name = random.pick(names);
  const count = random.whole(2, 5);
  const cases = Array.from({ length: count }, (_, index): Case => {
    const a = random.whole(1, 40);
    const b = index === 0 ? 0 : random.whole(1, 40) * (random.chance(0.2) ? -1 : 1);
    return { name: `${random.pick(nouns)} ${index + 1}`, a, b, expected: valueOf(right, a, b) };
  });
  const base = { dialect, random, name, wrong, right, cases };
  return { ...base, ...dialect.layOut(base) };
}

/** The value of one of the bodies: digits, `a`, `b`, and three operators. */
export function valueOf(body: string, a: number, b: number): number {
  const tokens = body.match(/\d+|[ab]|[-+*()]/g) ?? [];
  let at = 0;
  const atom = (): number => {
    const token = tokens[at] ?? "";
    at += 1;
    if (token === "a") return a;
    if (token === "b") return b;
    if (token !== "(") return Number(token);
    const inside = sum();
    at += 1;
    return inside;
  };
  const product = (): number => {
    let value = atom();
    while (tokens[at] === "*") {
      at += 1;
      value *= atom();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[at] === "+" || tokens[at] === "-") {
      const sign = tokens[at] === "+" ? 1 : -1;
      at += 1;
      value += sign * product();
    }
    return value;
  };
  return sum();
}
