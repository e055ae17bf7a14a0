import { presetRules } from "../presets/rules.ts";
import type { Mode, Rule } from "./rule.ts";

const byMode: Readonly<Record<Mode, readonly Rule[]>> = {
  "read-only": presetRules["read-only"],
  workspace: presetRules.workspace,
  full: presetRules.full,
  plan: presetRules.plan,
};

const { deny, code, effect, allow } = presetRules;
const made = new Map<Mode, readonly Rule[]>();

/**
 * The rules that hold in a mode where nobody has said otherwise, without their examples. Among equally strict ones, the
 * first that matches is named.
 */
export function builtinRules(mode: Mode): readonly Rule[] {
  const known = made.get(mode);
  if (known !== undefined) return known;
  const rules: readonly Rule[] = [...deny, ...code, ...effect, ...byMode[mode], ...allow];
  made.set(mode, rules);
  return rules;
}
