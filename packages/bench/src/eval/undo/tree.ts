import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Everything below a folder, by name as bytes: kind, permissions and content. Folders of this name are left out. */
export function treeOf(folder: string, without: string | null, isIgnored: (path: string) => boolean = () => false): Map<string, string> {
  const found = new Map<string, string>();
  const pending: Buffer[] = [Buffer.from("")];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const entry of readdirSync(join(folder, below), { encoding: "buffer" })) {
      const path = below.length === 0 ? entry : Buffer.concat([below, Buffer.from("/"), entry]);
      const name = path.toString("latin1");
      const at = join(folder, path);
      const stat = lstatSync(at);
      if ((entry.toString() === without && stat.isDirectory()) || isIgnored(name)) continue;
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory() && holdsOnly(at, without)) continue;
      if (stat.isDirectory()) {
        found.set(name, `folder ${mode}`);
        pending.push(path);
      } else if (stat.isSymbolicLink()) found.set(name, `link ${readlinkSync(at, "buffer").toString("latin1")}`);
      else if (stat.isFile()) found.set(name, `file ${mode} ${createHash("sha256").update(readFileSync(at)).digest("hex")}`);
      else found.set(name, `special ${mode}`);
    }
  }
  return found;
}

/** A repository that a command made stays, and with it its folder. */
function holdsOnly(folder: Buffer, name: string | null): boolean {
  const names = name === null ? [] : readdirSync(folder);
  return names.length === 1 && names[0] === name;
}

/** How one tree differs from another, a line a path. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const lines: string[] = [];
  for (const [path, node] of before)
    if (after.get(path) !== node) lines.push(`${JSON.stringify(path)}: ${node} became ${after.get(path) ?? "nothing"}`);
  for (const [path, node] of after) if (!before.has(path)) lines.push(`${JSON.stringify(path)}: nothing became ${node}`);
  return lines;
}

function join(folder: string, below: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), below]);
}
