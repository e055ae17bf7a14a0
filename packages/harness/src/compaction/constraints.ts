/** What makes a sentence of the user's a rule for the work. Wide on purpose: one too many costs a line, one too few a promise. */
const binding =
  /\b(?:must|mustn't|never|always|don['’]?t|do not|only|at (?:most|least)|no (?:more|less|fewer|later) than|without|keep|avoid|required?|requires|forbid(?:den)?|not allowed|should|shouldn['’]?t|ensure|make sure|untouched|unchanged|under no circumstances|may not|cannot|can['’]?t|unless|except|limit(?:ed)?|constraint|rule|budget|deadline|until|nothing (?:else|but)|instead of|rather than|before you|leave)\b/i;

/** The sentences and list lines of a text that bind whoever works on it, word for word. */
export function constraintsIn(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => line.split(/(?<=[.!?])\s+(?=\p{Lu}|["'`(])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => binding.test(sentence));
}
