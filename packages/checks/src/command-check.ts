import type { CommandCheck, RunCheck } from "@holdfast/protocol";
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

/** Hex SHA-256 of what is run and what it is bound to; the name and who asked are not part of it. */
export function definitionDigest(check: RunCheck): string {
  return sha256(
    JSON.stringify([
      check.kind,
      check.command,
      check.inputs,
      check.outputs,
      check.timeoutMs,
      ...(check.kind === "tests" ? [check.report] : []),
    ]),
  );
}
