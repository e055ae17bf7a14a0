import { isClosing, isOpeningWord, type Said } from "./words.ts";

/** What a test goes through row by row. */
const table = /^for\b|^(?:(?:const|let|var|my|final) )?(?:\w+ )*\w*(?:cases?|tests?|tables?|examples?|scenarios?|samples?)\b(?: :)? =/i;

export function isTable({ text }: Said): boolean {
  return table.test(text);
}

/** Whether a table is the other with rows put into it, and nothing else. */
export function growsTable(was: Said, is: Said): boolean {
  return isTable(was) && hasMoreRows(was.words, is.words);
}

/** Whether words are the others with rows put into their outermost lists; a list in a row is a value, as others are. */
export function hasMoreRows(old: readonly string[], now: readonly string[]): boolean {
  const around: { readonly sign: string; readonly isInRow: boolean }[] = [];
  let at = 0;
  for (let index = 0; index < now.length; index += 1) {
    const word = now[index] ?? "";
    const list = around.at(-1);
    const isRows = list !== undefined && !list.isInRow && list.sign !== "(";
    const row = isRows ? rowAt(now, index) : 0;
    if (row > 0 && !startsAlike(old, at, now, index, row)) {
      index += row - 1;
      continue;
    }
    if (old[at] !== word) return false;
    at += 1;
    if (isOpeningWord(word)) around.push({ sign: word, isInRow: list !== undefined && (list.isInRow || list.sign !== "(") });
    else if (isClosing(word)) around.pop();
  }
  return at === old.length;
}

/** How many words a row of a list has here, with its comma; 0 where none begins. */
function rowAt(words: readonly string[], from: number): number {
  const comma = words[from] === "," ? 1 : 0;
  if (!isOpeningWord(words[from + comma])) return 0;
  let depth = 0;
  for (let at = from + comma; at < words.length; at += 1) {
    if (isOpeningWord(words[at])) depth += 1;
    else if (isClosing(words[at]) && (depth -= 1) === 0) {
      if (comma === 1) return at + 1 - from;
      return words[at + 1] === "," ? at + 2 - from : 0;
    }
  }
  return 0;
}

function startsAlike(old: readonly string[], at: number, now: readonly string[], index: number, length: number): boolean {
  const row = now.slice(index, index + length);
  if (row.at(-1) === ",") row.pop();
  return row.every((word, offset) => old[at + offset] === word);
}
