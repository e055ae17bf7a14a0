import type { Edit, Sites } from "./edit.ts";
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
    const holds = mustHold(text, found.index, end);
    if (holds === null) continue;
    const from = end - value.length;
    const changed = value.includes("$") || value.includes("`") ? null : otherWord(value);
    if (changed !== null && holds === !/^(?:!=|-ne)$/.test(operator)) values.push({ from, end, text: changed });
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

/** Whether it must hold so that nothing fails; null where nothing hangs on it. */
function mustHold(text: string, from: number, end: number): boolean | null {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const before = text.slice(start, from).trim();
  const line = /^[^\n]*/.exec(text.slice(end))?.[0] ?? "";
  const behind = line.replace(/^[ \t]*\]\]?/, "").trim();
  if (/^#|\b(?:while|until|for)\b/.test(before) || /(?:&&|\|\|)/.test(before)) return null;
  const isNot = /(?:^|[\s;(])!$/.test(before);
  if (/\b(?:if|elif)\b/.test(before)) {
    if (!/^;|^$/.test(behind)) return null;
    const [, then = "", other = ""] = /^([\s\S]{0,600}?)(?:\belse\b([\s\S]{0,600}?))?(?=\b(?:fi|elif)\b|$)/.exec(text.slice(end)) ?? [];
    if (fails.test(then) === fails.test(other)) return null;
    return fails.test(other) !== isNot;
  }
  if (behind === "" || /^[})]/.test(behind)) return !isNot;
  const [, joins = "", next = ""] = /^(\|\||&&)(.*)$/.exec(behind) ?? [];
  if (joins === "" || !(fails.test(next) || /^\s*\{?\s*$/.test(next))) return null;
  return (joins === "||") !== isNot;
}
