/**
 * Characters that a person doesn't see and a model reads: the letters of the tag block, what turns the direction of text
 * around, what has no width, variation selectors in rows, blank letters (Unicode 17, Default_Ignorable_Code_Point; UTS #39).
 * Joiners that emoji and some scripts need stay, and so does one variation selector behind a character.
 */
const hidden =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufff8]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]|[\ufe00-\ufe0f]{2,}/g;

/** Shows them: `<U+202E>`. What was hidden in a text of others is then there for everybody. */
export function showHidden(text: string): string {
  return text.replace(hidden, (found) =>
    [...found].map((character) => `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`).join(""),
  );
}
