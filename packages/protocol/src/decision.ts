import { z } from "zod";

export const decision = z.enum(["allow", "review", "deny"]);
export type Decision = z.infer<typeof decision>;

/** Which rule said so. `source` is a file with the line of the rule; those of the program itself begin with `builtin`. */
export const ruleRef = z.object({ id: z.string(), source: z.string() });
export type RuleRef = z.infer<typeof ruleRef>;

/** How much further than the session's mode a call may go once it is approved. Empty: just run it in the usual sandbox. */
export const scope = z.object({
  network: z.union([z.literal("all"), z.array(z.string())]).optional(),
  writable: z.array(z.string()).optional(),
  unsandboxed: z.boolean().optional(),
});
export type Scope = z.infer<typeof scope>;

/** What happens to an effect that ended without a definite answer. Listed from the loosest to the strictest. */
export const replayClasses = ["safe", "keyed", "probe", "never"] as const;
export const replayClass = z.enum(replayClasses);
export type ReplayClass = z.infer<typeof replayClass>;

export function stricterClass(a: ReplayClass, b: ReplayClass): ReplayClass {
  return replayClasses.indexOf(a) >= replayClasses.indexOf(b) ? a : b;
}

export const sandboxMode = z.enum(["read-only", "workspace-write", "off"]);
export type SandboxMode = z.infer<typeof sandboxMode>;
export const approvalMode = z.enum(["ask", "deny", "allow"]);
export type ApprovalMode = z.infer<typeof approvalMode>;
