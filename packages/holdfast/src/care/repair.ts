import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Salvage } from "@holdfast/stores/sqlite";
import type { OpenHost } from "../runtime-api.ts";
import { storePath } from "./kept-stores.ts";
import { blobGraceMs, lookAfter, type CareLook } from "./look.ts";

/** Saves what can be read of a damaged store. Throws `store_failed` where a process has it open. */
export async function salvage(home: string, now: Date): Promise<Salvage> {
  const { salvageStore } = await import("@holdfast/stores/sqlite");
  return salvageStore(storePath(home), stampOf(now));
}

/**
 * Contents without their salt can't be told from others: they are kept under another name, and new ones begin. Returns that name.
 * Throws `store_failed` where a process is at work.
 */
export async function setContentsAside(home: string, { store, deadLocks }: CareLook, now: Date): Promise<string> {
  if (store.type === "whole" && store.locks.length > deadLocks) {
    throw new HoldfastError("store_failed", "another process works with the content store", {
      hint: "end every holdfast that uses it, then try again",
    });
  }
  const aside = join(home, `blobs.damaged-${stampOf(now)}`);
  await rename(join(home, "blobs"), aside);
  return aside;
}

function stampOf(now: Date): string {
  return now.toISOString().replace(/[:.]/g, "-");
}

/** Takes away what a look names, each thing looked at once more before it goes. */
export async function tidy(home: string, { ports, runtime }: OpenHost, look: CareLook): Promise<void> {
  const { store, aside } = look;
  if (store.type === "whole") {
    for (const { session, itemId } of store.erasures) await runtime.eraseItem(ports, session, itemId).catch(letBe);
  }
  if (store.type === "whole" && aside.length === 0) {
    const { tidyStore } = await import("@holdfast/stores/sqlite");
    tidyStore(storePath(home), (owner) => ports.processes.isAlive(owner));
  }
  const now = await lookAfter(home, "none");
  for (const path of now.left.paths) await rm(path, { recursive: true, force: true });
  for (const session of now.left.held) await ports.processes.endSession(session, { forget: false });
  if (now.aside.length > 0) return;
  for (const { session } of now.left.commands) await ports.processes.endSession(session, { forget: true });
  if (now.blobs !== null) await ports.blobs.collect(await ports.log.referencedBlobs(), blobGraceMs);
}

/** Where a turn is open, or somebody drives the session, whoever opens it next finishes the erasure. */
function letBe(error: unknown): void {
  if (!isHoldfastError(error, "session_busy") && !isHoldfastError(error, "usage")) throw error;
}
