import { appendFileSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { CachedDigest } from "@holdfast/node/observer/stat-cache";
import { verdicts } from "@holdfast/node/observer/look-rows";
import { createStatTable } from "@holdfast/node/observer/stat-table";

/** Enough for a second thread. */
const count = 12_000;
const folder = mkdtempSync(join(tmpdir(), "holdfast-table-"));

function entryOf(name: string): CachedDigest {
  const stat = lstatSync(join(folder, name));
  return { stat, readAt: 0, kind: "file", digest: "", size: stat.size, oid: null, seenBy: 0, record: null, row: -1 };
}

it("what two threads find at many files is what each of them is", { timeout: 60_000 }, async () => {
  const table = createStatTable<CachedDigest>();
  const expected = new Map<string, number>();
  const entries = new Map<string, CachedDigest>();
  const add = (name: string): void => {
    const [entry, earlier] = [entryOf(name), entries.get(name)];
    table.set(name, entry, earlier);
    entries.set(name, entry);
    expected.set(name, verdicts.same);
  };
  for (let n = 0; n < count; n += 1) {
    if (n % 500 === 0) mkdirSync(join(folder, `${n}`));
    writeFileSync(join(folder, nameOf(n)), "");
    add(nameOf(n));
  }
  // The later rounds find the second thread started.
  for (let round = 0; round < 6; round += 1) {
    const at = (n: number): string => nameOf((n * 1_999 + round * 101) % count);
    for (let n = 0; n < 5; n += 1) {
      appendFileSync(join(folder, at(n)), "x");
      expected.set(at(n), verdicts.changed);
    }
    rmSync(join(folder, at(5)));
    expected.set(at(5), verdicts.gone);
    const dropped = entries.get(at(6));
    if (dropped !== undefined) table.drop(dropped);
    entries.delete(at(6));
    expected.delete(at(6));
    writeFileSync(join(folder, `new-${round}`), "");
    add(`new-${round}`);

    const found = new Map<string, number>();
    await table.look(folder, (name, _, verdict) => void found.set(name, verdict));
    expect(differences(found, expected)).toEqual([]);

    for (let n = 0; n < 5; n += 1) add(at(n));
    writeFileSync(join(folder, at(5)), "again");
    add(at(5));
    add(at(6));
  }
  // Most go, so that the rows are laid out anew.
  for (let n = 0; n < count - 100; n += 1) {
    const entry = entries.get(nameOf(n));
    if (entry !== undefined) table.drop(entry);
    expected.delete(nameOf(n));
  }
  const found = new Map<string, number>();
  await table.look(folder, (name, _, verdict) => void found.set(name, verdict));
  expect(differences(found, expected)).toEqual([]);
  rmSync(folder, { recursive: true });
});

function nameOf(n: number): string {
  return `${n - (n % 500)}/${n}`;
}

function differences(found: ReadonlyMap<string, number>, expected: ReadonlyMap<string, number>): string[] {
  return [...new Set([...found.keys(), ...expected.keys()])].filter((name) => found.get(name) !== expected.get(name));
}
