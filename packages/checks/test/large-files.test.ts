import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DiffCheck } from "@holdfast/protocol";
import { countSecrets } from "../src/kinds/secrets.ts";
import { makeAdder, testFile } from "./adder.ts";
import type { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makeAdder();
});
afterEach(() => place.end());

const untold: DiffCheck = {
  ...{ id: "k", name: "k", authority: "user", isRequired: true, kind: "diff" },
  ...{ only: [], never: [], maxFiles: null, maxLines: null, keepsTests: false, addsNoSecrets: false },
};

async function look(check: Partial<DiffCheck>, work: () => void) {
  const whole: DiffCheck = { ...untold, ...check };
  const baseline = await place.verifier.baseline([whole], true, place.context(), new AbortController().signal);
  work();
  const { evidence, verdict } = await place.round(baseline, whole);
  return { verdict: verdict.verdict, says: evidence[0]?.run.tail ?? "" };
}

const megabyte = 1024 * 1024;
const secret = `ghp_${"a1B2".repeat(10)}`;
const padded = (size: number): string => `//${"x".repeat(size)}\n// nothing\n`;

test("a test file that is padded is not kept, however large it became", async () => {
  expect(await look({ keepsTests: true }, () => place.write("test/add.test.js", padded(1.1 * megabyte)))).not.toMatchObject({
    verdict: "pass",
  });
  const end = await look({ keepsTests: true }, () => place.write("test/add.test.js", `${testFile}${padded(17 * megabyte)}`));
  expect(end).toMatchObject({ verdict: "weak", says: expect.stringContaining("test/add.test.js (it can't be read, or is too large)") });
});

test("a large file's lines are counted: all of a new one, and those that changed of one that was there", async () => {
  const lines = "one more line\n".repeat(100_000);
  expect(await look({ maxLines: 10 }, () => place.write("more.txt", lines))).toEqual({
    verdict: "fail",
    says: "100000 lines changed, more than 10",
  });
  place.commit();
  expect(await look({ maxLines: 10 }, () => place.write("more.txt", `${lines.slice(14)}another\n`))).toMatchObject({
    verdict: "pass",
    says: "1 file and 2 lines changed, all as allowed",
  });
});

test("lines are counted of files beyond those that are counted for a list of changes, and of a program with a zero in it", async () => {
  const work = () => {
    for (let at = 0; at < 401; at += 1) place.write(`more/${at}.txt`, "1\n");
    place.write("src/odd.js", `//\0\n${"1;\n".repeat(9)}`);
  };
  expect(await look({ maxLines: 410 }, work)).toMatchObject({ verdict: "fail", says: "411 lines changed, more than 410" });
});

test("a large file is looked through for secrets, also for one that lies where two pieces of it meet", async () => {
  const work = () => place.write("src/data.txt", `${"x ".repeat(megabyte / 2 - 10)}${secret} ${"x".repeat(megabyte)}`);
  expect(await look({ addsNoSecrets: true }, work)).toEqual({
    verdict: "fail",
    says: "src/data.txt has a secret in it that it had not before",
  });
});

test("what can't be read passes no check of what is in it", async () => {
  const work = () => {
    place.remove("src/add.js");
    execFileSync("mkfifo", [join(place.dir, "src/add.js")]);
  };
  expect(await look({ addsNoSecrets: true, maxLines: 10 }, work)).toEqual({
    verdict: "fail",
    says: "src/add.js can't be counted in lines: it can't be read\nsrc/add.js can't be read for secrets",
  });
});

test("secrets are counted the same in whatever pieces a text comes", () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${"abcd".repeat(3_000)}\n-----END RSA PRIVATE KEY-----`;
  const long = `sk-${"a1".repeat(9_000)}`;
  const text = `${"é ".repeat(3_000)}${secret}\n${"w".repeat(5_000)}${secret}\n${key}${long}\n${key}\n${"-".repeat(9_000)}${secret}`;
  for (const size of [1, 997, 4_096, 20_000, text.length]) {
    const count = countSecrets();
    for (let at = 0; at < text.length; at += size) count.take(text.slice(at, at + size));
    expect(count.end()).toBe(5);
  }
});

test("of a test file too large to be read test by test any change proves nothing; up to there it is read", async () => {
  const tests = (count: number): string =>
    testFile + Array.from({ length: count }, (_, at) => `test("${at}", () => assert.equal(add(${at}, 0), ${at}));\n`).join("");
  place.write("test/add.test.js", tests(6_000));
  place.write("test/large.test.js", tests(22_000));
  place.commit();
  const [some, all] = [tests(6_000), tests(22_000)];
  expect(some.length).toBeGreaterThan(256 * 1024);
  const hidden = await look({ keepsTests: true }, () => place.write("test/add.test.js", some.replace(/test\("5[^]*/, "/*$&*/")));
  expect(hidden).toMatchObject({ verdict: "fail", says: expect.stringContaining("tests were removed") });
  place.write("test/add.test.js", some);
  const first = await look({ keepsTests: true }, () => place.write("test/large.test.js", `process.exit(0);\n${all}`));
  expect(first).toMatchObject({ verdict: "weak", says: expect.stringContaining("test/large.test.js (") });
  place.write("test/large.test.js", all);
  const grown = await look({ keepsTests: true }, () => place.write("test/add.test.js", all));
  expect(grown).toMatchObject({ verdict: "weak" });
}, 60_000);
