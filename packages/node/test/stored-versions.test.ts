import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readNote, unfinishedUndos, writeNote } from "@holdfast/node/checkpoints/restore-note";
import { findLeftovers } from "@holdfast/node/host/leftovers";
import { decodeBase } from "../src/checkpoints/base.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-versions-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const newer = expect.objectContaining({ code: "session_newer" });
const manifest = async () => ({ records: [], rules: {}, blobs: [] });

it("a checkpoint's tree of this version is read, one of a later is refused before its manifest is looked for", async () => {
  const tree = (version: number) =>
    Buffer.from(`{"holdfast":"tree","version":${version},"manifest":"m","modes":{"file":420,"executable":493}}\n["/w/a",null]`);
  expect(await decodeBase(tree(1), [], manifest)).toEqual(new Map());
  await expect(decodeBase(tree(2), [], () => Promise.reject(new Error("looked for")))).rejects.toEqual(newer);
});

it("the note of an undo that was cut off says its version; one without is of the first, and one of a later is refused and stays", () => {
  const note = { restore: { steps: [] } as never, staging: "s", opened: [], isMoving: false };
  writeNote(home, "ses_1", note);
  const [name = ""] = readdirSync(join(home, "undo"));
  const file = join(home, "undo", name);
  const written = JSON.parse(readFileSync(file, "utf8")) as { version?: number };
  expect(written.version).toBe(1);
  const { version: _, ...first } = written;
  writeFileSync(file, JSON.stringify(first));
  expect(readNote(home, "ses_1")).toMatchObject(note);
  const later = JSON.stringify({ ...written, version: 2 });
  writeFileSync(file, later);
  expect(() => readNote(home, "ses_1")).toThrow(newer);
  expect(() => unfinishedUndos(home, null)).toThrow(newer);
  expect(readFileSync(file, "utf8")).toBe(later);
});

it("a folder whose note of its user is written otherwise is no leftover", async () => {
  const folder = join(home, "commands", "ses_later");
  mkdirSync(folder, { recursive: true });
  const commands = async () => (await findLeftovers(home, Date.now())).commands.map(({ session }) => session);
  writeFileSync(join(folder, "owner"), '{"version":2,"process":{"number":1}}');
  expect(await commands()).toEqual([]);
  writeFileSync(join(folder, "owner"), '{"pid":4194303,"startTime":"1","bootId":"another"}');
  expect(await commands()).toEqual(["ses_later"]);
});
