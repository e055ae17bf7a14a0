import { randomBytes } from "node:crypto";
import type { Confinement, Processes } from "@holdfast/runtime/ports/processes";
import type { SandboxProvider } from "@holdfast/runtime/sandbox/from-recipe";
import { bootId } from "../processes/identity.ts";

const installMs = 600_000;
const outputCap = 16 * 1024 * 1024;

/**
 * This machine as a provider of sandboxes, the plainest there is: one lasts as long as what its commands share, which ends with
 * the process that drives the session, and then another is there at once. The workspace lies on its disk and outlives both, so
 * there is nothing to save or to restore, and what changes it meanwhile is its owner. What the recipe installs runs as a
 * session's command does.
 */
export function localProvider(
  processes: Processes & { standing(session: string): string | null },
  confinement: Confinement,
  cwd: string,
): SandboxProvider {
  const idOf = (session: string): string => `${session}@${bootId()}.${processes.standing(session) ?? "none"}`;
  const sessionOf = (id: string): string => id.slice(0, id.lastIndexOf("@"));
  const lasting = (id: string) => ({ id, expiresAt: null });
  const run: SandboxProvider["run"] = async (id, line) => {
    const name = `sandbox-${randomBytes(6).toString("hex")}`;
    const spec = { session: sessionOf(id), id: name, attempt: 1, command: line, cwd, timeoutMs: installMs, outputCap, env: {} };
    const running = await processes.start({ ...spec, confinement });
    const { end } = await running.ended;
    const { bytes } = await processes.read(running.ref, 0, outputCap);
    return { exitCode: end.type === "exited" ? end.exitCode : null, text: new TextDecoder().decode(bytes) };
  };

  return {
    keepsFiles: true,
    create: async (session) => {
      // It stands from the first command on.
      if (confinement.mode !== "off") await run(`${session}@`, "true");
      return lasting(idOf(session));
    },
    find: async (id) => (id === idOf(sessionOf(id)) ? lasting(id) : null),
    restore: async () => undefined,
    // Commands get no secret; what sends them reads them itself.
    give: async () => undefined,
    prolong: async (id) => lasting(id),
    save: async (id) => ({ snapshot: id, subject: own }),
    digest: async () => own,
    run,
  };
}

const own = "the machine's own";
