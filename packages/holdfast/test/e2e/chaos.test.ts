import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const loop = join(import.meta.dirname, "../../../bench/src/chaos.ts");
const chaos = (...args: string[]) => spawnSync(process.execPath, [loop, ...args], { encoding: "utf8" });

test("killed 300 times at work, sessions end with nothing lost, doubled, left behind or told otherwise than it was", () => {
  const { status, stdout } = chaos("--kills", "300", "--seed", "1");
  expect({ status, report: status === 0 ? "" : stdout }).toEqual({ status: 0, report: "" });
  expect(Number(/kills: (\d+)/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(300);
  const inFlight = ["safe", "keyed", "probe", "never"].map((name) => Number(new RegExp(`^  ${name}: (\\d+)$`, "m").exec(stdout)?.[1]));
  for (const kills of inFlight) expect(kills).toBeGreaterThan(0);
}, 600_000);

test.each([
  ["settle-before-effect", "said to be done, and was not"],
  ["skip-intent", "it was done"],
  ["skip-claim", "it was done"],
])(
  "chaos finds a fault that is planted: %s",
  (fault, told) => {
    const { status, stdout } = chaos("--kills", "400", "--seed", "1", "--lanes", "1", "--fault", fault);
    expect({ status, stdout }).toEqual({ status: 1, stdout: expect.stringContaining(told) as string });
  },
  300_000,
);
