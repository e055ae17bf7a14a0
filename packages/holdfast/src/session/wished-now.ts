import type { LoadedConfig } from "../config/load.ts";
import type { WrittenLimits } from "../config/limits.ts";
import type { SessionWishes } from "./flags.ts";
import { networkOf } from "./flags.ts";

const limitKeys: Readonly<Record<keyof WrittenLimits, string>> = {
  preset: "limits.preset",
  maxSteps: "limits.max_steps",
  maxToolCalls: "limits.max_tool_calls",
  maxTokens: "limits.max_tokens",
  maxCost: "limits.max_cost",
  timeoutMs: "limits.timeout",
  commandTimeoutMs: "limits.command_timeout",
  mutatingCallTimeoutMs: "limits.mutating_call_timeout",
  maxDepth: "limits.max_depth",
};

/**
 * What is asked of a session that goes on: it keeps the settings it has, so the config counts only where it was asked for
 * now, by `--config` or by the profile that `-p` names. Flags of their own are stronger.
 */
export function wishedNow(wishes: SessionWishes, { config, sources }: LoadedConfig, namesProfile: boolean): SessionWishes {
  const isNow = (key: string): boolean => {
    const source = sources.get(key);
    return source !== undefined && (source.layer === "flag" || (namesProfile && source.profile !== null));
  };
  const limits = Object.entries(limitKeys).filter(([, key]) => isNow(key));
  const checks = (config.checks.commands ?? []).filter((_, index) => isNow(`checks.commands.${index}`));
  return {
    ...(config.model !== undefined && isNow("models.main") ? { model: config.model } : {}),
    ...(config.effort !== undefined && isNow("effort") ? { effort: config.effort } : {}),
    ...(isNow("sandbox.mode") ? { sandbox: config.sandbox.mode } : {}),
    ...(isNow("sandbox.allow_net") ? { network: networkOf(config.sandbox.allowNet) } : {}),
    ...(config.approvals !== undefined && isNow("approvals") ? { approvals: config.approvals } : {}),
    ...(config.approvalMs !== undefined && isNow("approval_deadline") ? { approvalMs: config.approvalMs } : {}),
    ...(isNow("approval_default") ? { approvalAtDeadline: config.approvalAtDeadline } : {}),
    ...wishes,
    // A preset that a flag names isn't loosened by single limits of the config, as in a new session.
    limits: {
      ...(wishes.limits.preset === undefined
        ? Object.fromEntries(limits.map(([name]) => [name, config.limits[name as keyof WrittenLimits]]))
        : {}),
      ...wishes.limits,
    },
    takesBaseline: wishes.takesBaseline && (config.checks.baseline || !isNow("checks.baseline")),
    acceptCheckChanges: [...(isNow("checks.accept_changes") ? (config.checks.acceptChanges ?? []) : []), ...wishes.acceptCheckChanges],
    checks: [...new Set([...checks, ...wishes.checks])],
  };
}
