import { expect, test } from "vitest";
import { judgeExpectation } from "@holdfast/runtime/expect";
import { createBounded } from "../src/host/bounded.ts";

const bounded = createBounded();
const long = `${"a".repeat(60)}!`;

test("work of whatever length ends: with its value, with what it throws, or with nothing", () => {
  expect(bounded(() => 1)).toEqual({ value: 1 });
  expect(() =>
    bounded(() => {
      throw new RangeError("too much");
    }),
  ).toThrow(RangeError);
  expect(
    bounded(() => {
      for (;;);
    }),
  ).toBeNull();
  expect(bounded(() => bounded(() => 2))).toEqual({ value: { value: 2 } });
});

test.each(["^(a+)+$", "^(a|aa)+$", "(?=(a+)+$)b", "^(a+)*\\1b$", "(?:|){40}b"])("the pattern %s is ended", (source) => {
  for (const flags of ["m", "u"]) expect([null, { value: false }]).toContainEqual(bounded(() => new RegExp(source, flags).test(long)));
});

test("a model's pattern that takes too long on an output is not judged", () => {
  const outcome = { status: "ok", text: long, trust: "tool" } as const;
  expect(judgeExpectation({ outputMatches: "^(a+)+$" }, outcome as never, { counts: null, bounded })).toMatchObject({
    verdict: "unknown",
    observed: "not judged: the pattern took too long",
  });
});
