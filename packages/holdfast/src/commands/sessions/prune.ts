import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { PrunePlan, PruneWish, Sizes } from "@holdfast/runtime";
import type { Io } from "../../cli/io.ts";
import { usage } from "../../cli/parse.ts";
import type { Workspace } from "../../config/workspace.ts";
import { findWorkspace } from "../../config/workspace.ts";
import { jsonLine } from "../../render/json-events.ts";
import { fit, table } from "../../render/layout.ts";
import { bytes, moment, plural } from "../../render/numbers.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { parseAge, parseSize, retentionOf } from "../../session/retention.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

export async function prune(call: Call, [folder]: readonly string[]): Promise<number> {
  const { given, io, spec } = call;
  if (folder !== undefined && given.has("all")) throw usage(spec, "--all and a folder are both given", "keep one of them");
  const { cwd, root } = await workspaceOf(folder ?? ".", io);
  const wish = { ...wished(call), workspaces: given.has("all") ? null : [...new Set([cwd, root])], atMost: null, weighsAll: true };
  const isDry = given.has("dry-run");
  await withHost(call, async ({ ports, runtime }) => {
    const plan = await runtime.planPrune(ports, wish);
    const gone = isDry ? null : await runtime.prune(ports, plan);
    const shown = { ...plan, going: plan.going.filter(({ row }) => gone === null || gone.includes(row.session)) };
    if (!given.has("json")) {
      io.stdout.write(`${render(shown, isDry, Math.max(io.stdout.columns, 80), given.has("all")).join("\n")}\n`);
      return;
    }
    for (const { row, sizes } of shown.going) {
      const { session, title, workspace, updatedAt } = row;
      io.stdout.write(jsonLine({ type: isDry ? "session.would_go" : "session.pruned", session, title, workspace, updatedAt, sizes }));
    }
    io.stdout.write(jsonLine({ type: "sessions.looked", count: plan.looked, inUse: plan.inUse, sizes: plan.sizes }));
  });
  return 0;
}

/** A folder that is gone has its sessions still, under the path it had. */
async function workspaceOf(folder: string, io: Io): Promise<Workspace> {
  const path = resolve(io.cwd, folder);
  if ((await stat(path).catch(() => null)) === null) return { cwd: path, root: path };
  return findWorkspace(folder, io.cwd, io.env);
}

/** Flags count instead of the config, not beside it. */
function wished({ given, setup, spec }: Call): Pick<PruneWish, "olderThanMs" | "maxBytes"> {
  const age = given.value("older-than");
  const size = given.value("max-size");
  const olderThanMs = age === undefined ? null : parseAge(age);
  const maxBytes = size === undefined ? null : parseSize(size);
  if (age !== undefined && olderThanMs === null)
    throw usage(spec, `--older-than ${JSON.stringify(age)} is not a time such as 30d, 2w or 12h`);
  if (size !== undefined && maxBytes === null) throw usage(spec, `--max-size ${JSON.stringify(size)} is not a size such as 500MB or 2GB`);
  const wish = age === undefined && size === undefined ? retentionOf(setup.config) : { olderThanMs, maxBytes };
  if (wish.olderThanMs === null && wish.maxBytes === null) {
    throw usage(spec, "prune: what is to go?", "name --older-than 30d or --max-size 500MB, or set keep_days or max_size_mb in [sessions]");
  }
  return wish;
}

const sum = ({ log, blobs, outputs }: Sizes): number => log + blobs + outputs;

function render({ going, looked, sizes, inUse }: PrunePlan, isDry: boolean, width: number, isEverywhere: boolean): string[] {
  const freed = going.reduce((total, one) => total + sum(one.sizes), 0);
  const rows = going.map(({ row, sizes: own }) => [
    row.session,
    moment(row.updatedAt),
    bytes(own.log),
    bytes(own.blobs),
    bytes(own.outputs),
    fit(sanitizeLine([...(isEverywhere ? [row.workspace ?? "no folder"] : []), row.title].join(" · ")), 60),
  ]);
  return [
    ...(rows.length === 0 ? [] : [...table([["session", "last change", "log", "contents", "outputs", "title"], ...rows], width), ""]),
    `${isDry ? "would remove" : "removed"} ${going.length} of ${plural(looked, "session")}, ${bytes(freed)} of ${bytes(sum(sizes))}`,
    ...(inUse === 0 ? [] : [`${plural(inUse, "session")} would be old enough, but ${inUse === 1 ? "is" : "are"} in use`]),
  ];
}
