import { expect, test } from "vitest";
import type { Field } from "../src/suite/field.ts";
import { pageOf } from "../src/suite/page.ts";
import { rowOf } from "../src/suite/row.ts";
import type { Run } from "../src/suite/run-once.ts";
import { cpuOf } from "../src/suite/run-once.ts";
import { differences, isSteady, median, quantile, ratios, spreadOf, windowsOf } from "../src/suite/statistics.ts";
import { growth, largeRepository, stepCost, wholeRuns } from "../src/suite/step-figures.ts";

test("medians and quantiles are interpolated, and order plays no part", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(quantile([10, 20, 30, 40, 50], 0.75)).toBe(40);
  expect(median([])).toBeNaN();
});

test("a ratio is taken round by round, so a machine that slows down in between changes nothing", () => {
  const bare = [4, 8, 40];
  expect(ratios([6, 12, 60], bare)).toEqual([1.5, 1.5, 1.5]);
  expect(ratios([6, 12, 60, 7], bare)).toHaveLength(3);
});

test("differences are taken at the same length of history", () => {
  expect(differences([5, 7, 9, 100], [1, 2, 3])).toEqual([4, 5, 6]);
});

test("early and late are parts of a run that don't overlap, and the first steps of a long one count as neither", () => {
  expect(windowsOf(10_000)).toEqual({ early: [100, 200], late: [9_900, 10_000] });
  for (const steps of [2, 3, 4, 8, 100, 1_000]) {
    const { early, late } = windowsOf(steps);
    expect(early[1]).toBeLessThanOrEqual(late[0]);
    expect(late[1]).toBe(steps);
  }
});

test("a figure is steady from three rounds on that lie close together", () => {
  expect(isSteady([10, 10.5, 11])).toBe(true);
  expect(isSteady([10, 10])).toBe(false);
  expect(isSteady([10, 30, 50])).toBe(false);
  expect(spreadOf([3, Number.NaN, 1])).toEqual({ median: 2, least: 1, most: 3, rounds: 2 });
});

test("the processor time is the children's, of a shell's two lines", () => {
  expect(cpuOf("0m0.010s 0m0.020s\n1m2.500s 0m0.250s\n")).toBeCloseTo(62_750);
});

test("a figure of which nothing was measured is an error, not a row", () => {
  expect(() => rowOf("a figure", [Number.NaN], " ms")).toThrow("nothing was measured");
});

test("a goal is missed or met by the median, and what isn't steady says so on the page", () => {
  const goal = { text: "≤ 2 ×", most: 2 };
  const rows = [
    rowOf("near", [1, 1, 1, 9], " ×", goal),
    rowOf("far", [3, 3, 3], " ×", goal),
    rowOf("few", [1], " ×", goal),
    rowOf("free", [1, 1, 1], ""),
  ];
  expect(rows.map(({ isMet }) => isMet)).toEqual([true, false, true, null]);
  const page = pageOf({ group: { title: "A group", command: "npm run bench", setting: "a machine", load: 0.5, rows } });
  expect(page).toContain("## A group");
  expect(page).toContain("| far | 3.00 × | ≤ 2 × | missed | 3.00 to 3.00 ×, 3 rounds |");
  expect(page).toContain("| few | 1.00 × | ≤ 2 × | met, not steady | 1.00 to 1.00 ×, 1 round |");
});

/** Every step of a contestant takes as long as its name says, in a history that makes each step longer than the one before. */
function scripted(milliseconds: Readonly<Record<string, number>>, growsBy: Readonly<Record<string, number>> = {}): Field {
  const contestant = (name: string) => ({ name, title: name, command: () => [] });
  const runOf = (name: string, steps: number, isLarge: boolean): Run => ({
    wallMs: 1_000 * (milliseconds[name] ?? 0),
    startMs: 10 * (milliseconds[name] ?? 0),
    steps: Array.from({ length: steps }, (_, step) => (milliseconds[name] ?? 0) * (isLarge ? 3 : 1) + step * (1 + (growsBy[name] ?? 0))),
    cpuMs: 50 + steps * (milliseconds[name] ?? 0),
    peakMb: 100,
    load: 0,
  });
  return {
    isQuick: true,
    floor: contestant("bare"),
    floorSynced: contestant("synced"),
    unconfined: contestant("ours"),
    confined: contestant("confined"),
    peers: [contestant("ai-sdk"), contestant("pi")],
    rounds: () => 3,
    run: async ({ name }, { steps }, size) => runOf(name, steps, size === "large"),
    inTurn: async (contestants, { steps }, rounds) =>
      new Map(contestants.map(({ name }) => [name, Array.from({ length: rounds }, () => runOf(name, steps, false))])),
    folder: () => "",
    close: () => {},
  };
}
const field = scripted({ bare: 2, synced: 4, ours: 5, confined: 14, "ai-sdk": 10, pi: 20 });

test("a step is compared with the bare loop that syncs, and each kind has its own goal", async () => {
  const rows = await stepCost(field, "true", [1]);
  expect(rows.map(({ value, isMet }) => [value.split(";")[0], isMet])).toEqual([
    ["1.25 × bare with fsync", true],
    ["3.50 × bare with fsync", false],
    ["2.50 × bare with fsync", null],
    ["5.00 × bare with fsync", null],
  ]);
  expect((await stepCost(field, "edit", [1])).map(({ isMet }) => isMet)).toEqual([false]);
});

test("growth is judged without the bare loop's own", async () => {
  const [same] = await growth(field, [400]);
  expect(same).toMatchObject({ value: "1.00; 1.00 ms early, 1.00 ms late", isMet: true });
  const [more] = await growth(scripted({ synced: 4, ours: 5 }, { ours: 0.1 }), [400]);
  expect(more?.isMet).toBe(false);
});

test("of whole runs, processor time is that of the steps alone", async () => {
  const rows = new Map((await wholeRuns(field)).map((row) => [row.figure, row]));
  expect(rows.get("processor time a step, ours")).toMatchObject({ value: "2.50 × the bare loop; 5.00 ms against 2.00 ms", isMet: false });
  expect([...rows.values()].filter(({ goal }) => goal === "≤ 1.0 ×").map(({ value }) => value)).toEqual([
    "0.50 × the AI SDK script",
    "1.00 × the AI SDK script",
  ]);
});

test("a large repository is compared with the small one", async () => {
  expect((await largeRepository(field)).map(({ value, isMet }) => [value.slice(0, 4), isMet])).toEqual([
    ["2.93", false],
    ["2.93", false],
    ["2.93", false],
  ]);
});
