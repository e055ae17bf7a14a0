/**
 * Characters that a person doesn't see and a model reads: the letters of the tag block, what turns the direction of text
 * around, what has no width, variation selectors, blank letters (Unicode 17, Default_Ignorable_Code_Point; UTS #39).
 * Joiners and selectors that emoji and some scripts need stay: elsewhere each is a bit that nobody sees.
 */
const hidden =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb]|\ud82f[\udca0-\udca3]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]|[\ufe00-\ufe0f]/g;

/** A joiner that writing needs: between letters of scripts that use it, or inside an emoji. */
const usedJoiner =
  /(?<=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Default_Ignorable_Code_Point}]])[\u200c\u200d](?=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Default_Ignorable_Code_Point}]])|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}#*0-9])\ufe0f/vy;

/** Shows them: `<U+202E>`. What was hidden in a text of others is then there for everybody. */
export function showHidden(text: string): string {
  return text.replace(hidden, (found: string, index: number, whole: string) =>
    isUsedJoiner(found, index, whole) ? found : `<U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}

const windowBefore = 3;

/** Of a joiner or the selector for emoji at that place of a text. */
export function isUsedJoiner(character: string, index: number, whole: string): boolean {
  if (character !== "\u200c" && character !== "\u200d" && character !== "\ufe0f") return false;
  // A window of a few units: a lookbehind needs the whole code point before the joiner, and a variation selector between.
  const start = Math.max(0, index - windowBefore);
  const window = whole.slice(start, index + 3);
  usedJoiner.lastIndex = index - start;
  return usedJoiner.test(window.toWellFormed());
}
