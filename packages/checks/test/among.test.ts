import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { findInputs } from "../src/inputs.ts";
import { makePlace, type Place } from "./place.ts";

describe("what a glob of a check matches", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
    for (const [path, content] of Object.entries(files)) place.write(path, content);
  });
  afterEach(() => place.end());

  const files: Readonly<Record<string, string>> = {
    "src/a.c": "#include <assert.h>\nint twice(int x) { assert(x > 0); return 2 * x; }\n",
    "src/tries.c": "#include <assert.h>\nint twice(int);\nint main(void) { assert(twice(2) == 4); return 0; }\n",
    "src/a.sh": 'twice() {\n  [ "$1" = 0 ] && exit 1\n  echo $(($1 * 2))\n}\n',
    "src/a.java": "class A { static int twice(int x) { return 2 * x; } }\n",
    "shop/a.py": "def twice(x):\n    return 2 * x\n",
    "lib/A.pm": "package A;\nsub twice { 2 * shift }\n1;\n",
    "steps/a.sh": '. src/a.sh\n[ "$(twice 2)" = 4 ] || exit 1\n',
    "steps/b.sh": "twice() {\n  echo 4\n}\n",
    "rows/a.csv": "2,4\n",
    "a.js": "export const twice = (x) => 2 * x;\n",
  };

  async function inputs(command: string, script = ""): Promise<string[]> {
    place.write("test/run.sh", script);
    const { manifest } = await place.observer.snapshot(null);
    const workplace = { cwd: place.dir, roots: [{ id: "main", path: place.dir }] };
    const found = await findInputs(commandCheck(command), manifest, place.observer, workplace);
    return [...found.inputs.values()].map(({ entry }) => entry.path).filter((path) => path !== "test/run.sh" && path !== "Makefile");
  }

  test.each([
    ["a compiler", "gcc -o t src/*.c tests/*.c && ./t", ["src/tries.c"]],
    ["a compiler, by what a search finds", 'javac -d out $(find src test -name "*.java") && java -ea A', []],
    ["a compiler, by a list", 'find src -name "*.java" > list; javac @list && java -ea A', []],
    ["a reader", "python3 -m unittest && wc -l shop/*.py", []],
    ["a search", '! grep -rn --include="*.py" "breakpoint()" . && prove -l', []],
    ["a search of what git has", 'git ls-files "*.py" | xargs grep -Ln breakpoint', []],
    ["who only compiles Python", "python3 -m py_compile shop/*.py && python3 -m unittest", []],
    ["a shell that only reads", "bash -n src/*.sh && bash test/run.sh", []],
    ["a loop that only reads", "for one in src/*.sh lib/*.pm; do bash -n $one; perl -Ilib -c $one || exit 1; done; prove -l", []],
    ["who reads data", "cat rows/*.csv | sort", ["rows/a.csv"]],
    ["who reads what is a test by what it says", "bash -n steps/*.sh", ["steps/a.sh"]],
  ])("is no test for all that where %s is given it: %s", async (_, command, expected) => {
    expect(await inputs(command)).toEqual(expected);
  });

  test.each([
    "want=$((a * 4)); [ $((2 * 3)) -eq 6 ]\n",
    'case "$(twice 2)" in\n  *4*) ;;\n  src/*) exit 1 ;;\n  *) exit 1 ;;\nesac\n',
    '[[ "$(twice 2)" == *4* ]] || exit 1\n',
    "want=$(expr 2 \\* 2)\necho *\nrm -f src/*.o build/*\n",
  ])("is nothing where a star is no file: %s", async (script) => {
    expect(await inputs("bash test/run.sh", `. src/a.sh\n${script}`)).toEqual([]);
  });

  test("is no test where a recipe compiles it", async () => {
    place.write("Makefile", "test:\n\t$(CC) -o t $(wildcard src/a*.c)\n\tjavac $(shell find src -name '*.java')\n\t./t\n");
    expect(await inputs("make test")).toEqual([]);
  });

  test.each([
    ["node --test *.js", "a.js"],
    ["python3 -m pytest shop/*.py", "shop/a.py"],
    ["npx mocha *.js", "a.js"],
    ["prove -l lib/*.pm", "lib/A.pm"],
    ["run-parts steps/*", "steps/b.sh"],
    ["for one in steps/*.sh; do bash -e $one || exit 1; done", "steps/b.sh"],
    ["for one in steps/*.sh; do\n  [ -x $one ] || continue\n  ./$one\ndone", "steps/b.sh"],
    ['each() { sh "$1"; }; for one in steps/*.sh; do each "$one"; done', "steps/b.sh"],
    ["find steps -name '*.sh' -print0 | xargs -0 -n1 bash", "steps/b.sh"],
    ["find steps -name '*.sh' -exec bash {} \\;", "steps/b.sh"],
    ['find steps -name "*.sh" | while read -r one; do sh "$one"; done', "steps/b.sh"],
    ["ls steps/*.sh > list; xargs -n1 sh < list", "steps/b.sh"],
    ["D=steps; for one in $D/*.sh; do sh $one; done", "steps/b.sh"],
    ["all=$(ls steps/*.sh); for one in $all; do sh $one; done", "steps/b.sh"],
    ["pytest $(find shop -name '*.py')", "shop/a.py"],
    ["cat steps/*.sh | sh", "steps/b.sh"],
  ])("is a test where it is run: %s", async (command, expected) => {
    expect(await inputs(command)).toContain(expected);
  });
});
