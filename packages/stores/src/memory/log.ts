import type { Log, Owner, SessionRow } from "@holdfast/runtime";
import { checkCommit, sessionNotFound, staleDriver } from "../commit-shape.ts";
import { belongsTo, isSameOwner } from "../lock-name.ts";
import { applyCommit, checkTaken, eraseFrom, newSession } from "./session.ts";
import type { MemorySession } from "./session.ts";

interface OutboxRow {
  readonly session: string;
  readonly messageId: string;
  readonly to: string;
  readonly body: string;
}

/** A log in memory. Each method does its whole work before it first gives way, so every one is a transaction. */
export function createMemoryLog(): Log {
  /** In order of creation. */
  const sessions = new Map<string, MemorySession>();
  const locks = new Map<string, Owner>();
  let outbox: OutboxRow[] = [];

  const find = (session: string): MemorySession => {
    const found = sessions.get(session);
    if (found === undefined) throw sessionNotFound(session);
    return found;
  };

  return {
    async commit(commit) {
      checkCommit(commit);
      const existing = sessions.get(commit.session);
      if ((existing?.row.seq ?? 0) !== commit.expectedSeq) {
        throw staleDriver(commit, existing === undefined ? "it is gone" : `its log ends at ${existing.row.seq}`);
      }
      const session = existing ?? (commit.created && newSession(commit, commit.created));
      if (session === undefined) throw staleDriver(commit, "it is gone");
      checkTaken(session, commit);
      applyCommit(session, commit);
      sessions.set(commit.session, session);
      for (const message of commit.outbox) {
        const isKnown = outbox.some((row) => row.session === commit.session && row.messageId === message.messageId);
        if (!isKnown) outbox.push({ session: commit.session, ...message });
      }
    },

    async load(session) {
      const found = sessions.get(session);
      return found === undefined ? null : { row: found.row, head: found.head, registers: [...found.registers.values()] };
    },

    async snapshot(session, seq) {
      return sessions.get(session)?.snapshots.findLast((snapshot) => snapshot.seq <= seq) ?? null;
    },

    async read(session, from, to = Number.POSITIVE_INFINITY) {
      return sessions.get(session)?.events.slice(Math.max(from, 1) - 1, Math.max(to, 0)) ?? [];
    },

    async list(filter) {
      const rows = [...sessions.values()].map((session) => session.row).reverse();
      return rows
        .filter((row) => matches(row, filter))
        .sort((a, b) => b.updatedAt - a.updatedAt)
        .slice(0, filter.limit);
    },

    async post(session, message) {
      const { inbox } = find(session);
      const known = inbox.findIndex((row) => row.messageId === message.messageId);
      if (known >= 0) return known + 1;
      return inbox.push({ number: inbox.length + 1, ...message });
    },

    async inbox(session) {
      return sessions.get(session)?.inbox.filter((row) => row.body !== null) ?? [];
    },

    async claim(session, callId, attempt, by) {
      const { claims } = find(session);
      const key = JSON.stringify([callId, attempt]);
      if (claims.has(key)) return false;
      claims.set(key, by);
      return true;
    },

    async lock(name, owner, isAlive) {
      const holder = locks.get(name);
      if (holder !== undefined && !isSameOwner(holder, owner) && isAlive(holder)) return { held: false, holder };
      locks.set(name, owner);
      return { held: true };
    },

    async unlock(name, owner) {
      const holder = locks.get(name);
      if (holder !== undefined && isSameOwner(holder, owner)) locks.delete(name);
    },

    async holder(name) {
      return locks.get(name) ?? null;
    },

    async takeOutbox(limit) {
      return outbox.slice(0, limit);
    },

    async settleOutbox(session, messageId) {
      outbox = outbox.filter((row) => row.session !== session || row.messageId !== messageId);
    },

    async erase(session, erasure) {
      eraseFrom(find(session), erasure);
    },

    async delete(session) {
      sessions.delete(session);
      outbox = outbox.filter((row) => row.session !== session);
      for (const name of locks.keys()) if (belongsTo(name, session)) locks.delete(name);
    },

    async referencedBlobs() {
      return new Set([...sessions.values()].flatMap((session) => [...session.blobRefs]));
    },

    async close() {},
  };
}

function matches(row: SessionRow, filter: Parameters<Log["list"]>[0]): boolean {
  if (filter.workspace !== undefined && row.workspace !== filter.workspace) return false;
  if (filter.status !== undefined && row.status !== filter.status) return false;
  return filter.wakeBefore === undefined || (row.wakeAt !== null && row.wakeAt <= filter.wakeBefore);
}
