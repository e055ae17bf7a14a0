import { createHash } from "node:crypto";
import { readdirSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Place } from "@holdfast/runtime";
import { markedCachesIn } from "./own-caches.ts";
import { rootPath } from "./snapshot.ts";
import { statSignature } from "./stat-cache.ts";
import { cacheNames } from "./tools.ts";
import { lookAt, lookThrough } from "../files/missing.ts";

/** Entries looked at for one place. Past it, only names at the top are signed, and the signature says so. */
const mostEntries = 150_000;
const slice = 500;

export async function signPlaces(
  roots: readonly { readonly id: string; readonly path: string }[],
  places: readonly Place[],
): Promise<ReadonlyMap<string, string>> {
  const signed = new Map<string, string>();
  for (const place of places) {
    const path = place.root === "" ? place.path : join(rootPath(roots, place.root) ?? "", place.path);
    const stat = lookAt(path);
    if (stat !== undefined) signed.set(placeKey(place), await signTree(path, stat));
  }
  return signed;
}

export function placeKey(place: Place): string {
  return place.root === "" ? place.path : `${place.root}:${place.path}`;
}

/** Directories count by what is in them: their own times change with every cache a tool drops there. */
async function signTree(top: string, topStat: Stats): Promise<string> {
  const hash = createHash("sha256");
  const marked = new Set(markedCachesIn(top));
  let count = 0;
  const pending: { readonly path: string; readonly name: string; readonly stat: Stats }[] = [{ path: top, name: "", stat: topStat }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, name, stat } = next;
    if (++count % slice === 0) await nextTurn();
    if (count > mostEntries) break;
    if (stat.isSymbolicLink()) {
      // A link's target outside the tree decides as much as the link: both are signed, the target not followed further.
      const target = lookThrough(path);
      hash.update(`l ${name} ${readlinkSync(path)} ${target?.isFile() ? statSignature(target) : ""}\n`);
    } else if (stat.isDirectory()) {
      hash.update(`d ${name}\n`);
      for (const child of namesIn(path).toReversed()) {
        if (cacheNames.has(child) || (name === "" && marked.has(child))) continue;
        const childStat = lookAt(join(path, child));
        if (childStat !== undefined)
          pending.push({ path: join(path, child), name: name === "" ? child : `${name}/${child}`, stat: childStat });
      }
    } else hash.update(`f ${name} ${statSignature(stat)}\n`);
  }
  return `${hash.digest("hex")}${count > mostEntries ? " in part" : ""}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
