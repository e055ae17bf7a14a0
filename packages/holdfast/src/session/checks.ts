import { createHash } from "node:crypto";
import type { CheckDefinition } from "@holdfast/protocol";

const checkTimeoutMs = 15 * 60 * 1000;

/** A person's `--check CMD`. The id comes from the command, so that naming the same command again adds nothing. */
export function checkFromCommand(command: string): CheckDefinition {
  return {
    id: `check_${createHash("sha256").update(command).digest("hex").slice(0, 12)}`,
    kind: "command",
    name: command,
    command,
    authority: "user",
    isRequired: true,
    inputs: [],
    outputs: [],
    timeoutMs: checkTimeoutMs,
  };
}

export function checksFromCommands(commands: readonly string[]): CheckDefinition[] {
  return [...new Set(commands)].map(checkFromCommand);
}
