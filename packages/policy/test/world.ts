import type { PolicyDecision } from "@holdfast/runtime";
import { machine, request, type Setting } from "../src/examples/machine.ts";
import { createPolicy, type RuleExample } from "../src/index.ts";

export { home, identify, request, type Setting, workspace } from "../src/examples/machine.ts";

export const policy = createPolicy(machine);

export function decide(example: RuleExample, setting: Setting = {}): Promise<PolicyDecision> {
  return policy.decide(request(example, setting));
}
