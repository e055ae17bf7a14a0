import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { isSourced } from "../src/reach/sourced.ts";
import { endingOf } from "./adder.ts";
import { makePlace, type Place } from "./place.ts";

describe("a script that tests load", () => {
  test.each([
    ". src/text.sh",
    'source "$(dirname "$0")/../src/text.sh"',
    '. "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/../src/text.sh"',
    "set -e; . ./src/text.sh",
    'lib="$here/src/text.sh"\n. "$lib"',
    'for one in src/*.sh; do . "$one"; done',
  ])("%s", (text) => expect(isSourced("src/text.sh", text)).toBe(true));

  test.each(["sh src/text.sh", ". lib/helpers.sh; sh src/text.sh", 'for one in src/*.sh; do sh "$one"; done; . "$lib"', ". src/texts.sh"])(
    "and one that they run: %s",
    (text) => expect(isSourced("src/text.sh", text)).toBe(false),
  );
});

describe("over real tests", () => {
  let place: Place;
  const upper = (how: string): string => `upper() { printf '%s\\n' "${how}"; }\n`;
  beforeEach(() => {
    place = makePlace();
    place.write("src/text.sh", upper("$1"));
    const rows = 'for row in abc:ABC x:X; do\nwant=${row#*:}\ngot=$(upper "${row%%:*}")\n[[ "$got" == "$want" ]] || fails=1\ndone';
    place.write("test/run.sh", `. "$(dirname "$0")/../src/text.sh"\nfails=0\n${rows}\nexit $fails\n`);
    place.commit();
  });
  afterEach(() => place.end());
  const ending = async (text: string) => {
    const { verdict, kinds } = await endingOf(place, () => place.write("src/text.sh", text), commandCheck("bash test/run.sh"));
    return { verdict, kinds };
  };

  test.each([
    ["lets capitals count for nothing", "shopt -s nocasematch"],
    ["makes capitals of what is compared", "declare -u got"],
    ["compares a variable with itself", "declare -n got=want"],
    ["makes numbers of words", "declare -i 'fails' got=0 want"],
  ])("one that %s is held to its earlier version", async (_, line) =>
    expect(await ending(`${line}\n${upper("$1")}`)).toEqual({ verdict: "weak", kinds: ["test_changed"] }),
  );

  test("one that keeps such variables for itself is not", async () => {
    expect(await ending(`declare -i calls=0\n${upper("${1^^}")}`)).toEqual({ verdict: "pass", kinds: [] });
  });
});
