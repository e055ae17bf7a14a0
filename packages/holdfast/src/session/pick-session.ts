import { HoldfastError } from "@holdfast/protocol/error";
import type { Io } from "../cli/io.ts";
import { findWorkspace } from "../config/workspace.ts";
import { openScreen } from "../line/screen.ts";
import { fit, table } from "../render/layout.ts";
import { moment } from "../render/numbers.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { HostOptions, Hosts } from "../runtime-api.ts";
import { sessionById } from "./find-session.ts";

const mostShown = 20;

/** Shows the newest sessions of a folder with numbers and asks for one. Throws `session_not_found` where there is none, `usage` where none is chosen. */
export async function pickSession(io: Io, hosts: Hosts, setup: HostOptions, folder: string): Promise<string> {
  const { cwd, root } = await findWorkspace(folder, io.cwd, io.env);
  const store = await hosts.openStore(setup);
  try {
    const rows = (await store.ports.log.list({})).filter(({ workspace }) => workspace === cwd || workspace === root).slice(0, mostShown);
    if (rows.length === 0) {
      throw new HoldfastError("session_not_found", `no session was started in ${cwd}`, {
        hint: "holdfast sessions list --all names the sessions of all folders",
      });
    }
    const lines = rows.map((row, index) => [String(index + 1), moment(row.updatedAt), row.status, fit(sanitizeLine(row.title), 120)]);
    const screen = openScreen(io);
    const leave = new AbortController();
    const releases = [screen.onInterrupt(() => leave.abort()), io.onStop(() => leave.abort())];
    try {
      screen.print(table([["", "last change", "status", "title"], ...lines], io.stdout.columns));
      for (;;) {
        const typed = (await screen.next("which? number or ID › ", leave.signal))?.trim() ?? "";
        if (typed === "") throw new HoldfastError("usage", "no session was chosen", { hint: "--last goes on with the newest" });
        const row = /^\d{1,3}$/.test(typed) ? rows[Number(typed) - 1] : await sessionById(store.ports, typed).catch(() => undefined);
        if (row !== undefined) return row.session;
        screen.print([`${sanitizeLine(typed)} is none of them: a number from 1 to ${rows.length}, an ID, or nothing to leave`]);
      }
    } finally {
      for (const release of releases) release();
      screen.close();
    }
  } finally {
    await store.close();
  }
}
