import { createHash } from "node:crypto";
import type { CommandCheck } from "@holdfast/protocol";
import type { LoadedConfig } from "../config/load.ts";

const checkTimeoutMs = 15 * 60 * 1000;

/** A command to check with, of a person or of a trusted project's config. The id comes from the command, so that naming the same command again adds nothing. */
export function checkFromCommand(command: string, authority: "user" | "project" = "user"): CommandCheck {
  return {
    id: `check_${createHash("sha256").update(command).digest("hex").slice(0, 12)}`,
    kind: "command",
    name: command,
    command,
    authority,
    isRequired: true,
    inputs: [],
    outputs: [],
    timeoutMs: checkTimeoutMs,
  };
}

export function checksFromCommands(commands: readonly string[]): CommandCheck[] {
  return [...new Set(commands)].map((command) => checkFromCommand(command));
}

/** The checks of a new session: those of the config, then those that were named now. */
export function newChecks({ config, sources }: LoadedConfig, named: readonly string[]): CommandCheck[] {
  const configured = (config.checks.commands ?? []).map((command, index) => {
    const isProjects = sources.get(`checks.commands.${index}`)?.layer === "project";
    return checkFromCommand(command, isProjects && !named.includes(command) ? "project" : "user");
  });
  return [...new Map([...configured, ...checksFromCommands(named)].map((check) => [check.id, check])).values()];
}
