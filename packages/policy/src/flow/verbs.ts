import { askedKinds } from "./lexicon.ts";

/** "Would you mind dropping her a line?" */
function withoutIng(word: string): string {
  const base = word.replace(/ing$/, "");
  return [base, `${base}e`, base.replace(/(.)\1$/, "$1")].find((form) => askedKinds.has(form)) ?? word;
}

/** "I'd appreciate it if you emailed her" */
function withoutEd(word: string): string {
  const base = word.replace(/ed$/, "");
  return past.get(word) ?? [base, `${base}e`, base.replace(/(.)\1$/, "$1")].find((form) => askedKinds.has(form)) ?? word;
}
const past = new Map([
  ["sent", "send"],
  ["told", "tell"],
  ["wrote", "write"],
  ["paid", "pay"],
  ["gave", "give"],
  ["made", "make"],
  ["bought", "buy"],
]);

/** A verb as it is looked up, by what stands before it. */
export function formOf(word: string, before: string): string {
  if (word.endsWith("ing")) return /\byou mind\s+$/i.test(before) ? withoutIng(word) : word;
  return /\bif you(?: also| please| kindly)?\s+$/i.test(before) ? withoutEd(word) : word;
}
