import type { TreeNode } from "@holdfast/protocol";
import type { FileRecord, Manifest } from "../observer/manifest.ts";
import { refuseNewer } from "../stored-version.ts";

/** The whole tree of one moment, by absolute path. */
export type Nodes = Map<string, TreeNode>;

interface Header {
  readonly holdfast: "tree";
  readonly version: 1;
  /** The manifest that lists most of it. */
  readonly manifest: string;
  /** The permission bits of its files, unless said otherwise. */
  readonly modes: { readonly file: number; readonly executable: number };
}

type Roots = readonly { readonly id: string; readonly path: string }[];

/** A header line, then a line for each path at which the tree isn't as the manifest says: [path, node or null], as JSON. */
export function encodeBase(id: string, manifest: Manifest, roots: Roots, nodes: Nodes): Uint8Array {
  const modes = { file: usual(manifest, roots, nodes, "file", 0o644), executable: usual(manifest, roots, nodes, "executable", 0o755) };
  const lines = [JSON.stringify({ holdfast: "tree", version: 1, manifest: id, modes } satisfies Header)];
  const listed = new Set<string>();
  for (const record of manifest.records) {
    const path = placeOf(roots, record);
    if (path === null) continue;
    listed.add(path);
    const node = nodes.get(path) ?? null;
    if (JSON.stringify(node) !== JSON.stringify(nodeOf(record, roots, modes))) lines.push(JSON.stringify([path, node]));
  }
  for (const [path, node] of nodes) if (!listed.has(path)) lines.push(JSON.stringify([path, node]));
  return new TextEncoder().encode(lines.join("\n"));
}

/** Throws `session_newer`. */
export async function decodeBase(bytes: Uint8Array, roots: Roots, load: (manifest: string) => Promise<Manifest>): Promise<Nodes> {
  const [first = "{}", ...lines] = new TextDecoder().decode(bytes).split("\n");
  const header = JSON.parse(first) as Header;
  refuseNewer("a checkpoint's tree", header.version, 1);
  const manifest = await load(header.manifest);
  const nodes: Nodes = new Map();
  for (const record of manifest.records) {
    const path = placeOf(roots, record);
    const node = nodeOf(record, roots, header.modes);
    if (path !== null && node !== null) nodes.set(path, node);
  }
  for (const line of lines) {
    const [path, node] = JSON.parse(line) as [string, TreeNode | null];
    if (node === null) nodes.delete(path);
    else nodes.set(path, node);
  }
  return nodes;
}

function placeOf(roots: Roots, { root, path }: FileRecord): string | null {
  const folder = roots.find(({ id }) => id === root)?.path;
  return folder === undefined ? null : `${folder}/${path}`;
}

function nodeOf(record: FileRecord, roots: Roots, modes: Header["modes"]): TreeNode | null {
  const { kind, digest, size, oid, repo, kept } = record;
  if (kind === "submodule" || kind === "other") return null;
  const folder = roots.find(({ id }) => id === record.root)?.path ?? "";
  const git = oid === null ? null : { oid, folder: repo === null || repo === "" ? folder : `${folder}/${repo}` };
  return { kind: kind === "link" ? "link" : "file", mode: kind === "link" ? null : modes[kind], digest, size, content: kept ?? git };
}

/** The mode that most of these files have. */
function usual(manifest: Manifest, roots: Roots, nodes: Nodes, kind: "file" | "executable", otherwise: number): number {
  const counts = new Map<number, number>();
  for (const record of manifest.records) {
    const path = record.kind === kind ? placeOf(roots, record) : null;
    const mode = path === null ? null : (nodes.get(path)?.mode ?? null);
    if (mode !== null) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  }
  let [best, most] = [otherwise, 0];
  for (const [mode, count] of counts) if (count > most) [best, most] = [mode, count];
  return best;
}
