import type { Mandate } from "./action.ts";
import { isDictation } from "./dictation.ts";
import type { Atom } from "./atoms.ts";
import { atomsOf, isAddress } from "./atoms.ts";
import { daysOf, isOfTime, isSameDate, isSameDay, timeZone } from "./dates.ts";
import type { Finding } from "./finding.ts";
import { judgeException } from "./left-out.ts";
import { meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { finding } from "./found.ts";
import type { Origin } from "./origin.ts";
import {
  isAskedInWords,
  isNamedSource,
  isPickedOut,
  isPointedTo,
  isProseMeant,
  isCalledIn,
  isSaidAsNumber,
  isSpokenOf,
  originOf,
  saysWhom,
} from "./origin.ts";
import type { Slot } from "./slots.ts";
import type { Piece } from "./source.ts";
import { nameWords, stem, tellingWords, wordsOf } from "./words.ts";

/** Where something goes, or who gets it: said by the user, or of a record that the user's words point to. */
export function judgeAddress(memory: FlowMemory, slot: Slot, mandate: Mandate): Finding[] {
  const value = String(slot.value);
  const parts = atomsOf(value).filter(isAddress);
  // "Ana <ana@example.com>, Bo <bo@example.com>"
  if (parts.length > 1)
    return [
      ...parts.flatMap(({ text }) => judgeAddress(memory, { ...slot, value: text }, mandate)),
      ...beside(memory, value, parts).flatMap((text) => judgeAddress(memory, { ...slot, value: text }, mandate)),
    ];
  const origin = originOf(memory, value, { isWhom: true });
  // The request says to whom, and it is somebody else.
  const isAnother =
    mandate.by.length > 0 &&
    mandate.by.some((asked) => saysWhom(memory, asked)) &&
    !mandate.by.some((asked) => asked.open === "all" || isCalledIn(asked, value, origin.pieces));
  const leftOut = judgeException(memory, slot, origin.pieces);
  if (leftOut.length > 0) return leftOut;
  switch (origin.from) {
    case "user":
      // Said, and not as the one to whom it goes: "I got a strange mail from …; send Nora a summary of it".
      return isAnother && parts.length > 0 && !parts.some(({ key }) => memory.user.given.has(key))
        ? [finding(memory, "unproven", "address", slot, origin, isAnother)]
        : [];
    case "meant":
    case "field":
      if (origin.from === "meant" && !isAnother) return [];
      if (isChosen(memory, value, origin, mandate)) return [];
      return [finding(memory, isSpokenOf(memory, value, origin.pieces) ? "tainted" : "unproven", "address", slot, origin, isAnother)];
    case "prose": {
      const [atom] = parts;
      if (atom !== undefined ? isPickedOut(memory, atom, origin.pieces) : isListed(memory, value, origin.pieces, mandate)) return [];
      return [finding(memory, "tainted", "address", slot, origin, isAnother)];
    }
    case "none":
      return isMadeOfSaid(memory, value, parts.length > 0) ? [] : [finding(memory, "unproven", "address", slot, origin)];
  }
}

/** What else stands in a list of addresses, and is not what the one beside it is called: a name gets it, too. */
function beside(memory: FlowMemory, value: string, parts: readonly Atom[]): string[] {
  return value.split(/[,;\n]/).flatMap((entry) => {
    const own = parts.filter(({ text }) => entry.includes(text));
    const rest = own
      .reduce((left, { text }) => left.replace(text, " "), entry)
      .replaceAll(/[<>()"']/g, " ")
      .trim();
    const called = new Set(
      own.flatMap(({ text, key }) => [
        ...tellingWords(text.replace(/@.*$/, "")),
        ...(memory.named.get(key) ?? []).flatMap(({ record }) => [...record.words]),
      ]),
    );
    return /\p{L}/u.test(rest) && !(own.length > 0 && tellingWords(rest).every((word) => called.has(word) || memory.user.words.has(word)))
      ? [rest]
      : [];
  });
}

/**
 * "Write 'Hi {name}, bring {what}' to everyone on that page": a name, no address, in a text that the user named, to whom goes
 * what they said word for word (another text is a question, see `judgeDictation`).
 */
function isListed(memory: FlowMemory, value: string, pieces: readonly Piece[], { by }: Mandate): boolean {
  if (!plainName.test(value) || value.normalize("NFKC") !== value) return false;
  return by.some(({ open, quoted }) => open === "all" && quoted.some(isDictation)) && pieces.some((piece) => isNamedSource(memory, piece));
}

const plainName = /^\p{L}[\p{L}'’-]{0,40}(?: \p{L}[\p{L}'’-]{0,40}){0,2}$/u;

/** What is acted on, by name or number. A number names something of one kind alone: an event's is no file's. */
export function judgeTarget(memory: FlowMemory, things: ReadonlySet<string>, slot: Slot, mandate: Mandate): Finding[] {
  const value = String(slot.value);
  const origin = originOfSlot(memory, things, slot);
  const leftOut = judgeException(memory, slot, origin.pieces);
  if (leftOut.length > 0) return leftOut;
  switch (origin.from) {
    case "user":
    case "meant":
      return [];
    case "field":
      if (isChosen(memory, value, origin, mandate)) return [];
      return [finding(memory, isSpokenOf(memory, value, origin.pieces) ? "tainted" : "unproven", "target", slot, origin)];
    case "prose":
      return [finding(memory, "tainted", "target", slot, origin)];
    case "none":
      return isMadeOfSaid(memory, value, false) ? [] : [finding(memory, "unproven", "target", slot, origin)];
  }
}

/**
 * Where somebody lives, or a thing is brought: as where a message goes, but also a page or file that the user named may say
 * it. Of any other place, no text of others that they don't point to.
 */
export function judgePlace(memory: FlowMemory, slot: Slot): Finding[] {
  const value = String(slot.value);
  const origin = originOf(memory, value);
  if (origin.from === "user" || origin.from === "meant") return [];
  const isDelivery = nameWords(slot.path).some((word) =>
    /^(?:address|delivery|shipping|billing|destination|postal|dropoff|pickup)$/.test(word),
  );
  // A link is judged as one.
  if (!isDelivery && atomsOf(value).some(isAddress)) return [];
  if (origin.from === "prose")
    return (wordsOf(value).length < 2 && !isDelivery) ||
      origin.pieces.some((piece) => (isDelivery ? isNamedSource(memory, piece) : isPointedTo(memory, piece)))
      ? []
      : [finding(memory, "tainted", "place", slot, origin)];
  if (!isDelivery || (origin.from === "none" && isMadeOfSaid(memory, value, false))) return [];
  return [finding(memory, isSpokenOf(memory, value, origin.pieces) ? "tainted" : "unproven", "place", slot, origin)];
}

/** Where the value of a slot stood; that of an id, among the things of its kind. */
export function originOfSlot(memory: FlowMemory, things: ReadonlySet<string>, { role, path, value }: Slot): Origin {
  if (role !== "id" || !/^[\p{L}]{0,2}\d{1,9}$/u.test(String(value)))
    return originOf(memory, String(value), { isWhom: role === "address" });
  const own = new Set([
    ...nameWords(path)
      .map(stem)
      .filter((word) => !/^(?:id|\d+)$/.test(word)),
    ...things,
  ]);
  return originOf(memory, String(value), {
    isOfKind: ({ field, record }) => own.size === 0 || (field.has("id") && meet([...record.source.toolWords, ...field], own)),
    isNumber: String(value).length <= longestCount && !isSaidAsNumber(memory, String(value), own),
  });
}

/** So short a number can be a time, a day or a count as well. */
const longestCount = 4;

/** The user left it to be found: "the best rated", "all of them". What others' text speaks of wasn't found but suggested. */
function isChosen(memory: FlowMemory, value: string, { pieces }: Origin, { by }: Mandate): boolean {
  const open = by.flatMap((asked) => (asked.isWish || asked.open === null ? [] : [asked.open]));
  if (open.includes("all") && pieces.some(({ record }) => isAskedInWords(memory, record.source))) return true;
  return open.length > 0 && !isSpokenOf(memory, value, pieces);
}

/** A name put together of the user's own words, and of no letter more: `Sarah Connor` of "Sarah" and "Connor", `lunch-with-ana`. */
function isMadeOfSaid({ user }: FlowMemory, value: string, isAtom: boolean): boolean {
  if (isAtom) return false;
  const isOwn = (word: string): boolean => user.words.has(stem(word)) || user.rows.some((row) => row.includes(` ${word} `));
  return tellingWords(value).length > 0 && wordsOf(value).every(isOwn);
}

/** A new password comes from the user alone. */
export function judgeSecret(memory: FlowMemory, slot: Slot): Finding[] {
  const origin = originOf(memory, String(slot.value));
  if (origin.from === "user") return [];
  return [finding(memory, origin.from === "none" ? "unproven" : "tainted", "secret", slot, origin)];
}

/** A day that only others' text names, where the user said another, or doesn't point to that text; and what is no time at all. */
export function judgeTime(memory: FlowMemory, slot: Slot, { by }: Mandate): Finding[] {
  const days = daysOf(String(slot.value));
  const { user, trusted, fieldDays } = memory;
  const other = wordsOf(String(slot.value).replaceAll(timeZone, " ")).find((word) => !isOfTime(word) && !user.words.has(stem(word)));
  const noTime: Finding[] =
    other === undefined
      ? []
      : [{ type: "unproven", id: "no_time", path: slot.path, value: String(slot.value), sentence: `${slot.path} says more than a time.` }];
  return [...noTime, ...daysFromOthers()];

  function daysFromOthers(): Finding[] {
    return days.flatMap((day) => {
      if ([...user.days, ...trusted.days].some((said) => isSameDate(said, day))) return [];
      if (fieldDays.some((known) => isSameDay(known, day))) return [];
      const written = memory.days.filter((one) => isSameDay(one.day, day));
      if (written.length === 0) return [];
      // "On the same day", "six months later": then no text names it.
      const isSaidSo = user.days.length > 0 || by.some(({ isRelative }) => isRelative);
      const isMeant = !isSaidSo && written.some(({ piece }) => isProseMeant(memory, piece));
      const pieces = written.map(({ piece }) => piece);
      return isMeant ? [] : [finding(memory, "tainted", "time", slot, { from: "prose", tool: pieces[0]!.record.source.tool, pieces })];
    });
  }
}

/** The request says a day, and the call is for another. Where it says one in relation to another, no day can be told. */
export function judgeOtherDay(slots: readonly Slot[], { by }: Mandate): Finding[] {
  const asked = by.flatMap(({ days }) => days);
  const times = slots.filter(({ role }) => role === "time").map((slot) => ({ slot, days: daysOf(String(slot.value)) }));
  const given = times.filter(({ days }) => days.length > 0);
  if (asked.length === 0 || given.length === 0 || by.some(({ isRelative }) => isRelative)) return [];
  if (given.some(({ days }) => days.some((day) => asked.some((said) => isSameDate(said, day))))) return [];
  const { slot } = given[0]!;
  return [
    {
      type: "unproven",
      id: "other_day",
      path: slot.path,
      value: String(slot.value),
      sentence: `${slot.path} is another day than the one you said.`,
    },
  ];
}

const broad = /^(?:rw|w|write|writer|edit|editor|modify|admin|administrator|owner|full|public|anyone|everyone|all)$/i;
const broadWords = [
  "edit",
  "writ",
  "chang",
  "modify",
  "contribut",
  "collaborat",
  "rw",
  "admin",
  "administrator",
  "public",
  "own",
  "owner",
  "full",
  "everyon",
  "anyon",
  "updat",
];

/** A wider access than the user's words speak of. */
export function judgeChoice({ user }: FlowMemory, { path, value }: Slot): Finding[] {
  if (!broad.test(String(value)) || broadWords.some((word) => user.words.has(word))) return [];
  return [
    {
      type: "unproven",
      id: "wider",
      path,
      value: String(value),
      sentence: `${path}, ${JSON.stringify(value)}, gives more than your words speak of.`,
    },
  ];
}
