import type { CheckDefinition, RunCheck } from "@holdfast/protocol";
import { sha256 } from "@holdfast/runtime/hash";

/** What a check is, as text: what is run or looked at and what it is bound to. The name and who asked are not part of it. */
export function definitionText(check: CheckDefinition): string {
  switch (check.kind) {
    case "command":
    case "tests": {
      const { kind, command, inputs, outputs, timeoutMs, needs = [] } = check;
      const report = check.kind === "tests" ? [check.report] : [];
      return JSON.stringify([kind, command, inputs, outputs, timeoutMs, ...report, ...(needs.length === 0 ? [] : [{ needs }])]);
    }
    case "inspected":
      return JSON.stringify([check.kind, check.range, check.files]);
    default:
      return JSON.stringify({ ...check, id: "", name: "", authority: "", isRequired: true, order: undefined });
  }
}

/** Whether it tests what commands of the session serve. */
export function needsRunning({ needs = [] }: RunCheck): boolean {
  return needs.length > 0;
}

/** Hex SHA-256. */
export function definitionDigest(check: CheckDefinition): string {
  return sha256(definitionText(check));
}
