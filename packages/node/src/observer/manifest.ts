import { createHash } from "node:crypto";
import type { ManifestEntry } from "@holdfast/runtime";
import { refuseNewer } from "../stored-version.ts";

/** Where the content of a manifest's file is: at `offset` in a blob of kept contents. */
export interface Kept {
  readonly blob: string;
  readonly offset: number;
}

/** An entry with where its content can be had: from git's objects, from kept content, or from nowhere but the disk. */
export interface FileRecord extends ManifestEntry {
  /** Git's id of the content where the index has it; `repo` is the repository's folder below the root. */
  readonly oid: string | null;
  readonly repo: string | null;
  readonly kept: Kept | null;
}

export interface Manifest {
  readonly records: readonly FileRecord[];
  /** Ignore rules by root and repository folder. */
  readonly rules: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The manifest that it is written against: whoever keeps it must keep that too. Absent: it is written whole. */
  readonly base?: string;
}

/** A manifest that is written whole, with its id. */
export interface ManifestBase {
  readonly id: string;
  readonly manifest: Manifest;
}

interface Header {
  readonly holdfast: "manifest";
  /** 2: some of its lines stand for lines of its base. */
  readonly version: 1 | 2;
  readonly base?: string;
  readonly rules: Manifest["rules"];
  readonly blobs: readonly string[];
}

const newestVersion = 2;

const kinds = { file: "f", executable: "x", link: "l", submodule: "s", other: "o" } as const;
const kindOf = new Map<string, ManifestEntry["kind"]>();
for (const kind of ["file", "executable", "link", "submodule", "other"] as const) kindOf.set(kinds[kind], kind);

/** Neighbours as they are written. Most live through many manifests, and what holds them is found by the first of them. */
interface Run {
  readonly records: readonly FileRecord[];
  /** What the subject covers of each file: kind, digest, root and path. */
  readonly subject: Buffer;
  readonly lines: Buffer;
}

const written = new WeakMap<FileRecord, Run>();
const longestRun = 1_024;

/**
 * The records in runs, those of an earlier manifest where all their records are the same objects. A run ends where a digest
 * does in a certain way, about each 256 records: after a record more or less the next runs begin where they did.
 */
function* runsOf(records: readonly FileRecord[]): Generator<Run> {
  for (let from = 0; from < records.length;) {
    const first = records[from];
    if (first === undefined) return;
    const known = written.get(first);
    const run = known !== undefined && isAt(records, from, known.records) ? known : writeRun(records, from);
    if (run !== known) written.set(first, run);
    from += run.records.length;
    yield run;
  }
}

function isAt(records: readonly FileRecord[], from: number, run: readonly FileRecord[]): boolean {
  // What comes after the end is undefined, and no record.
  for (let n = 0; n < run.length; n += 1) if (records[from + n] !== run[n]) return false;
  return true;
}

function writeRun(records: readonly FileRecord[], from: number): Run {
  let [to, subjects, lines] = [from, "", ""];
  for (const r of records.slice(from, from + longestRun)) {
    to += 1;
    const subject = `${kinds[r.kind]}\t${r.digest}\t${JSON.stringify([r.root, r.path])}\n`;
    const git = r.oid === null ? "\t" : `${r.oid}\t${JSON.stringify(r.repo)}`;
    const kept = r.kept === null ? "\t" : `${r.kept.blob}\t${r.kept.offset}`;
    subjects += subject;
    lines += `${r.size}\t${git}\t${kept}\t${subject}`;
    if (r.digest.endsWith("00")) break;
  }
  return { records: records.slice(from, to), subject: Buffer.from(subjects), lines: Buffer.from(lines) };
}

/** Hex SHA-256 over kind, digest, root and path of each file, in order. */
export function subjectOf(records: readonly FileRecord[]): string {
  const hash = createHash("sha256");
  for (const run of runsOf(records)) hash.update(run.subject);
  return hash.digest("hex");
}

/**
 * A header line of JSON, then a line a file: size, oid, repository, blob, offset, kind, digest, [root, path]; the names as JSON.
 * Against a base that shares most of the records (the same objects), a line `=`, first, number stands for so many of its lines.
 */
export function encodeManifest(
  manifest: Manifest,
  base: ManifestBase | null = null,
): { readonly bytes: Uint8Array; readonly base?: string } {
  const blobs = new Set<string>();
  for (const { kept } of manifest.records) if (kept !== null) blobs.add(kept.blob);
  const header = { holdfast: "manifest", rules: manifest.rules, blobs: [...blobs] } as const;
  const runs = [...runsOf(manifest.records)];
  const against = base === null ? null : linesAgainst(base.manifest, runs);
  if (base === null || against === null)
    return {
      bytes: joined(
        { ...header, version: 1 },
        runs.map(({ lines }) => lines),
      ),
    };
  return { bytes: joined({ ...header, version: 2, base: base.id }, against), base: base.id };
}

function joined(header: Header, lines: readonly Buffer[]): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...lines]);
}

/** Null where more than half of it is not in the base. */
function linesAgainst(base: Manifest, runs: readonly Run[]): Buffer[] | null {
  const places = new Map<Run, number>();
  let [at, size, own] = [0, 0, 0];
  for (const run of runsOf(base.records)) {
    places.set(run, at);
    at += run.records.length;
  }
  const lines: Buffer[] = [];
  let copied = { from: 0, count: 0 };
  const flush = (): void => {
    if (copied.count > 0) lines.push(Buffer.from(`=\t${copied.from}\t${copied.count}\n`));
    copied = { from: 0, count: 0 };
  };
  for (const run of runs) {
    const place = places.get(run);
    size += run.lines.length;
    if (place === undefined) {
      flush();
      lines.push(run.lines);
      own += run.lines.length;
    } else if (copied.count > 0 && copied.from + copied.count === place) copied.count += run.records.length;
    else {
      flush();
      copied = { from: place, count: run.records.length };
    }
  }
  flush();
  return own * 2 > size ? null : lines;
}

/** The manifest of an id; null where it, or what it is written against, is not there. Throws `session_newer`. */
export async function readManifest(id: string, get: (id: string) => Promise<Uint8Array | null>): Promise<Manifest | null> {
  const bytes = await get(id);
  if (bytes === null) return null;
  const { base } = headerOf(bytes);
  if (base === undefined) return decodeManifest(bytes);
  const whole = await get(base);
  return whole === null ? null : decodeManifest(bytes, decodeManifest(whole).records);
}

/** `base`: the records of the manifest that it is written against. */
export function decodeManifest(bytes: Uint8Array, base: readonly FileRecord[] = []): Manifest {
  const header = headerOf(bytes);
  const records: FileRecord[] = [];
  for (const line of asBuffer(bytes).toString().split("\n").slice(1)) {
    if (line === "") continue;
    const [size = "", oid = "", repo = "", blob = "", offset = "", kind = "", digest = "", name = "[]"] = line.split("\t");
    if (size === "=") {
      for (const record of base.slice(Number(oid), Number(oid) + Number(repo))) records.push(record);
      continue;
    }
    const [root = "", path = ""] = JSON.parse(name) as string[];
    records.push({
      root,
      path,
      kind: kindOf.get(kind) ?? "other",
      digest,
      size: Number(size),
      oid: oid === "" ? null : oid,
      repo: oid === "" ? null : (JSON.parse(repo) as string),
      kept: blob === "" ? null : { blob, offset: Number(offset) },
    });
  }
  return { records, rules: header.rules, ...(header.base === undefined ? {} : { base: header.base }) };
}

/** The blobs that a manifest refers to: whoever keeps the manifest must keep these. */
export function manifestBlobs(bytes: Uint8Array): readonly string[] {
  const { blobs, base } = headerOf(bytes);
  return base === undefined ? blobs : [base, ...blobs];
}

function headerOf(bytes: Uint8Array): Header {
  const end = bytes.indexOf(10);
  const header = JSON.parse(asBuffer(bytes.subarray(0, end < 0 ? undefined : end)).toString()) as Header;
  refuseNewer("a list of the workspace's files", header.version, newestVersion);
  return header;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
