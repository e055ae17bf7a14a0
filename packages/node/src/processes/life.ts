import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Owner } from "@holdfast/runtime/ports/log";
import { bootId, isAlive } from "./identity.ts";

/*
 * A process's number tells whether it lives only within the pid namespace that gave it. Containers that share a home have one
 * each, so every process also holds a lock on a file of its own there: the system lets go of it as the process ends, and
 * keeps that of one that is merely stopped. SQLite takes the lock, as Node can't.
 */

/** The name of such a file: the namespace, and what no other process has. */
const lifeName = /^(\d+)\.[0-9a-f]{16}$/;
/** Leftovers of killed processes that are looked at, at a start. */
const mostSwept = 50;

/** By home. The connection is kept for the lock. */
const lives = new Map<string, { readonly name: string; readonly db: DatabaseSync }>();

/** What of this process tells others that it lives. Null where there are no pid namespaces, or the home can't be written. */
export function lifeIn(home: string): string | null {
  const known = lives.get(home);
  if (known !== undefined) return known.name;
  const namespace = pidNamespace();
  if (namespace === null) return null;
  try {
    mkdirSync(lifeFolder(home), { recursive: true, mode: 0o700 });
    sweep(home);
    const life = begin(home, namespace);
    if (lives.size === 0) process.once("exit", leave);
    lives.set(home, life);
    return life.name;
  } catch {
    return null;
  }
}

/** Whether an owner lives: by its number where that was given in our own namespace, and by its lock elsewhere. */
export function livingIn(home: string): (owner: Owner) => boolean {
  return (owner) => {
    const { life } = owner;
    const namespace = life === undefined ? undefined : lifeName.exec(life)?.[1];
    if (life === undefined || namespace === undefined || life === lives.get(home)?.name) return isAlive(owner);
    if (owner.bootId === bootId() && namespace === pidNamespace()) return isAlive(owner);
    return isHeld(join(lifeFolder(home), life));
  };
}

function leave(): void {
  for (const [home, { name }] of lives) rmSync(join(lifeFolder(home), name), { force: true });
}

function lifeFolder(home: string): string {
  return join(home, "alive");
}

let knownNamespace: string | null | undefined;

function pidNamespace(): string | null {
  if (knownNamespace === undefined) {
    try {
      knownNamespace = /^pid:\[(\d+)\]$/.exec(readlinkSync("/proc/self/ns/pid"))?.[1] ?? null;
    } catch {
      knownNamespace = null;
    }
  }
  return knownNamespace;
}

function begin(home: string, namespace: string): { readonly name: string; readonly db: DatabaseSync } {
  for (;;) {
    const name = `${namespace}.${randomBytes(8).toString("hex")}`;
    const path = join(lifeFolder(home), name);
    const db = new DatabaseSync(path, { timeout: 1_000 });
    db.exec("BEGIN EXCLUSIVE");
    // Whoever sweeps may have taken it for a leftover just before it was locked.
    if (existsSync(path)) return { name, db };
    db.close();
  }
}

/** Whether a living process holds the lock. What can't be looked at isn't said to be dead. */
function isHeld(path: string, whenFree?: () => void): boolean {
  if (!existsSync(path)) return false;
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.exec("BEGIN");
    db.prepare("SELECT 1 FROM sqlite_schema").get();
    whenFree?.();
    return false;
  } catch {
    return existsSync(path);
  } finally {
    db?.close();
  }
}

/** Takes away the files of processes that were killed. */
function sweep(home: string): void {
  const names = readdirSync(lifeFolder(home)).filter((name) => lifeName.test(name));
  for (const name of names.slice(0, mostSwept)) {
    const path = join(lifeFolder(home), name);
    isHeld(path, () => rmSync(path, { force: true }));
  }
}
