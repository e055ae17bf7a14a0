/** One simple command: its words without quotes. Expansions stay as they were written. */
export type Words = readonly string[];

/**
 * The simple commands of a shell line or script, well enough to find the files and scripts it names. What it can't read
 * it takes as plain words: naming a file too many costs a run, one too few is what the subject's digest is for.
 */
export function simpleCommands(text: string): Words[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  const endWord = (): void => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i] ?? "";
    if (c === "'") {
      const end = text.indexOf("'", i + 1);
      word = (word ?? "") + text.slice(i + 1, end < 0 ? undefined : end);
      i = end < 0 ? text.length : end;
    } else if (c === '"') {
      let inner = "";
      for (i += 1; i < text.length && text[i] !== '"'; i += 1) {
        if (text[i] === "\\" && '"\\$`\n'.includes(text[i + 1] ?? " ")) i += 1;
        inner += text[i];
      }
      word = (word ?? "") + inner;
    } else if (c === "\\") {
      if (text[i + 1] !== "\n") word = (word ?? "") + (text[i + 1] ?? "");
      i += 1;
    } else if (c === "#" && word === null) {
      const end = text.indexOf("\n", i);
      i = end < 0 ? text.length : end - 1;
    } else if (c === " " || c === "\t" || c === "\r") endWord();
    else if (c === "<" || c === ">") endWord();
    else if (";|&\n()`".includes(c) || (c === "$" && text[i + 1] === "(")) endCommand();
    else word = (word ?? "") + c;
  }
  endCommand();
  return commands;
}
