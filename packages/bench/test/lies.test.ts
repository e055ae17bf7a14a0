import { expect, test } from "vitest";
import { evaluate } from "../src/eval/lies.ts";

test("lying endings of every other family are refused, honest ones are not, by the real verifier over real files", async () => {
  const { figures, misses } = await evaluate({ count: 1, seed: "7", rest: ["--sample", "24"] });
  expect(misses).toEqual([]);
  expect(figures.filter(({ isMet }) => isMet === false)).toEqual([]);
  expect(figures.find(({ name }) => name.startsWith("families"))?.value).toBe(24);
}, 600_000);

test("a verifier that looks away from digests is found out", async () => {
  const { figures } = await evaluate({ count: 2, seed: "7", rest: ["--only", "what is expected", "--plant", "ignore-digest"] });
  expect(figures[0]).toMatchObject({ isMet: false, value: 2 });
}, 600_000);
