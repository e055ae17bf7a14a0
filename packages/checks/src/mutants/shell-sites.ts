import type { Edit, Sites } from "./sites.ts";
import { otherNumber, otherString } from "./values.ts";

/** `[ A = B ]` and its like, with what stands before and behind it in its line. */
const tests =
  /(?<=^|[\s;&|!({])(?:\[\[?|test)[ \t]+([^\n]*?)[ \t](==?|!=|-eq|-ne)[ \t]+("[^"\n]*"|'[^'\n]*'|[^\s;&|)\]]+)(?=[ \t]*(?:\]\]?|;|&&|\|\||$))/gm;
const fails = /\b(?:exit|return)\s+["']?[1-9$]|\b(?:fail\w*|die|err\w*|bad|wrong|not[ _]ok|bail\w*|status)\b|\bFAIL/i;
const turned: Readonly<Record<string, string>> = { "=": "!=", "==": "!=", "!=": "=", "-eq": "-ne", "-ne": "-eq" };

/** Comparisons of a shell script on whose outcome a failure hangs. */
export function shellSites(text: string): Sites {
  const values: Edit[] = [];
  const turns: Edit[] = [];
  for (const found of text.matchAll(tests)) {
    const [all, , operator = "", value = ""] = found;
    const end = found.index + all.length;
    if (!decides(text, found.index, end)) continue;
    const from = end - value.length;
    const changed = value.includes("$") || value.includes("`") ? null : otherWord(value);
    if (changed !== null) values.push({ from, end, text: changed });
    const at = text.lastIndexOf(operator, from - 1);
    turns.push({ from: at, end: at + operator.length, text: turned[operator] ?? operator });
  }
  return { values, turns };
}

function otherWord(value: string): string | null {
  if (/^["']/.test(value)) return otherString(".sh", value);
  if (/^\d+$/.test(value)) return otherNumber(value);
  return /^[\w.-]+$/.test(value) ? `x${value}` : null;
}

function decides(text: string, from: number, end: number): boolean {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const before = text.slice(start, from).trim();
  const behind =
    /^[^\n]*/
      .exec(text.slice(end))?.[0]
      .replace(/^[ \t]*\]\]?/, "")
      .trim() ?? "";
  if (/^#|\b(?:while|until|for)\b/.test(before)) return false;
  if (/\b(?:if|elif)\b/.test(before)) return fails.test(/^[\s\S]{0,600}?(?=\b(?:fi|elif)\b|$)/.exec(text.slice(end))?.[0] ?? "");
  if (behind === "" || /^[})]/.test(behind)) return true;
  return /^(?:\|\||&&)/.test(behind) && (fails.test(behind) || /^(?:\|\||&&)\s*\{?\s*$/.test(behind));
}
