import type { ReviewRange, SandboxMode } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Tool } from "@holdfast/runtime";
import type { Workspace } from "../config/workspace.ts";
import type { HostOptions, Hosts, SessionStanding } from "../runtime-api.ts";
import type { Changes } from "./changes.ts";
import { readChanges } from "./changes.ts";

/** The changes of a range, read through a host that is open for this alone. Throws as `readChanges`. */
export async function changesIn(
  hosts: Hosts,
  setup: HostOptions,
  { cwd, root }: Workspace,
  sandbox: SandboxMode | undefined,
  range: ReviewRange,
): Promise<Changes> {
  const host = await hosts.openHost(setup, { cwd, roots: [{ id: "root", path: root }] });
  const { processes, ids } = host.ports;
  const session = ids.next("review");
  const mode = sandbox === "off" ? "off" : "read-only";
  try {
    const confinement = { mode, network: "none", scope: {}, roots: [root], purpose: "session" } as const;
    return await readChanges({ processes, session, root, confinement }, range);
  } finally {
    await processes.endSession(session, { forget: true });
    await host.close();
  }
}

/**
 * What a review reads its changes with, in a process that goes on with it: the changes as they are now. One that differs from
 * what the review began with counts as not read. None where there is nothing left of them.
 */
export async function reviewTools(hosts: Hosts, setup: HostOptions, workspace: Workspace, view: SessionStanding): Promise<readonly Tool[]> {
  const source = view.checks.find((check) => check.kind === "inspected")?.source;
  if (source === undefined) return [];
  try {
    const [{ readChange }, changes] = await Promise.all([
      import("@holdfast/tools/read-change"),
      changesIn(hosts, setup, workspace, view.settings.sandbox, source),
    ]);
    return [readChange(changes.files)];
  } catch (error) {
    if (isHoldfastError(error, "usage") || isHoldfastError(error, "workspace_invalid")) return [];
    throw error;
  }
}
