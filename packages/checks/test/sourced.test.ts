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
  const rows = 'for row in abc:ABC x:X; do\nwant=${row#*:}\ngot=$(upper "${row%%:*}")\n[[ "$got" == "$want" ]] || fails=1\ndone';
  const tests = `look() { [[ "$1" == "$2" ]]; }\n. "$(dirname "$0")/../src/text.sh"\nfails=0\n${rows}\n: | tr a b\n`;
  const upper = (how: string): string => `upper() { printf '%s\\n' "${how}"; }\n`;
  beforeEach(() => {
    place = makePlace();
    place.write("src/text.sh", upper("$1"));
    place.write("test/run.sh", `${tests}exit $fails\n`);
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

  test.each([
    ["says that all is well", "done_() { fails=0; }"],
    ["forgets what failed", "done_() { unset fails; }"],
    ["has a program of its own by a name that they use", "tr() { :; }"],
    ["has a function of theirs", "look() { :; }"],
    ["takes one away", "unset -f look"],
  ])("so is a right one that %s", async (_, line) =>
    expect(await ending(`${line}\n${upper("${1^^}")}`)).toEqual({ verdict: "weak", kinds: ["test_changed"] }),
  );

  const cleans = `tmp=$(mktemp)\ntrap 'rm -f "$tmp"' EXIT\nprintf '%s\\n' "$1" > "$tmp"\ntr a-z A-Z < "$tmp"\n`;
  test.each([
    ["in a shell of its own", `upper() (\n${cleans})\n`, "pass"],
    ["for the tests' own shell", `upper() {\n${cleans}}\ntrap 'rm -f "$tmp"' EXIT\n`, "weak"],
    ["by more than removing files", `upper() (\n${cleans}trap 'rm -f "$tmp"; exit 0' EXIT\n)\n`, "weak"],
  ])("one that cleans up %s, where the tests do so", async (_, text, verdict) => {
    place.write("test/run.sh", `trap 'exit $fails' EXIT\n${tests}`);
    place.commit();
    expect((await ending(text)).verdict).toBe(verdict);
  });
  test("and without tests that do so, it may for them, too", async () =>
    expect((await ending(`upper() {\n${cleans}}\n`)).verdict).toBe("pass"));

  test("one that keeps such variables for itself is not", async () => {
    const own = "declare -i calls=0\nfails_of() { local fails=0; echo $fails; }\ntrim() { :; }";
    expect(await ending(`${own}\n${upper("${1^^}")}`)).toEqual({ verdict: "pass", kinds: [] });
  });
});
