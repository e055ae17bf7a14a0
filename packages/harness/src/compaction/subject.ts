import { valuesIn } from "../values/kinds.ts";

/** What a line speaks of, and what it says of it: `port = 40001` of `port`, `deployed 1.2.3 to eu` of `deployed # to eu`. */
export interface Said {
  readonly subject: string;
  readonly values: readonly string[];
  /** The words before each value: where there are none, nothing says what it is. */
  readonly isNamed: readonly boolean[];
}

/** Too common to be worth a place by themselves. */
const weak: ReadonlySet<string> = new Set(["quoted", "name", "number", "amount"]);
const setting = /^["'\s]*(?:export\s+|set\s+|-\s+)?([A-Za-z_][\w.-]*)["']?\s*(?:=\s*(?=.*\w)|:\s+(?=\S+$))(.*)$/;
const withDigit = /[^\s=:,;"'()[\]{}<>|]*\d[^\s=:,;"'()[\]{}<>|]*/g;
const hasWord = /\p{L}{2}/u;

/** Whether a line has a value that is worth a place. */
export function isTelling(line: string): boolean {
  return valuesIn(line).some(({ kind }) => !weak.has(kind));
}

/** A line as `read_file` shows it, without its number. */
export function bareLine(line: string): string {
  return line.replace(/^\s*\d+\t/, "").trim();
}

export function saidBy(line: string): Said {
  const [, key, value = ""] = setting.exec(line) ?? [];
  if (key !== undefined && !/\w=/.test(value)) return { subject: key, values: [value.replace(/,$/, "")], isNamed: [true] };
  const isValue = new Uint8Array(line.length);
  for (const { kind, value: found, at } of valuesIn(line))
    if (!weak.has(kind) && kind !== "setting") isValue.fill(1, at, at + found.length);
  for (const match of line.matchAll(withDigit)) isValue.fill(1, match.index, match.index + match[0].length);
  const values: string[] = [];
  const isNamed: boolean[] = [];
  let subject = "";
  for (let at = 0; at < line.length; at += 1) {
    if (isValue[at] !== 1) subject += line[at];
    else if (at > 0 && isValue[at - 1] === 1) values.push(values.pop()! + line[at]);
    else {
      isNamed.push(hasWord.test(subject));
      subject += "#";
      values.push(line[at]!);
    }
  }
  return { subject, values, isNamed };
}

/** Nothing but values: a line of data, or a value alone. */
export function isBare({ subject }: Said): boolean {
  return !hasWord.test(subject);
}

/** Both are of the same thing, and one thing in them differs. */
export function differs(one: Said, other: Said): boolean {
  if (one.subject !== other.subject || one.values.length !== other.values.length) return false;
  const apart = one.values.flatMap((value, at) => (value === other.values[at] ? [] : [at]));
  return apart.length === 1 && one.isNamed[apart[0]!] === true;
}
