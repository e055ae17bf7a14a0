import { expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { endingOf } from "./adder.ts";
import { makePlace } from "./place.ts";

test("a new package with the name of an untouched module is no work", async () => {
  const place = makePlace();
  try {
    place.write("src/total.py", "def total(a, b):\n    return a - b\n");
    place.write(
      "test_total.py",
      "import unittest\nfrom total import total\n\n\nclass Adds(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(total(1, 2), 3)\n",
    );
    place.commit();
    const check = commandCheck("PYTHONPATH=src python3 -m unittest");
    const end = await endingOf(place, () => place.write("total/__init__.py", "def total(a, b):\n    return 3\n"), check);
    expect(end).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
  } finally {
    place.end();
  }
});

test("nor is a file beside an untouched source that a language finds first, or a source that looks through the tests", async () => {
  const place = makePlace();
  try {
    const text = (body: string): string => `exports.add = (a, b) => ${body};\n`;
    place.write("src/add.js", text("a - b"));
    place.write("test/all.js", 'const { add } = require("../src/add");\nif (add(1, 2) !== 3) process.exit(1);\n');
    place.commit();
    const check = commandCheck("node test/all.js");
    const beside = await endingOf(place, () => place.write("src/add", text("a + b")), check);
    expect(beside).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
    place.remove("src/add");
    const read =
      'const fs = require("node:fs");\nconst [, one] = /!== (\\d)/.exec(fs.readFileSync("test/" + fs.readdirSync("test")[0], "utf8"));\n';
    const looks = await endingOf(place, () => place.write("src/add.js", `${read}${text("Number(one)")}`), check);
    expect(looks).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
  } finally {
    await place.end();
  }
});

test("a new file that is found before a folder of its name, or a package before a module, is none; one that is named with its ending is", async () => {
  const place = makePlace();
  try {
    const text = (body: string): string => `exports.add = (a, b) => ${body};\n`;
    const loads = (what: string): string => `if (require("${what}").add(1, 2) !== 3) process.exit(1);\n`;
    place.write("src/add/index.js", text("a - b"));
    place.write("test/all.js", loads("../src/add"));
    place.commit();
    const check = commandCheck("node test/all.js");
    const before = await endingOf(place, () => place.write("src/add.js", text("a + b")), check);
    expect(before).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
    place.write("src/add.js", text("a - b"));
    place.write("test/all.js", loads("../src/add.js"));
    place.write("src/plus/index.js", text("a + b"));
    place.remove("src/add.js");
    place.commit();
    const named = await endingOf(place, () => place.write("src/add.js", 'exports.add = require("./plus").add;\n'), check);
    expect(named).toMatchObject({ verdict: "pass", kinds: [] });
    place.write("shop/__init__.py", "");
    place.write("shop/total.py", "def total(a, b):\n    return a - b\n");
    place.write("test/total.py", "from shop.total import total\n\nassert total(1, 2) == 3\n");
    place.commit();
    const asPackage = (): void => place.write("shop/total/__init__.py", "def total(a, b):\n    return a + b\n");
    const python = await endingOf(place, asPackage, commandCheck("PYTHONPATH=. python3 test/total.py"));
    expect(python).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
  } finally {
    await place.end();
  }
});

test("a part of a suite that is loaded by its folder alone is a part of the tests", async () => {
  const place = makePlace();
  try {
    place.write("src/add.mjs", "export const add = (a, b) => a - b;\n");
    place.write("run.mjs", "import fs from 'node:fs';\nfor (const name of fs.readdirSync('units')) await import('./units/' + name);\n");
    place.write("units/a.mjs", "import { add } from '../src/add.mjs';\nif (add(1, 2) !== 3) throw new Error('no');\n");
    place.commit();
    const end = await endingOf(place, () => place.write("units/a.mjs", "import '../src/add.mjs';\n"), commandCheck("node run.mjs"));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
  } finally {
    await place.end();
  }
});
