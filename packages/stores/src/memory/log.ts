import type { Commit, Log, Owner, SessionRow } from "@holdfast/runtime";
import { checkCommit, notAtRest, sessionNotFound, staleDriver } from "../commit-shape.ts";
import { belongsTo, isSameOwner } from "../lock-name.ts";
import { applyCommit, bytesOf, checkTaken, eraseFrom, eventsOf, newSession, snapshotOf, writerOf } from "./session.ts";
import type { MemorySession } from "./session.ts";
import { weigh } from "../weigh.ts";

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
  /** Deleted ones whose events a fork shares. */
  const hidden = new Map<string, MemorySession>();
  const locks = new Map<string, Owner>();
  let outbox: OutboxRow[] = [];

  const find = (session: string): MemorySession => {
    const found = sessions.get(session);
    if (found === undefined) throw sessionNotFound(session);
    return found;
  };

  const existing = (commit: Commit): MemorySession => {
    const found = sessions.get(commit.session);
    if (found === undefined) throw staleDriver(commit, "it is gone");
    if (found.row.seq !== commit.expectedSeq) throw staleDriver(commit, `its log ends at ${found.row.seq}`);
    return found;
  };
  const create = (commit: Commit, created: NonNullable<Commit["created"]>): MemorySession => {
    if (sessions.has(commit.session) || hidden.has(commit.session)) throw staleDriver(commit, "it is there already");
    const { fork } = created;
    if (fork === undefined) return newSession(commit, created);
    const parent = sessions.get(fork.session);
    if (parent?.row.seq !== fork.tip) throw staleDriver(commit, `${fork.session} doesn't end at ${fork.tip}`);
    return newSession(commit, created, parent);
  };
  const sharersOf = (session: MemorySession, seqs: readonly number[]): string[] =>
    [...sessions.values()]
      .filter((other) => other !== session && seqs.some((seq) => seq <= other.row.seq && writerOf(other, seq) === writerOf(session, seq)))
      .map(({ row }) => row.session);
  /** The sessions lie in the order in which they changed last. */
  const newestFirst = (): SessionRow[] => [...sessions.values()].map((session) => session.row).reverse();
  const forksOf = (session: MemorySession): MemorySession[] =>
    [...sessions.values(), ...hidden.values()].filter(({ parent }) => parent?.session === session);
  const remove = (session: MemorySession): string[] => {
    const name = session.row.session;
    sessions.delete(name);
    hidden.delete(name);
    const needed = Math.max(0, ...forksOf(session).map(({ parent }) => parent?.seq ?? 0));
    if (needed > 0) {
      session.isDeleted = true;
      session.events.splice(0, session.events.length, ...session.events.filter(({ seq }) => seq <= needed));
      session.snapshots.splice(0, session.snapshots.length, ...session.snapshots.filter(({ seq }) => seq <= needed));
      hidden.set(name, session);
      return [];
    }
    const parent = session.parent?.session;
    return [name, ...(parent?.isDeleted === true ? remove(parent) : [])];
  };

  return {
    async commit(commit) {
      checkCommit(commit);
      const session = commit.created === undefined ? existing(commit) : create(commit, commit.created);
      checkTaken(session, commit);
      applyCommit(session, commit);
      if (commit.events.length > 0) sessions.delete(commit.session);
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
      const found = sessions.get(session);
      return found === undefined ? null : snapshotOf(found, seq);
    },

    async read(session, from, to = Number.POSITIVE_INFINITY) {
      const found = sessions.get(session);
      return found === undefined ? [] : eventsOf(found, from, to);
    },

    async list(filter) {
      return newestFirst()
        .filter((row) => matches(row, filter))
        .slice(0, filter.limit);
    },

    async post(session, message, after) {
      const found = find(session);
      const { inbox } = found;
      const known = inbox.findIndex((row) => row.messageId === message.messageId);
      if (known >= 0) return known + 1;
      if (after !== undefined && inbox.length !== after) return null;
      found.row = { ...found.row, wakeAt: Math.min(found.row.wakeAt ?? message.at, message.at) };
      return inbox.push({ number: inbox.length + 1, ...message });
    },

    async posted(session) {
      return sessions.get(session)?.inbox.length ?? 0;
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
    async claimedBy(session, callId, attempt) {
      return sessions.get(session)?.claims.get(JSON.stringify([callId, attempt])) ?? null;
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

    async takeOutbox(limit, session) {
      return (session === undefined ? outbox : outbox.filter((row) => row.session === session)).slice(0, limit);
    },

    async settleOutbox(session, messageId) {
      outbox = outbox.filter((row) => row.session !== session || row.messageId !== messageId);
    },

    async sharers(session, seqs) {
      const found = sessions.get(session);
      return found === undefined ? [] : sharersOf(found, seqs);
    },

    async erase(session, erasure) {
      const found = find(session);
      if (sharersOf(found, erasure.seqs).some((other) => !erasure.sharers.includes(other))) return false;
      eraseFrom(found, erasure);
      return true;
    },

    async *search(pieces, workspaces) {
      const wanted = pieces.map((piece) => piece.toLowerCase());
      for (const row of newestFirst()) {
        const found = sessions.get(row.session);
        if (found === undefined) continue;
        if (workspaces !== undefined && (row.workspace === null || !workspaces.includes(row.workspace))) continue;
        const texts = [row.title, ...eventsOf(found, 1, Number.POSITIVE_INFINITY).map(({ payload }) => payload ?? "")];
        if (texts.some((text) => wanted.every((piece) => text.toLowerCase().includes(piece)))) yield row;
      }
    },

    async weigh(going) {
      const all = [...sessions.values(), ...hidden.values()].map(({ row, parent, isDeleted, blobRefs }) => ({
        session: row.session,
        parent: parent?.session.row.session ?? null,
        parentSeq: parent?.seq ?? 0,
        isDeleted,
        blobs: isDeleted ? new Set<string>() : new Set(blobRefs.keys()),
      }));
      return weigh(all, going, (name, keptUpTo) => {
        const found = sessions.get(name) ?? hidden.get(name);
        return found === undefined ? 0 : bytesOf(found, keptUpTo ?? 0);
      });
    },

    async delete(session, restsAt) {
      const found = sessions.get(session);
      if (found === undefined) return [];
      const isAtRest = found.row.seq === restsAt && found.row.status === "idle" && found.inbox.every((row) => row.body === null);
      if (restsAt !== undefined && !isAtRest) throw notAtRest(session, restsAt);
      outbox = outbox.filter((row) => row.session !== session);
      for (const name of locks.keys()) if (belongsTo(name, session)) locks.delete(name);
      return remove(found);
    },

    async referencedBlobs() {
      return new Set([...sessions.values()].flatMap((session) => [...session.blobRefs.keys()]));
    },

    async close() {},
  };
}

function matches(row: SessionRow, filter: Parameters<Log["list"]>[0]): boolean {
  if (filter.workspaces !== undefined && (row.workspace === null || !filter.workspaces.includes(row.workspace))) return false;
  if (filter.status !== undefined && row.status !== filter.status) return false;
  return filter.wakeBefore === undefined || (row.wakeAt !== null && row.wakeAt <= filter.wakeBefore);
}
