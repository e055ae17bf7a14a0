import type { Log, Owner } from "@holdfast/runtime";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { isSameOwner } from "../lock-name.ts";
import type { Sessions } from "./sessions.ts";
import type { Transactions } from "./transaction.ts";

export const ownerColumns = "pid, start_time AS startTime, boot_id AS bootId, life, label";

/** The owner in a row of these columns. */
export function ownerIn({ life, ...row }: Record<string, SQLOutputValue>): Owner {
  return { ...row, ...(life === null ? {} : { life }) } as unknown as Owner;
}

/** Who may act: claims are taken once and for ever, locks are given back or void with their owner's process. */
export function claimsIn(db: DatabaseSync, transactions: Transactions, sessions: Sessions) {
  const insertClaim = db.prepare("INSERT INTO claims (session, call_id, attempt, taken_by) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const findClaim = db.prepare(`
    SELECT taken_by FROM claims WHERE session = (SELECT id FROM sessions WHERE session = ?) AND call_id = ? AND attempt = ?`);
  const findHolder = db.prepare(`SELECT ${ownerColumns} FROM locks WHERE name = ?`);
  const putLock = db.prepare("INSERT OR REPLACE INTO locks (name, pid, start_time, boot_id, life, label) VALUES (?, ?, ?, ?, ?, ?)");
  const deleteLock = db.prepare(
    "DELETE FROM locks WHERE name = ? AND pid = ? AND start_time = ? AND boot_id = ? AND life IS ? AND label = ?",
  );

  const holderOf = (name: string): Owner | null => {
    const row = findHolder.get(name);
    return row === undefined ? null : ownerIn(row);
  };

  // An effect follows the claim at once, and is not undone by a power loss. A lock is void after a power loss, since its owner is: taking and giving back needn't reach the disk.
  return {
    claim(session: string, callId: string, attempt: number, by: string): boolean {
      return transactions.writeSynced(() => insertClaim.run(sessions.requireId(session), callId, attempt, by).changes === 1);
    },
    claimedBy(session: string, callId: string, attempt: number): string | null {
      const row = transactions.read(() => findClaim.get(session, callId, attempt));
      return row === undefined ? null : String(row["taken_by"]);
    },
    /** The look at the holder and the taking are one write transaction: of two processes that find it dead, one gets it. */
    lock(name: string, owner: Owner, isAlive: (owner: Owner) => boolean): Awaited<ReturnType<Log["lock"]>> {
      return transactions.writeUnsynced(() => {
        const holder = holderOf(name);
        if (holder !== null && !isSameOwner(holder, owner) && isAlive(holder)) return { held: false, holder };
        putLock.run(name, owner.pid, owner.startTime, owner.bootId, owner.life ?? null, owner.label);
        return { held: true };
      });
    },
    unlock(name: string, owner: Owner): void {
      transactions.writeUnsynced(() => deleteLock.run(name, owner.pid, owner.startTime, owner.bootId, owner.life ?? null, owner.label));
    },
    holder(name: string): Owner | null {
      return transactions.read(() => holderOf(name));
    },
  };
}
