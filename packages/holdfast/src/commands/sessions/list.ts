import { findWorkspace } from "../../config/workspace.ts";
import { jsonLine } from "../../render/json-events.ts";
import { fit, table } from "../../render/layout.ts";
import { moment } from "../../render/numbers.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import type { Call } from "./call.ts";
import { withStore } from "./call.ts";

export async function list(call: Call): Promise<number> {
  const { given, io } = call;
  const { cwd, root } = await findWorkspace(".", io.cwd, io.env);
  const all = await withStore(call, (store) => store.ports.log.list({}));
  const rows = given.has("all") ? all : all.filter((row) => row.workspace === cwd || row.workspace === root);
  if (given.has("json")) {
    for (const row of rows) io.stdout.write(jsonLine({ type: "session", ...row }));
    return 0;
  }
  if (rows.length === 0) {
    const elsewhere = given.has("all") || all.length === 0 ? "" : `; ${all.length} in other folders (--all)`;
    io.stderr.write(`no sessions in ${sanitizeLine(cwd)}${elsewhere}\n`);
    return 0;
  }
  const width = io.stdout.columns;
  const lines = table(
    [
      ["session", "status", "last change", given.has("all") ? "folder · title" : "title"],
      ...rows.map((row) => [
        row.session,
        row.status,
        moment(row.updatedAt),
        fit(
          sanitizeLine(
            [...(given.has("all") ? [row.workspace ?? "no folder"] : []), row.title, ...(row.parent === null ? [] : ["a fork"])].join(
              " · ",
            ),
          ),
          60,
        ),
      ]),
    ],
    Math.max(width, 80),
  );
  io.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}
