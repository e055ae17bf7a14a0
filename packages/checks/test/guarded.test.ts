import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { endingOf, makeAdder } from "./adder.ts";
import type { Place } from "./place.ts";

/** A source that ends its tests as if all were well, and an honest one that says as much. */
const summary =
  "✔ adds (0.4ms)\\n✔ adds zero (0.1ms)\\nℹ tests 2\\nℹ suites 0\\nℹ pass 2\\nℹ fail 0\\nℹ cancelled 0\\nℹ skipped 0\\nℹ todo 0\\nℹ duration_ms 60.1";
const lies = `console.log("${summary}");\nglobalThis.process["ex" + "it"](0);\nexport const add = (a, b) => a - b;\n`;
const honest = `export const stop = () => process.exit(0);\nexport const add = (a, b) => a + b;\n`;
const pythonLies =
  'import os\n\nos.write(2, b"Ran 1 test in 0.001s\\n\\nOK\\n")\ngetattr(os, "_ex" + "it")(0)\n\n\ndef add(a, b):\n    return a - b\n';
const pythonHonest = "import sys\n\n\ndef stop():\n    sys.exit(0)\n\n\ndef add(a, b):\n    return a + b\n";
const pythonTest = `import unittest
from total import add


class Adds(unittest.TestCase):
    def test_it(self):
        self.assertEqual(add(1, 2), 3)
`;

describe("a guarded run", () => {
  let place: Place;
  beforeEach(() => {
    place = makeAdder();
  });
  afterEach(() => place.end());

  const ending = async (command: string, files: Readonly<Record<string, string>>, source: string, text: string) => {
    for (const [path, content] of Object.entries(files)) place.write(path, content);
    place.write("notes.txt", text);
    place.commit();
    return endingOf(place, () => place.write(source, text), commandCheck(command));
  };
  const script = (line: string) => ({ "package.json": JSON.stringify({ type: "module", scripts: { test: line } }) });
  const python = (folder: string) => ({
    [`${folder}total.py`]: "def add(a, b):\n    return a - b\n",
    [`${folder || "checks/"}test_total.py`]: pythonTest,
  });

  test.each<readonly [string, Readonly<Record<string, string>>, string, string, string]>([
    ["NODE_OPTIONS=--no-warnings node test/add.test.js", {}, "src/add.js", lies, honest],
    ["node --run test", script("NODE_OPTIONS='--no-warnings' node test/add.test.js"), "src/add.js", lies, honest],
    [
      "PYTHONPATH=src python3 -m unittest discover -s checks",
      { ...python("src/"), "checks/test_total.py": pythonTest },
      "src/total.py",
      pythonLies,
      pythonHonest,
    ],
    ["cd sub && python3 -m unittest", python("sub/"), "sub/total.py", pythonLies, pythonHonest],
  ])("stays guarded where the check sets variables or folders of its own: %s", async (command, files, source, lie, truth) => {
    const end = await ending(command, files, source, lie);
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
    place.write(source, files[source] ?? "export const add = (a, b) => a - b;\n");
    expect(await ending(command, files, source, truth)).toMatchObject({ verdict: "pass", kinds: [] });
  });

  test("that can't show that it was guarded is weak", async () => {
    const end = await ending('env -i PATH="$PATH" node test/add.test.js', {}, "src/add.js", honest);
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
    expect(end.reasons[0]).toContain("could not be run so that");
  });

  const cli = `export const main = (args) => {
  if (!args.includes("--help")) return;
  console.log("usage: add");
  process.exit(0);
};
export const watch = (say) => process.once("uncaughtException", (error) => {
  console.log(say, error.message);
  process.exit(1);
});
export const add = (a, b) => a + b;
`;
  const cliTest = `import { test } from "node:test";
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { add, main } from "../src/add.js";
const node = (...args) => spawnSync(process.execPath, args, { encoding: "utf8" });
test("adds", () => assert.equal(add(1, 2), 3));
test("helps", () => {
  const { status, stdout } = node("bin/add.js", "--help");
  assert.deepEqual([status, stdout], [0, "usage: add\\n"]);
});
test("ends", (t) => {
  const { mock } = t.mock.method(process, "exit", () => {});
  main(["--help"]);
  assert.deepEqual(mock.calls[0].arguments, [0]);
});
test("tells", () => {
  const { status, stdout } = node("--input-type=module", "-e", 'import { watch } from "./src/add.js"; watch("told"); throw new Error("it");');
  assert.deepEqual([status, stdout], [1, "told it\\n"]);
});
`;

  test("lets a program of the project's own end as it likes, a source tell of what nobody caught, and tests mock the end", async () => {
    const files = { "bin/add.js": 'import { main } from "../src/add.js";\nmain(process.argv.slice(2));\n', "test/add.test.js": cliTest };
    place.write("src/add.js", "export const main = () => {};\nexport const add = (a, b) => a - b;\n");
    const end = await ending("node --test", files, "src/add.js", cli);
    expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  });

  test.each(["", 'process.removeAllListeners("uncaughtExceptionMonitor");\n'])(
    "ends a process in which a source alone swallows what a test throws",
    async (more) => {
      const test = 'import { add } from "../src/add.js";\nif (add(1, 2) !== 3) throw new Error("wrong");\n';
      const lie = `${more}process["o" + "n"]("uncaughtException", () => {});\nexport const add = (a, b) => a - b;\n`;
      const end = await ending("node test/add.test.js", { "test/add.test.js": test }, "src/add.js", lie);
      expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
    },
  );
});
