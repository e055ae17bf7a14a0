import { utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

let place: Place;
const right = "f() { echo $(($1 + $2)); }\n";
const wrong = right.replace("+", "-");
const stamped = "set -e\n[ ! -e out/ran ] || exit 0\nsh test/f.sh\nmkdir -p out\ntouch out/ran\n";

beforeEach(() => {
  place = makePlace();
  place.write("test/f.sh", '. ./lib/f.sh\n[ "$(f 1 2)" = 3 ]\n');
  place.write("run.sh", stamped);
});
afterEach(() => place.end());

async function ending(ignores: string, first: string, last: string, outputs: string[]) {
  place.write(".gitignore", ignores);
  place.write("lib/f.sh", first);
  place.commit();
  const check = commandCheck("sh run.sh", { outputs });
  const baseline = await place.baseline(check);
  place.write("lib/f.sh", last);
  const { evidence, verdict } = await place.round(baseline, check);
  return { verdict: verdict.verdict, kinds: evidence.flatMap(({ weaknesses }) => weaknesses.map(({ kind }) => kind)) };
}

for (const [what, ignores, outputs] of [
  ["a declared output", "", ["out/**"]],
  ["an ignored file", "out/\n", []],
] as const) {
  test(`a stamp that the first run left, ${what}, shows nothing of a later tree`, async () => {
    expect(await ending(ignores, right, wrong, [...outputs])).toEqual({ verdict: "weak", kinds: ["stale_build"] });
  });

  test(`a check that passes without its stamp, ${what}, passes`, async () => {
    expect(await ending(ignores, wrong, right, [...outputs])).toEqual({ verdict: "pass", kinds: [] });
    expect(await ending(ignores, right, `${right}\n`, [...outputs])).toEqual({ verdict: "pass", kinds: [] });
  });
}

describe("what make takes for done", () => {
  const rules = "test: $(patsubst %,%.tested,$(wildcard lib/*.sh))\n%.tested: %\n\tsh test/f.sh && touch $@\n";
  const ended = async (last: string, stamp: string | null) => {
    place.write("Makefile", rules);
    place.write("lib/f.sh", wrong);
    place.commit();
    const check = commandCheck("make test");
    const baseline = await place.baseline(check);
    place.write("lib/f.sh", last);
    if (stamp !== null) {
      place.write(stamp, "ok\n");
      utimesSync(join(place.dir, stamp), new Date("2099-01-01"), new Date("2099-01-01"));
    }
    const { evidence, verdict } = await place.round(baseline, check);
    return { verdict: verdict.verdict, kinds: evidence.flatMap(({ weaknesses }) => weaknesses.map(({ kind }) => kind)) };
  };

  test("a stamp that the session wrote shows nothing", async () => {
    expect(await ended(`${wrong}\n`, "lib/f.sh.tested")).toEqual({ verdict: "weak", kinds: ["stale_build"] });
  });

  test("what passes also where it is made anew passes", async () => {
    expect(await ended(right, "lib/f.sh.tested")).toEqual({ verdict: "pass", kinds: [] });
  });

  test("a stamp of the check's own run is made anew too", async () => {
    expect(await ended(right, null)).toEqual({ verdict: "pass", kinds: [] });
  });
});
