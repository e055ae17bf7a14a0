import { tmpdir } from "node:os";
import type { HookEvent } from "@holdfast/protocol";
import type { Confinement, Hooks, Processes } from "@holdfast/runtime";
import { ids } from "@holdfast/node/host/ids";
import type { HookDefinition } from "@holdfast/node/hooks/create";
import { isAccepted } from "../config/accept-store.ts";
import type { Config } from "../config/config.ts";
import { hookDefinition } from "../config/definitions.ts";

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
  for (const [event, list = []] of Object.entries(config.hooks)) {
    for (const hook of list) {
      const { name, definition } = hookDefinition(event, hook);
      const [root] = confinement.roots;
      if (hook.origin === "project" && (root === undefined || !(await isAccepted(home, "hook", root, definition)))) {
        onNote(`the project's ${name} was not accepted and doesn't run: holdfast trust shows it`);
        continue;
      }
      hooks.push({
        event: name.slice("hooks.".length) as HookEvent,
        command: hook.command,
        matcher: hook.matcher ?? null,
        timeoutMs: hook.timeoutMs,
        from: hook.origin,
      });
    }
  }
  if (hooks.length === 0) return null;
  const [{ createHooks }, { commandEnvironment }] = await Promise.all([
    import("@holdfast/node/hooks/create"),
    import("@holdfast/node/processes/environment"),
  ]);
  const environment = commandEnvironment(env, "/bin/sh", tmpdir(), {});
  return createHooks({ hooks, environment, processes, ids, confinement });
}
