import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { decodeManifest, encodeManifest, type FileRecord, manifestBlobs, readManifest, subjectOf } from "../src/observer/manifest.ts";

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
    const { bytes } = encodeManifest({ records, rules: { r1: { "": "*.log\n" } } });
    const whole = structuredClone(records);
    expect(Buffer.from(bytes).equals(encodeManifest({ records: whole, rules: { r1: { "": "*.log\n" } } }).bytes)).toBe(true);
    expect(subjectOf(records)).toBe(createHash("sha256").update(whole.map(subjectLine).join("")).digest("hex"));
    if (round % 10 === 0) expect(decodeManifest(bytes).records).toEqual(whole);
  }
});

test("many files of one content are written in runs of a bounded length", () => {
  const records = Array.from({ length: 3_000 }, (_, n) => recordOf(n, "the same"));
  expect(decodeManifest(encodeManifest({ records, rules: {} }).bytes).records).toEqual(records);
  expect(decodeManifest(encodeManifest({ records: records.slice(1), rules: {} }).bytes).records).toEqual(records.slice(1));
});

test("against a base only what is another is written, and read back it is the same; one that shares little is written whole", async () => {
  const whole = Array.from({ length: 4_000 }, (_, n) => recordOf(n, `${n}`));
  const base = { id: "base", manifest: { records: whole, rules: { r1: { "": "*.log\n" } } } };
  const first = encodeManifest(base.manifest).bytes;
  const next = recordOf(9_000, "next");
  const few = [
    whole.with(1_234, next),
    whole.toSpliced(50, 3),
    [next, ...whole],
    [...whole, next],
    whole,
    [...whole.slice(2_000), ...whole.slice(0, 2_000)],
  ];
  for (const records of few) {
    const { bytes, base: against } = encodeManifest({ records, rules: {} }, base);
    expect({ against, isSmall: bytes.length * 3 < first.length }).toEqual({ against: "base", isSmall: true });
    expect(manifestBlobs(bytes)).toContain("base");
    const stored = new Map([
      ["base", first],
      ["this", bytes],
    ]);
    const get = async (id: string): Promise<Uint8Array | null> => stored.get(id) ?? null;
    expect(await readManifest("this", get)).toEqual({ records, rules: {}, base: "base" });
    stored.delete("base");
    expect(await readManifest("this", get)).toBeNull();
  }
  const other = encodeManifest({ records: structuredClone(whole), rules: {} }, base);
  expect({ base: other.base, records: decodeManifest(other.bytes).records }).toEqual({ base: undefined, records: whole });
});

test("a list of a later format is refused", () => {
  const bytes = Buffer.from('{"holdfast":"manifest","version":3,"rules":{},"blobs":[]}\n');
  expect(() => decodeManifest(bytes)).toThrow("format 3");
});
