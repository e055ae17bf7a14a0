import { createHash } from "node:crypto";
import type { ManifestEntry } from "@holdfast/runtime";

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
}

interface Header {
  readonly holdfast: "manifest";
  readonly version: 1;
  readonly rules: Manifest["rules"];
  readonly blobs: readonly string[];
}

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

/** A header line of JSON, then a line a file: size, oid, repository, blob, offset, kind, digest, [root, path]; the names as JSON. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const blobs = new Set<string>();
  for (const { kept } of manifest.records) if (kept !== null) blobs.add(kept.blob);
  const header: Header = { holdfast: "manifest", version: 1, rules: manifest.rules, blobs: [...blobs] };
  const pieces: Buffer[] = [Buffer.from(`${JSON.stringify(header)}\n`)];
  for (const run of runsOf(manifest.records)) pieces.push(run.lines);
  return Buffer.concat(pieces);
}

export function decodeManifest(bytes: Uint8Array): Manifest {
  const [first = "{}", ...lines] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split("\n");
  const header = JSON.parse(first) as Header;
  const records: FileRecord[] = [];
  for (const line of lines) {
    if (line === "") continue;
    const [size = "", oid = "", repo = "", blob = "", offset = "", kind = "", digest = "", name = "[]"] = line.split("\t");
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
  return { records, rules: header.rules };
}

/** The blobs that a manifest refers to: whoever keeps the manifest must keep these. */
export function manifestBlobs(bytes: Uint8Array): readonly string[] {
  const end = bytes.indexOf(10);
  return (JSON.parse(Buffer.from(bytes.subarray(0, end < 0 ? undefined : end)).toString()) as Header).blobs;
}
