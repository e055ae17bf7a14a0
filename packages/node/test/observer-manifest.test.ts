import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { decodeManifest, encodeManifest, type FileRecord, subjectOf } from "../src/observer/manifest.ts";

function recordOf(n: number, content: string): FileRecord {
  const digest = createHash("sha256").update(content).digest("hex");
  const kept = n % 7 === 0 ? { blob: digest.slice(0, 8), offset: n } : null;
  const [oid, repo] = n % 3 === 0 ? [null, null] : [digest.slice(0, 40), n % 5 === 0 ? "lib/ä" : ""];
  return {
    root: "r1",
    path: `src/${String(n).padStart(6, "0")} "ü\t\udc80.ts`,
    kind: n % 11 === 0 ? "executable" : "file",
    digest,
    size: n,
    oid,
    repo,
    kept,
  };
}

const subjectLine = (r: FileRecord): string => `${r.kind === "file" ? "f" : "x"}\t${r.digest}\t${JSON.stringify([r.root, r.path])}\n`;

test("what is reused of an earlier manifest is written as if it were all new", () => {
  let records = Array.from({ length: 2_000 }, (_, n) => recordOf(n, `${n}`));
  for (let round = 0; round < 30; round += 1) {
    const at = (round * 2_654_435) % records.length;
    const next = recordOf(10_000 + round, `round ${round}`);
    const change = round % 5;
    if (change === 0) records = records.with(at, next);
    else if (change === 1) records = records.toSpliced(at, 1);
    else if (change === 2) records = records.toSpliced(at, 0, next);
    else if (change === 3) records = records.slice(0, -round);
    else records = [next, ...records.slice(1)];
    const bytes = encodeManifest({ records, rules: { r1: { "": "*.log\n" } } });
    const whole = structuredClone(records);
    expect(Buffer.from(bytes).equals(encodeManifest({ records: whole, rules: { r1: { "": "*.log\n" } } }))).toBe(true);
    expect(subjectOf(records)).toBe(createHash("sha256").update(whole.map(subjectLine).join("")).digest("hex"));
    if (round % 10 === 0) expect(decodeManifest(bytes).records).toEqual(whole);
  }
});

test("many files of one content are written in runs of a bounded length", () => {
  const records = Array.from({ length: 3_000 }, (_, n) => recordOf(n, "the same"));
  expect(decodeManifest(encodeManifest({ records, rules: {} })).records).toEqual(records);
  expect(decodeManifest(encodeManifest({ records: records.slice(1), rules: {} })).records).toEqual(records.slice(1));
});
