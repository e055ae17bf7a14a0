/** One place of a pattern: a character, `?` as `any`, or `*` as `some`. */
type Place = string | typeof any | typeof some;
const any = Symbol("any");
const some = Symbol("some");

const read = new Map<string, readonly Place[]>();
const mostKept = 1_000;

/**
 * Whether a text is what a pattern says: `*` stands for any text, `?` for one character, a backslash takes the next character
 * as it is. Takes at most as many looks as both are long, multiplied: a rule must not make a long line slow to decide.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const places = placesOf(pattern);
  const characters = [...text];
  let at = 0;
  let place = 0;
  /** Where to go on after the last star, should what follows it not fit where it was tried. */
  let retry: { readonly place: number; at: number } | null = null;
  while (at < characters.length) {
    const wanted = places[place];
    if (wanted === some) {
      retry = { place, at };
      place += 1;
    } else if (wanted !== undefined && (wanted === any || wanted === characters[at])) {
      place += 1;
      at += 1;
    } else if (retry !== null) {
      retry.at += 1;
      at = retry.at;
      place = retry.place + 1;
    } else return false;
  }
  return places.slice(place).every((rest) => rest === some);
}

function placesOf(pattern: string): readonly Place[] {
  const known = read.get(pattern);
  if (known !== undefined) return known;
  const characters = [...pattern];
  const places: Place[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "\\" && at + 1 < characters.length) places.push(characters[++at]!);
    else places.push(character === "*" ? some : character === "?" ? any : character);
  }
  if (read.size >= mostKept) read.clear();
  read.set(pattern, places);
  return places;
}
