import type { CheckDefinition } from "@holdfast/protocol";
import { sha256 } from "@holdfast/runtime/hash";

/** What a check is, as text: what is run or looked at and what it is bound to. The name and who asked are not part of it. */
export function definitionText(check: CheckDefinition): string {
  switch (check.kind) {
    case "command":
    case "tests": {
      const { kind, command, inputs, outputs, timeoutMs } = check;
      return JSON.stringify([kind, command, inputs, outputs, timeoutMs, ...(check.kind === "tests" ? [check.report] : [])]);
    }
    case "inspected":
      return JSON.stringify([check.kind, check.range, check.files]);
    default:
      return JSON.stringify({ ...check, id: "", name: "", authority: "", isRequired: true });
  }
}

/** Hex SHA-256. */
export function definitionDigest(check: CheckDefinition): string {
  return sha256(definitionText(check));
}
