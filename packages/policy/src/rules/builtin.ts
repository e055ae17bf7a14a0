import { allowRules } from "./allow.ts";
import { denyRules } from "./deny.ts";
import { reviewCodeRules } from "./review-code.ts";
import { reviewEffectRules } from "./review-effect.ts";
import type { Rule } from "./rule.ts";

/** The rules that hold where nobody has said otherwise. Among equally strict ones, the first that matches is named. */
export const builtinRules: readonly Rule[] = [...denyRules, ...reviewCodeRules, ...reviewEffectRules, ...allowRules];
