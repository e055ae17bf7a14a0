import { compileGlob, globBase } from "@holdfast/runtime/paths/glob";
import { isProtectedPath } from "@holdfast/runtime/paths/protected";
import { expect, test } from "vitest";

test("a glob means one thing", () => {
  const cases: [string, string[], string[]][] = [
    ["*.ts", ["a.ts", "deep/er/a.ts", ".hidden.ts"], ["a.tsx", "a.ts/b"]],
    ["/*.ts", ["a.ts"], ["src/a.ts"]],
    ["./src/*.ts", ["src/a.ts"], ["src/deep/a.ts", "x/src/a.ts"]],
    ["src/**", ["src/a", "src/b/c"], ["src", "xsrc/a"]],
    ["src/", ["src/a", "src/b/c"], ["lib/src/a"]],
    ["**/test/**/*.js", ["test/a.js", "a/test/b/c.js"], ["tests/a.js"]],
    ["a/**/b", ["a/b", "a/x/y/b"], ["ab", "a/xb"]],
    ["**", ["a", "a/b", ".c"], []],
    ["{a,b/**}", ["a", "b/c/d"], ["c"]],
    ["*.{js,{ts,mts}}", ["x.js", "x.mts"], ["x.cts", "x.{js"]],
    ["file?.[ch]", ["file1.c", "fileé.h"], ["file.c", "file12.c", "file1.x"]],
    ["[!a]b", ["cb"], ["ab", "/b"]],
    ["[z-a", ["[z-a"], ["z"]],
    ["{open", ["{open"], ["open"]],
    ["a\\*b", ["a*b"], ["axb"]],
    ["(x)+$", ["(x)+$"], ["x"]],
  ];
  for (const [pattern, yes, no] of cases) {
    const matches = compileGlob(pattern);
    for (const path of yes) expect(matches(path), `${pattern} ~ ${path}`).toBe(true);
    for (const path of no) expect(matches(path), `${pattern} ~ ${path}`).toBe(false);
  }
});

test("a glob whose class makes no sense matches nothing and throws nothing", () => {
  expect(compileGlob("[z-a]")("z")).toBe(false);
});

test("the fixed front of a glob is the folder to look in", () => {
  expect(["src/lib/*.ts", "*.ts", "src/a.ts", "/a/b/**/c", "a/../b/*", "{a,b}/c"].map(globBase)).toEqual([
    "src/lib",
    "",
    "src",
    "a/b",
    "a",
    "",
  ]);
});

test("protected places are known however they are written", () => {
  for (const path of [
    ".git",
    "a/.GIT/hooks/x",
    ".git./config",
    "GIT~1/config",
    ".g\u200cit/config",
    ".git::$INDEX_ALLOCATION/x",
    "sub/.envrc",
    ".Bashrc",
  ]) {
    expect(isProtectedPath(path), path).toBe(true);
  }
  for (const path of [".gitattributes", "git/hooks/x", ".envrc/x", "src/.github/a", "npmrc"])
    expect(isProtectedPath(path), path).toBe(false);
});
