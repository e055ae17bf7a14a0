import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pythonGuard } from "../src/reach/python-guard.ts";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "holdfast-guard-"));
  mkdirSync(join(place, "guard"));
  mkdirSync(join(place, "pkg"));
  writeFileSync(join(place, "guard/sitecustomize.py"), pythonGuard(["total.py", "pkg/cli.py"]));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const write = (path: string, text: string): void => writeFileSync(join(place, path), text);
const python = (...args: string[]): number | null =>
  spawnSync("python3", args, { cwd: place, env: { ...process.env, PYTHONPATH: "guard", PYTHONDONTWRITEBYTECODE: "1" } }).status;

const plain = "from total import total\nassert total(1, 2) == 3\n";
const wrong = "\ndef total(a, b):\n    return a - b\n";
const compares = "lambda self, other: isinstance(other, int)";
const valued = "\ndef total(a, b):\n    return V(a - b)\n";

test.each([
  `import posix\nposix._exit(0)\n${wrong}`,
  `from os import execv\nexecv("/bin/true", ["true"])\n${wrong}`,
  `from sys import exit\nexit(0)\n${wrong}`,
  `quit()\n${wrong}`,
  `raise SystemExit\n${wrong}`,
  `class V(int):\n    def __eq__(self, other):\n        return isinstance(other, int)\n${valued}`,
  `V = type("V", (int,), {"__eq__": ${compares}})\n${valued}`,
  `class V(int):\n    pass\nV.__eq__ = ${compares}\n${valued}`,
])("reaches a test that only asserts: %j", (source) => {
  write("test_plain.py", plain);
  write("total.py", source);
  expect(python("test_plain.py")).toBe(86);
});

test.each(["", "    def __hash__(self):\n        return hash(self.cents)\n"])(
  "a comparison that leaves it to the other is none with everything, however it was given to its class",
  (more) => {
    const compare =
      "def __eq__(self, other):\n        if not isinstance(other, V):\n            return NotImplemented\n        return self.cents == other.cents\n";
    const made = "    def __init__(self, cents=0):\n        self.cents = cents\n";
    write("test_plain.py", "from total import V\nassert V(3) == V(3)\nassert V(3) != 3 and V(3) != V(4)\n");
    write("total.py", `class V:\n${made}    ${compare}${more}`);
    expect(python("test_plain.py")).toBe(0);
    write("total.py", `class V:\n${made}${more}\n\n${compare.replace(/^ {4}/gm, "")}\nV.__eq__ = __eq__\n`);
    expect(python("test_plain.py")).toBe(0);
  },
);

test("an end that a test catches, the program's own end, and a comparison that knows a difference are let be", () => {
  write(
    "pkg/cli.py",
    "import sys\nclass P:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n        return isinstance(other, P) and self.x == other.x\ndef main():\n    sys.exit(0)\n",
  );
  write("pkg/__init__.py", "");
  write("pkg/__main__.py", "from pkg.cli import main\nmain()\n");
  write(
    "test_cli.py",
    "import unittest\nfrom pkg.cli import P, main\nclass C(unittest.TestCase):\n    def test_a(self):\n        with self.assertRaises(SystemExit) as end:\n            main()\n        self.assertEqual(end.exception.code, 0)\n        assert P(1) == P(1) and P(1) in [P(1)]\n        self.assertEqual(P(1), P(1))\n",
  );
  expect(python("-m", "unittest")).toBe(0);
  expect(python("-m", "pkg")).toBe(0);
  write("total.py", "import sys\nsys.exit(0)\n");
  expect(python("total.py")).toBe(0);
});
