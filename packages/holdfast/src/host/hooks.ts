import { tmpdir } from "node:os";
import type { HookEvent } from "@holdfast/protocol";
import type { Confinement, Hooks, Processes } from "@holdfast/runtime";
import { ids } from "@holdfast/node/host/ids";
import type { HookDefinition } from "@holdfast/node/hooks/create";
import { isAccepted } from "../config/accept-store.ts";
import type { Config } from "../config/config.ts";
import { hookDefinition, snakeOf } from "../config/definitions.ts";

interface HookHost {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes: Processes;
  readonly confinement: Confinement;
  readonly onNote: (message: string) => void;
}

/** The hooks of a session's host; null where none are set. A project's count once they were accepted, exactly as they are. */
export async function openHooks(config: Config, { home, env, processes, confinement, onNote }: HookHost): Promise<Hooks | null> {
  const hooks: HookDefinition[] = [];
  let problem: string | null | undefined;
  for (const [event, list = []] of Object.entries(config.hooks)) {
    for (const hook of list) {
      const name = `hooks.${snakeOf(event)}`;
      const [root] = confinement.roots;
      const isStillAccepted = async (): Promise<boolean> =>
        root !== undefined && isAccepted(home, "hook", root, (await hookDefinition(event, hook, root)).definition);
      if (hook.origin === "project" && !(await isStillAccepted())) {
        onNote(`the project's ${name} was not accepted and doesn't run: holdfast trust shows it`);
        continue;
      }
      if (hook.origin === "project" && (problem ??= await processes.sandboxProblem()) !== null) {
        onNote(`the project's ${name} doesn't run, as it would outside the sandbox: ${problem}`);
        continue;
      }
      hooks.push({
        event: name.slice("hooks.".length) as HookEvent,
        command: hook.command,
        matcher: hook.matcher ?? null,
        timeoutMs: hook.timeoutMs,
        from: hook.origin,
        isStillAccepted,
      });
    }
  }
  if (hooks.length === 0) return null;
  const [{ createHooks }, { commandEnvironment }, { outerPath }] = await Promise.all([
    import("@holdfast/node/hooks/create"),
    import("@holdfast/node/processes/environment"),
    import("@holdfast/node/sandbox/programs"),
  ]);
  // The workspace's programs (`node_modules/.bin` on PATH) are not meant by a name that the user wrote.
  const inherited = { ...env, PATH: outerPath(env["PATH"], confinement.roots) };
  const environment = commandEnvironment(inherited, "/bin/sh", tmpdir(), {});
  // The user let the session's commands out of the sandbox, not a project's hooks.
  const mode = confinement.mode === "off" ? ("workspace-write" as const) : confinement.mode;
  return createHooks({ hooks, environment, processes, ids, confinement: { ...confinement, mode } });
}
