/** Words that say nothing of what is meant. */
const empty = new Set(
  (
    "a an the this that these those i me my mine we us our you your he him his she her it its they them their who whom whose which what " +
    "and or but if then than so as at by for from in into of off on onto out over to up with without about after again all also am any are " +
    "be been being both can cannot could did do does doing done each every few had has have having here how i'm just let like may might more " +
    "most must need no nor not now only other ought please same shall should some such there through too under until very was were when where " +
    "while why will would yes thanks thank hi hey hello ok okay get got one two new via per etc using use"
  ).split(" "),
);

/** The words of a text in lower case, in order: letters and digits of any script. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** A name as programs write it (`sendMail`, `send_mail`, `send-mail`) as words. */
export function nameWords(name: string): string[] {
  return wordsOf(
    name
      .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
      .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
      .replaceAll("_", " "),
  );
}

/** A word without its usual endings, so that `reviews` and `review`, `booked` and `booking` meet. */
export function stem(word: string): string {
  let stemmed = word;
  if (stemmed.length > 4 && stemmed.endsWith("ies")) stemmed = `${stemmed.slice(0, -3)}y`;
  else if (stemmed.length > 4 && /(?:s|x|ch|sh)es$/.test(stemmed)) stemmed = stemmed.slice(0, -2);
  else if (stemmed.length > 3 && stemmed.endsWith("s") && !stemmed.endsWith("ss")) stemmed = stemmed.slice(0, -1);
  if (stemmed.length > 5 && stemmed.endsWith("ing")) stemmed = undouble(stemmed.slice(0, -3));
  else if (stemmed.length > 4 && stemmed.endsWith("ed")) stemmed = undouble(stemmed.slice(0, -2));
  return stemmed.length > 4 && stemmed.endsWith("e") ? stemmed.slice(0, -1) : stemmed;
}

function undouble(word: string): string {
  return /([bdgklmnprt])\1$/.test(word) && !word.endsWith("ll") ? word.slice(0, -1) : word;
}

/** Words that tell something: stems, without those that stand in any sentence, and without single letters. */
export function tellingWords(text: string): string[] {
  return wordsOf(text).flatMap((word) => (word.length < 2 || empty.has(word) ? [] : [stem(word)]));
}

/** Words in a row as one text that can be looked into: ` send it now `. */
export function rowOf(words: readonly string[]): string {
  return words.length === 0 ? " " : ` ${words.join(" ")} `;
}

/** Two writings of one value meet: case, widths, blanks, a mark before it (`#general`), quotes and full stops around it. */
export function keyOf(value: string): string {
  return value
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/^[\s"'`“”‘’#@.,;:!?()[\]]+|[\s"'`“”‘’.,;:!?()[\]]+$/g, "");
}

/** Where mail goes says nothing of who is meant: `@example.com` is no word. */
export function withoutDomains(text: string): string {
  return text
    .replaceAll(/(?<=[\p{L}\p{N}._%+-])@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu, " ")
    .replaceAll(/(?:\bhttps?:\/\/|\bwww\.)([\p{L}\p{N}.-]*)\.[\p{L}\p{N}-]+/giu, " $1 ")
    .replaceAll(/\b(?:https?|www|com|org|net|html?)\b/gi, " ");
}
