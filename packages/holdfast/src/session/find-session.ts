import { HoldfastError } from "@holdfast/protocol/error";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ports, SessionRow } from "@holdfast/runtime";
import { isSameProcess } from "@holdfast/runtime/same-process";
import type { StorePorts } from "../runtime-api.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Workspace } from "../config/workspace.ts";

/** The session of this folder that changed last, or of the project around it. Throws `session_not_found`. */
export async function newestSession(ports: StorePorts, workspace: Workspace): Promise<SessionRow> {
  const folders = [...new Set([workspace.cwd, workspace.root])];
  const [newest] = await ports.log.list({ workspaces: folders, limit: 1 });
  if (newest === undefined) {
    throw new HoldfastError("session_not_found", `no session was started in ${workspace.cwd}`, {
      hint: "holdfast sessions list --all names the sessions of all folders",
    });
  }
  return newest;
}

/** Of sessions whose ids begin alike, so many are named. */
const mostNamed = 5;

/** A session by its id, or by the beginning of it where that names only one. Throws `session_not_found`. */
export async function sessionById(ports: StorePorts, id: string): Promise<SessionRow> {
  const exact = await ports.log.load(id);
  if (exact !== null) return exact.row;
  const close = id.length < 4 ? [] : (await ports.log.list({})).filter((row) => row.session.startsWith(id));
  const [only] = close;
  if (only !== undefined && close.length === 1) return only;
  if (only === undefined) {
    throw new HoldfastError("session_not_found", `there is no session ${id}`, { hint: "holdfast sessions list --all names them" });
  }
  const newest = close.slice(0, mostNamed);
  const more = close.length > newest.length ? [`and ${close.length - newest.length} more: holdfast sessions list --all`] : [];
  throw new HoldfastError("session_not_found", `${close.length} sessions begin with ${id}`, {
    hint: [
      "write more of it; the newest are:",
      ...newest.map(({ session, title }) => `  ${session}  ${sanitizeLine(title)}`),
      ...more,
    ].join("\n"),
  });
}

/** Throws `session_busy`, naming the holder, where a living process drives the session. */
export async function assertFree({ log, processes }: Pick<Ports, "log" | "processes">, session: string): Promise<void> {
  const holder = await log.holder(`session:${session}`);
  if (holder === null || !processes.isAlive(holder)) return;
  if (isSameProcess(holder, processes.owner)) return;
  throw new HoldfastError("session_busy", `${session} is driven by ${holder.label} (process ${holder.pid})`, {
    hint: "wait for it, or end that process",
  });
}

/** Waits while another living process drives the session, for as long as is given. */
export async function untilFree(
  { log, processes }: { readonly log: Ports["log"]; readonly processes: Pick<Ports["processes"], "isAlive"> },
  session: string,
  waitMs: number,
): Promise<void> {
  for (const end = Date.now() + waitMs; Date.now() < end; await sleep(50)) {
    const holder = await log.holder(`session:${session}`);
    if (holder === null || !processes.isAlive(holder)) return;
  }
}
