import type { Named, Node, Table } from "./kinds.ts";
import type { Problem, Setting } from "./settings.ts";
import { dotted, whereOf } from "./settings.ts";

/** Settings by their path as JSON, in the order in which they were first set. */
export type Merged = ReadonlyMap<string, Setting>;

const idOf = (path: readonly string[]): string => JSON.stringify(path);

/** Lays a layer over what is there: its values win. A project adds to lists that add, and leaves entries of the user's alone. */
export function lay(
  under: Merged,
  settings: readonly Setting[],
  top: Table,
): { readonly merged: Merged; readonly problems: readonly Problem[] } {
  const merged = new Map(under);
  const problems: Problem[] = [];
  const dropBelow = (path: readonly string[]): void => {
    const prefix = `${idOf(path).slice(0, -1)},`;
    for (const id of merged.keys()) if (id.startsWith(prefix)) merged.delete(id);
  };
  const isProject = settings[0]?.source.layer === "project";
  const shadowed = new Set<string>();
  const offsets = new Map<string, number>();

  for (const setting of settings) {
    const { path } = setting;
    const holder = path.length > 2 ? idOf(path.slice(0, 2)) : "";
    if (setting.kind === "list") {
      if (isProject) offsets.set(idOf(path), lengthOf(merged, path));
      else dropBelow(path);
    } else if (setting.kind === "entry" && isProject && isOwned(path, top) && isUsers(merged.get(idOf(path)))) {
      shadowed.add(idOf(path));
      const message = `${dotted(path)} is defined in your own config, too; yours is used`;
      problems.push({ severity: "note", where: whereOf(setting.source), message });
      continue;
    }
    if (shadowed.has(holder)) continue;
    const offset = offsets.get(holder);
    const at = offset === undefined ? path : [...path.slice(0, 2), String(Number(path[2]) + offset), ...path.slice(3)];
    if (idOf(at) === idOf(["limits", "preset"]) && !isProject) dropBelow(["limits"]);
    for (const rival of rivalsOf(at, top)) {
      merged.delete(idOf(rival));
      dropBelow(rival);
    }
    const known = merged.get(idOf(at));
    // Who began an entry owns it, whatever a flag changes in it.
    if (setting.kind === "entry" && known !== undefined) continue;
    merged.set(idOf(at), { ...setting, path: at });
  }
  return { merged, problems };
}

function lengthOf(merged: Merged, list: readonly string[]): number {
  let length = 0;
  while (merged.has(idOf([...list, String(length)]))) length += 1;
  return length;
}

function isUsers(setting: Setting | undefined): boolean {
  return setting !== undefined && setting.source.layer !== "project";
}

function isOwned(path: readonly string[], top: Table): boolean {
  const node = nodeAt(path.slice(0, 1), top);
  return path.length === 2 && node?.is === "named" && node.hasOrigin;
}

function rivalsOf(path: readonly string[], top: Table): (readonly string[])[] {
  const around = path.slice(0, -1);
  const node = nodeAt(around, top);
  if (node?.is !== "table") return [];
  return node.rivals.flatMap(([one, other]) =>
    path.at(-1) === one ? [[...around, other]] : path.at(-1) === other ? [[...around, one]] : [],
  );
}

/** What stands at a path in the table of keys; null where nothing does. */
function nodeAt(path: readonly string[], top: Table): Node | null {
  let node: Node = top;
  for (const part of path) {
    const inner: Node | undefined = innerOf(node, part);
    if (inner === undefined) return null;
    node = inner;
  }
  return node;
}

function innerOf(node: Node, part: string): Node | undefined {
  if (node.is === "table") return Object.hasOwn(node.keys, part) ? node.keys[part]?.node : undefined;
  if (node.is === "either") return (node.named as Named).of;
  return node.is === "named" || node.is === "rows" || node.is === "adding" ? node.of : undefined;
}
