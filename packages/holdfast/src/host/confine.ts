import type { ProcessesOptions } from "@holdfast/node/processes/index";
import type { SandboxRecipe } from "@holdfast/runtime";
import type { Config } from "../config/keys.ts";

const million = 1_000_000;

/** How commands are confined and limited, as the config says it. What it leaves open, the machine decides. */
export function confinementOf({ sandbox }: Config): Pick<ProcessesOptions, "sandbox" | "limits"> {
  const { unixSockets, namespaces, hide, tmpMb, maxProcesses, maxMemoryMb, keepFreeMb } = sandbox;
  return {
    sandbox: { unixSockets, namespaces, hide, ...(tmpMb !== undefined && { tmpBytes: tmpMb * million }) },
    limits: {
      processes: maxProcesses,
      freeBytes: keepFreeMb * million,
      ...(maxMemoryMb !== undefined && { memoryBytes: maxMemoryMb * million }),
    },
  };
}

/** What has to be made again with a sandbox; null where the config names nothing. */
export function recipeOf({ sandbox: { reconstitute } }: Config): SandboxRecipe | null {
  const { install = [], tools = [], credentials = [] } = reconstitute;
  return install.length + tools.length + credentials.length === 0 ? null : { install, tools, credentials };
}
