import type { CommandCheck } from "@holdfast/protocol";
import { sha256 } from "@holdfast/runtime/hash";

const defaultTimeoutMs = 10 * 60 * 1000;

/** A check that runs `command` with bash in the working folder and passes when it exits with 0. The same command has the same id. */
export function commandCheck(command: string, options: Partial<Omit<CommandCheck, "id" | "kind" | "command">> = {}): CommandCheck {
  return {
    id: `check_${sha256(command).slice(0, 16)}`,
    kind: "command",
    name: options.name ?? command,
    command,
    authority: options.authority ?? "user",
    isRequired: options.isRequired ?? true,
    inputs: options.inputs ?? [],
    outputs: options.outputs ?? [],
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
  };
}
