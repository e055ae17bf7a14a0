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
  readonly roots: readonly string[];
  readonly repos: readonly string[];
  readonly blobs: readonly string[];
}

const kinds = { file: "f", executable: "x", link: "l", submodule: "s", other: "o" } as const;
const kindOf = new Map(Object.entries(kinds).map(([kind, letter]) => [letter as string, kind as ManifestEntry["kind"]]));

/** A header line of JSON, then a line a file: kind, digest, size, root, oid, repository, blob, offset, name as JSON. */
export function encodeManifest(manifest: Manifest): Uint8Array {
  const roots = new Interned();
  const repos = new Interned();
  const blobs = new Interned();
  const lines = manifest.records.map((r) => {
    const git = r.oid === null ? "\t" : `${r.oid}\t${repos.index(r.repo ?? "")}`;
    const kept = r.kept === null ? "\t" : `${blobs.index(r.kept.blob)}\t${r.kept.offset}`;
    return `${kinds[r.kind]}\t${r.digest}\t${r.size}\t${roots.index(r.root)}\t${git}\t${kept}\t${JSON.stringify(r.path)}`;
  });
  const header: Header = {
    holdfast: "manifest",
    version: 1,
    rules: manifest.rules,
    roots: roots.values,
    repos: repos.values,
    blobs: blobs.values,
  };
  return Buffer.from(`${[JSON.stringify(header), ...lines].join("\n")}\n`);
}

export function decodeManifest(bytes: Uint8Array): Manifest {
  const [first = "{}", ...lines] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split("\n");
  const header = JSON.parse(first) as Header;
  const records: FileRecord[] = [];
  for (const line of lines) {
    if (line === "") continue;
    const [kind = "", digest = "", size = "", root = "", oid = "", repo = "", blob = "", offset = "", name = '""'] = line.split("\t");
    records.push({
      root: header.roots[Number(root)] ?? "",
      path: JSON.parse(name) as string,
      kind: kindOf.get(kind) ?? "other",
      digest,
      size: Number(size),
      oid: oid === "" ? null : oid,
      repo: oid === "" ? null : (header.repos[Number(repo)] ?? ""),
      kept: blob === "" ? null : { blob: header.blobs[Number(blob)] ?? "", offset: Number(offset) },
    });
  }
  return { records, rules: header.rules };
}

/** The blobs that a manifest refers to: whoever keeps the manifest must keep these. */
export function manifestBlobs(bytes: Uint8Array): readonly string[] {
  const end = bytes.indexOf(10);
  return (JSON.parse(Buffer.from(bytes.subarray(0, end < 0 ? undefined : end)).toString()) as Header).blobs;
}

class Interned {
  readonly values: string[] = [];
  readonly #known = new Map<string, number>();
  index(value: string): number {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    this.#known.set(value, this.values.length);
    return this.values.push(value) - 1;
  }
}
