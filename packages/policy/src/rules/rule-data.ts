import type { Decision } from "@holdfast/protocol";
import type { WordsMatch } from "./command-words.ts";
import type { RuleExample } from "./rule.ts";

type One = string | readonly string[];

/** A rule as a file holds it: an entry of `[[rule]]`. docs/policy.md says what each key means. */
export interface RuleData {
  readonly id: string;
  readonly decision: Decision;
  readonly reason?: string;
  readonly model?: string;
  readonly command?: One;
  readonly match?: WordsMatch;
  readonly tool?: One;
  readonly read?: One;
  readonly write?: One;
  readonly host?: One;
  readonly mcp?: One;
  readonly fact?: One;
  readonly mode?: One;
  readonly untrusted_content?: boolean;
  readonly trusted_project?: boolean;
  readonly sends_out?: boolean;
  readonly changes_outside?: boolean;
  readonly project?: string;
  readonly network?: One;
  readonly writable?: One;
  readonly secret?: One;
  readonly examples?: readonly RuleExample[];
  readonly counterexamples?: readonly RuleExample[];
}

/** A rule as the text of a file's `[[rule]]`, to be shown to a person and appended to a file of theirs. Pure. */
export function renderRule(rule: RuleData): string {
  const lines = Object.entries(rule).flatMap(([key, value]) => (value === undefined ? [] : [`${key} = ${renderValue(value)}`]));
  return `[[rule]]\n${lines.join("\n")}\n`;
}

function renderValue(value: unknown): string {
  if (typeof value === "string") return renderText(value);
  if (Array.isArray(value)) return `[${value.map(renderValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key} = ${renderValue(inner)}`)
      .join(", ")} }`;
  }
  return String(value);
}

/** JSON's escapes are TOML's, but for the delete character, which TOML wants escaped, too; nor may hidden characters hide in a rule. */
function renderText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
