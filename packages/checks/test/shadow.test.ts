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
