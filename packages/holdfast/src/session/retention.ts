import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PruneWish } from "@holdfast/runtime";
import type { Io } from "../cli/io.ts";
import type { Config } from "../config/config.ts";
import { bytes, plural } from "../render/numbers.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { OpenHost } from "../runtime-api.ts";

const dayMs = 24 * 60 * 60 * 1000;
const megabyte = 1_000_000;
/** So that the end of a turn is never held up for long; the rest goes on the days after. */
const mostADay = 20;

/** Milliseconds from `30d`, `2w`, `12h`, `90m`. Null for anything else. */
export function parseAge(text: string): number | null {
  const match = /^(\d{1,6})([mhdw])$/.exec(text);
  const unit = { m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs }[match?.[2] ?? ""] ?? 0;
  return Number(match?.[1] ?? 0) * unit || null;
}

/** Bytes from `500MB`, `2GB`, `1.5 GB`, `800kB` (each a thousand of the one before). Null for anything else. */
export function parseSize(text: string): number | null {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s?([kMGT])B?$/i.exec(text);
  const power = ["K", "M", "G", "T"].indexOf(match?.[2]?.toUpperCase() ?? "") + 1;
  return Math.round(Number(match?.[1] ?? 0) * 1000 ** power) || null;
}

/** What `[sessions]` of the config says is to go. */
export function retentionOf({ sessions }: Config): Pick<PruneWish, "olderThanMs" | "maxBytes"> {
  return {
    olderThanMs: sessions.keepDays === undefined ? null : sessions.keepDays * dayMs,
    maxBytes: sessions.maxSizeMb === undefined ? null : sessions.maxSizeMb * megabyte,
  };
}

/**
 * Does what `[sessions]` says, at most once a day: after a turn, when nobody waits any more. A failure is told and changes
 * nothing else; the next day tries again.
 */
export async function pruneDaily(io: Io, home: string, config: Config, { ports, runtime }: OpenHost): Promise<void> {
  const wish = { ...retentionOf(config), workspaces: null, atMost: mostADay, weighsAll: false };
  if (wish.olderThanMs === null && wish.maxBytes === null) return;
  try {
    const mark = join(home, "pruned");
    const last = (await stat(mark).catch(() => null))?.mtimeMs ?? 0;
    if (Math.abs(Date.now() - last) < dayMs) return;
    // First: of two processes that end together, one does it.
    await writeFile(mark, "", { mode: 0o600 });
    const plan = await runtime.planPrune(ports, wish);
    const deleted = await runtime.prune(ports, plan);
    if (deleted.length === 0) return;
    const freed = plan.going.reduce((sum, { row, sizes }) => sum + (deleted.includes(row.session) ? runtime.totalOf(sizes) : 0), 0);
    io.stderr.write(`removed ${plural(deleted.length, "old session")} (${bytes(freed)}), as [sessions] in your config says\n`);
  } catch (error) {
    io.stderr.write(`old sessions could not be removed: ${sanitizeLine(error instanceof Error ? error.message : String(error))}\n`);
  }
}
