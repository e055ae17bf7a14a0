import { afterEach, beforeEach, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { endingOf } from "./adder.ts";
import { makePlace, type Place } from "./place.ts";

let place: Place;
/** Looks at what git doesn't ignore, as formatters do. */
const check = commandCheck(`git grep -q --no-index --exclude-standard -I -e ' $' -- src; [ $? -eq 1 ]`);

beforeEach(() => {
  place = makePlace();
  place.write(".gitignore", "dist/\n*.log\n");
  place.write("src/price.txt", "1 \n");
  place.write("src/deep/tax{}.txt", "1\n");
  place.commit();
});
afterEach(() => place.end());
const ending = async (work: () => void) => {
  const { verdict, kinds, reasons } = await endingOf(place, work, check);
  return { verdict, kinds, reasons: reasons.join() };
};

test.each([
  [".gitignore", "dist/\n*.log\nsrc/price.txt\n"],
  [".gitignore", "dist/\n!deep/\nprice.*\n"],
  ["src/.gitignore", "/*.txt\n"],
])("rules in %s that hide a file from the check are a change of it", async (path, rules) => {
  expect(await ending(() => place.write(path, rules))).toEqual({
    verdict: "weak",
    kinds: ["test_changed"],
    reasons: expect.stringContaining(`${path} (it hides files from the check)`),
  });
});

test("rules for what is new are none", async () => {
  const work = (): void => {
    place.write("src/price.txt", "1\n");
    place.write("src/out/made.txt", "1 \n");
    place.write(".gitignore", "dist/\n*.log\nout/\n!src/*.txt\n");
  };
  expect(await ending(work)).toEqual({ verdict: "pass", kinds: [], reasons: "" });
});
