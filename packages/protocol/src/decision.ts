import { z } from "zod";
import { trustLabel } from "./trust.ts";

export const decision = z.enum(["allow", "review", "deny"]);
export type Decision = z.infer<typeof decision>;

/** Which rule said so. `source` is a file with the line of the rule; those of the program itself begin with `builtin`. */
export const ruleRef = z.object({ id: z.string(), source: z.string() });
export type RuleRef = z.infer<typeof ruleRef>;

/** How much further than the session's mode a call may go once it is approved. Empty: just run it in the usual sandbox. */
export const scope = z.object({
  network: z.union([z.literal("all"), z.array(z.string())]).optional(),
  writable: z.array(z.string()).optional(),
  /** Names of secrets that the command gets, each as an environment variable: only by a rule. */
  secrets: z.array(z.string()).optional(),
  unsandboxed: z.boolean().optional(),
});
export type Scope = z.infer<typeof scope>;

/**
 * What a person asked should weigh: what the call touches, whether it can be taken back, how far it reaches, and what in the
 * session speaks for care. Derived from the call by code; no model had a say in it.
 */
export const riskNote = z.object({
  level: z.enum(["low", "medium", "high"]),
  touches: z.array(z.string()),
  /** `nothing`: there is nothing to take back. */
  reversible: z.enum(["nothing", "by_hand", "unknown", "no"]),
  reach: z.enum(["workspace", "machine", "elsewhere"]),
  trust: z.array(z.string()),
});
export type RiskNote = z.infer<typeof riskNote>;

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

/** Where a value of a call's input stood: the label of a span that was derived. `tool`: in whose result. */
export const valueOrigin = z.object({
  path: z.string(),
  /** In the user's words; in a field of a record that they point to, or of another; in text that others wrote; nowhere. */
  from: z.enum(["user", "meant", "field", "prose", "none"]),
  trust: trustLabel,
  tool: z.string().optional(),
});
export type ValueOrigin = z.infer<typeof valueOrigin>;
