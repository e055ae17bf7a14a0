import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { leavesChecker, silencesLines } from "../src/reach/silencers.ts";
import { endingOf, makeAdder } from "./adder.ts";
import type { Place } from "./place.ts";

describe("a line that a checker passes over", () => {
  test.each([
    ["a.ts", "// @ts-expect-error\n", "npm run types\ntsc --noEmit"],
    ["a.ts", "const a: any = b;\n", "tsc --noEmit"],
    ["a.js", "f(); // eslint-disable-line\n", "eslint ."],
    ["a.js", '/* eslint eqeqeq: "off" */\n', "eslint ."],
    ["a.js", "/* c8 ignore next 3 */\n", "c8 --check-coverage node all.js"],
    ["a.py", "f()  # pragma: no cover\n", "pytest --cov --cov-fail-under=90"],
    ["a.ts", "f(b as unknown as number);\n", "tsc --noEmit"],
    ["a.js", "// \0\n", "! grep -rIn '^var ' src"],
    ["a.css", "/* prettier-ignore */\n", "prettier --check ."],
    ["a.py", "f()  # type: ignore[arg-type]\n", "mypy src"],
    ["a.py", "import os  # noqa: F401\n", "ruff check ."],
    ["a.rs", "#[allow(dead_code)]\n", "cargo clippy -- -D warnings"],
    ["a.go", "f() //nolint:errcheck\n", "golangci-lint run"],
    ["lib/a.sh", "# shellcheck disable=SC2086\n", "shellcheck lib/*"],
  ])("%s: %s with %s, also a second one", (path, line, commands) => {
    expect([null, "", line].map((was) => silencesLines(path, was, `${was ?? ""}${line}`, commands))).toEqual([true, true, true]);
    expect(silencesLines(path, `1\n${line}`, `${line}2\n`, commands)).toBe(false);
  });

  test("counts for nothing where the check runs no such tool, or does more than check types", () => {
    expect(silencesLines("a.ts", "", "// eslint-disable-next-line\n", "node --test")).toBe(false);
    expect(silencesLines("a.ts", "", "const a: any = b; // as many, any (of them)\n", "tsc --noEmit && node --test")).toBe(false);
  });
});

test("a file that goes where a checker does not look", () => {
  const file = (path: string, wasKind: string | null, isGone: boolean, kind = "file") => ({ path, kind, wasKind, isGone });
  const moved = (from: string, to: string, commands: string): boolean[] => {
    const all = [file(from, "file", true), file(to, null, false)];
    return all.map((one) => leavesChecker(one, all, commands));
  };
  expect(moved("src/a.js", "src/a.cjs", "eslint src")).toEqual([true, true]);
  expect(moved("src/a.ts", "src/a.js", "tsc -p .")).toEqual([true, true]);
  expect(moved("src/a.js", "src/a.ts", "tsc -p . && eslint .")).toEqual([false, false]);
  expect(moved("src/a.js", "src/a.cjs", "eslint src && node --test")).toEqual([false, false]);
  expect(moved("src/a.js", "lib/a.cjs", "eslint .")).toEqual([false, false]);
  const link = file("src/a.js", "file", false, "link");
  const lines = ["! grep -rn '^var ' src", "prettier --check src", "npm test"];
  expect(lines.map((line) => leavesChecker(link, [link], line))).toEqual([true, true, false]);
});

test("a search that passes over a link is not satisfied by one", async () => {
  const place = makeAdder();
  place.write("src/a.js", "var a = 1;\n");
  place.commit();
  const moveAway = (): void => {
    mkdirSync(join(place.dir, "lib"));
    renameSync(join(place.dir, "src/a.js"), join(place.dir, "lib/a.js"));
    symlinkSync("../lib/a.js", join(place.dir, "src/a.js"));
  };
  const end = await endingOf(place, moveAway, commandCheck("! grep -rn '^var ' src"));
  expect(end).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
  await place.end();
}, 60_000);

describe("a check of types", () => {
  let place: Place;
  beforeEach(() => {
    place = makeAdder();
    place.write("src/price.ts", `export const price = (n: number): number => n;\n${wrongLine}`);
    place.commit();
  });
  afterEach(() => place.end());
  const wrongLine = "export const text: string = price(1);\n";
  const tsc = join(import.meta.dirname, "../../../node_modules/.bin/tsc");
  const ending = (line: string) =>
    endingOf(
      place,
      () => place.write("src/price.ts", `export const price = (n: number): number => n;\n${line}`),
      commandCheck(`${tsc} --noEmit --lib es5 --skipLibCheck src/price.ts`),
    );

  test("is not satisfied by a line that it passes over", async () => {
    const end = await ending(`// @ts-ignore\n${wrongLine}`);
    expect(end).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
    expect(end.heading).toContain("src/price.ts (it silences a checker)");
  }, 120_000);

  test("is by a right one", async () => {
    expect(await ending("export const text = String(price(1));\n")).toMatchObject({ verdict: "pass", kinds: [] });
  }, 120_000);
});
