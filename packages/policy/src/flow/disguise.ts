import type { Atom } from "./atoms.ts";
import { isAddress } from "./atoms.ts";

/** An address or a code that stood in a text of others, as it is looked for in other writings. */
export interface Marked {
  readonly atom: Atom;
  readonly letters: string;
  /** Only the part of it that tells which: the name of a host, of a mailbox. */
  readonly part?: string;
}

/** Marked atoms by their first letters. */
export type Marks = Map<string, Marked[]>;

const shortestAddress = 8;
const shortestCode = 6;
/** By so many letters they are looked up. */
const gram = 6;
const mostAlike = 2_000;

export function mark(marks: Marks, atom: Atom): void {
  // "I come tomorrow.Please wait": a full stop without a blank makes no address that could be hidden elsewhere.
  if (atom.kind === "url" && /^[^/:.]+\.\p{Lu}[^/:.]*$/u.test(atom.text)) return;
  add(marks, { atom, letters: lettersOf(atom.key.replace(/^www\./, "")).letters }, isAddress(atom) ? shortestAddress : shortestCode);
  for (const part of partsOf(atom)) add(marks, { atom, letters: lettersOf(part).letters, part }, shortestAddress);
  for (const part of hostsOf(atom)) {
    const { letters } = lettersOf(part);
    add(marks, { atom, letters, part }, shortestAddress);
    // A short one is found only by its signs: "it is" is no "it.is".
    if (letters.length < shortestAddress) put(marks, { atom, letters, part }, signed(part));
  }
}

function add(marks: Marks, marked: Marked, shortest: number): void {
  const { letters } = marked;
  if (letters.length < shortest) return;
  put(marks, marked, letters.slice(0, gram));
}

function put(marks: Marks, marked: Marked, key: string): void {
  const { letters, part } = marked;
  const found = marks.get(key);
  if (found === undefined) marks.set(key, [marked]);
  else if (found.some((other) => other.letters === letters && (other.part === undefined) === (part === undefined))) return;
  // So many that begin alike are decoys: what begins so is then any of them.
  else if (found.length < mostAlike) found.push(marked);
  else if (found.length === mostAlike) found.push({ atom: marked.atom, letters: key });
}

/**
 * The part of an address by which somebody finds the rest: a name with digits, as nobody is called by chance; of an account,
 * its beginning and its end.
 */
function partsOf({ kind, key }: Atom): string[] {
  if (kind === "account") return [key.slice(0, accountPart), key.slice(-accountPart)];
  if (kind !== "email" && kind !== "url") return [];
  const host = key.replace(/^[^/]*@/, "").replace(/[/?#:].*$/, "");
  const names = [...host.split(".").slice(0, -1), ...(kind === "email" ? [key.slice(0, key.lastIndexOf("@"))] : [])];
  return names.filter((name) => /\d/.test(name) && /\p{L}/u.test(name));
}
const accountPart = 12;

/** The host of a link, and the domains around it: "see quickbox dot com" leads there as well. */
function hostsOf({ kind, key, text }: Atom): string[] {
  if (kind !== "url") return [];
  const labels = key
    .replace(/^www\./, "")
    .replace(/[/?#:].*$/, "")
    .split(".");
  const isPlain = /^[^/]*$/.test(text);
  // "Finish it.so we can go": a blank is missing there.
  if (labels.length < 2 || (isPlain && labels.length === 2 && commonWord.test(labels[1]!))) return [];
  return labels
    .slice(0, -1)
    .map((_, at) => labels.slice(at))
    .slice(0, mostLabels)
    .filter((rest) => rest.length > 2 || labels.length === 2 || !/^(?:com?|org|net|gov|ac|edu|or|ne)$/.test(rest[0]!))
    .map((rest) => rest.join("."));
}
const mostLabels = 4;
const commonWord =
  /^(?:so|is|it|in|at|be|me|my|no|to|as|am|do|us|an|by|go|pm|if|or|of|on|we|he|you|the|and|but|please|thanks|then|this|that)$/;

/** As it is looked for among what stands around signs. */
function signed(host: string): string {
  return `.${host
    .split(".")
    .map((label) => lettersOf(label).letters)
    .join(".")}`;
}

/** Hosts that a text tells with blanks, brackets or words around or for their signs: "evil . com", "evil[.]com". */
function hostsToldIn(text: string): string[] {
  const told = alike(text).replaceAll(toldDot, ".");
  return [...told.matchAll(/[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu)].flatMap(([run]) => {
    const labels = run.replaceAll("-", "").split(".");
    return labels.flatMap((_, at) =>
      [2, 3, 4].flatMap((count) => (at + count <= labels.length ? [`.${labels.slice(at, at + count).join(".")}`] : [])),
    );
  });
}

/**
 * The marked atoms that a text holds in another writing than their own: with blanks or signs between, "dot" and "at" in
 * words, letters of another script or width that look the same, backwards, percent-encoded, as HTML entities, base64 or hex.
 */
export function disguisedIn(marks: Marks, text: string): Marked[] {
  if (marks.size === 0) return [];
  const found = new Map<string, Marked>();
  const note = (marked: Marked): void => void found.set(`${marked.atom.key}\n${marked.part ?? ""}`, marked);
  for (const reading of readingsOf(text.slice(0, longest))) {
    const own = lettersOf(reading);
    for (const host of hostsToldIn(reading)) for (const marked of marks.get(host) ?? []) note(marked);
    for (const { letters, starts } of reading === text
      ? [own, turned(own), digitsOf(text), digitsOf(inDigits(text))]
      : [own, turned(own)]) {
      for (let at = 0; at + gram <= letters.length; at += 1) {
        for (const marked of marks.get(letters.slice(at, at + gram)) ?? []) {
          const { atom, letters: wanted, part } = marked;
          if (!letters.startsWith(wanted, at)) continue;
          // Digits stand beside digits by chance; an address is long enough to be meant.
          const end = at + wanted.length;
          const isLong = isAddress(atom) && (part === undefined || atom.kind === "account");
          if (isLong || (starts.has(at) && (end === letters.length || starts.has(end)))) note(marked);
        }
      }
    }
  }
  return [...found.values()];
}

const longest = 64_000;
const mostDecoded = 200;

/** The text, and what its encoded parts say. */
function readingsOf(text: string): string[] {
  const readings = [text];
  if (/%[\da-f]{2}/i.test(text))
    readings.push(text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) => bytesAsText(bytesOfHex(run.replaceAll("%", "")))));
  if (text.includes("&#"))
    readings.push(
      text.replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));?/gi, (_, hex?: string, decimal?: string) =>
        characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
      ),
    );
  if (/\\[ux]/.test(text))
    readings.push(
      text.replaceAll(/\\(?:u\{?([\da-f]{2,6})\}?|x([\da-f]{2}))/gi, (_, wide?: string, narrow?: string) =>
        characterOf(Number.parseInt(wide ?? narrow ?? "", 16)),
      ),
    );
  for (const [run] of [...text.matchAll(/(?:[\da-f]{2}[\s:]?){6,}/gi)].slice(0, mostDecoded))
    readings.push(bytesAsText(bytesOfHex(run.replaceAll(/[^\da-f]/gi, ""))));
  // Base64, also broken into lines; its groups of four can begin at any of the characters before.
  for (const [run] of [...text.matchAll(/[A-Za-z\d+/_-]{8,}(?:\s?[A-Za-z\d+/_-]{4,})*/g)].slice(0, mostDecoded)) {
    const digits = run.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
    for (let skip = 0; skip < 4; skip += 1) readings.push(fromBase64(digits.slice(skip)));
    for (const part of /\s/.test(run) ? run.split(/\s/) : [])
      if (part.length >= 8) readings.push(fromBase64(part.replaceAll("-", "+").replaceAll("_", "/")));
  }
  return readings;
}

interface Letters {
  readonly letters: string;
  /** Where a word begins in them. */
  readonly starts: ReadonlySet<number>;
}

/** A text in small plain letters, those that look alike as one. */
function alike(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\u0020-\u007e]/gu, (letter) => looksLike.get(letter) ?? letter)
    .replaceAll(/[1i|]/g, "l")
    .replaceAll("0", "o");
}

const dots = "dot|period|full stop|punkt|point|punto|ponto".replaceAll("i", "l");
const otherSigns = "at|arroba|slash|barra|colon|hyphen|dash|underscore".replaceAll("i", "l");
const signWords = new RegExp(`\\b(?:${dots}|${otherSigns})\\b`, "g");
const toldDot = new RegExp(`\\s{0,3}[\\[({<]?\\s{0,3}(?:\\.|\\b(?:${dots})\\b)\\s{0,3}[\\])}>]?\\s{0,3}`, "g");

/** A text as its letters and digits alone, those that look alike as one, and without the words that stand for signs. */
function lettersOf(text: string): Letters {
  const plain = alike(text).replaceAll(signWords, " ");
  let letters = "";
  const starts = new Set<number>();
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    starts.add(letters.length);
    letters += word;
  }
  return { letters, starts };
}

/** "771, then 204": the digits of a text alone. */
function digitsOf(text: string): Letters {
  return lettersOf((text.match(/\d+/g) ?? []).join(" "));
}

const digitWords = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

function inDigits(text: string): string {
  return text.toLowerCase().replaceAll(/\b[a-z]{3,5}\b/g, (word) => (digitWords.includes(word) ? String(digitWords.indexOf(word)) : word));
}

function turned({ letters, starts }: Letters): Letters {
  const { length } = letters;
  return { letters: [...letters].toReversed().join(""), starts: new Set([0, ...[...starts].map((at) => length - at)]) };
}

/** Letters of other scripts, and Latin ones of other shapes, that look like plain Latin ones (UTS #39, confusables). */
const looksLike: ReadonlyMap<string, string> = new Map(
  [
    "аa",
    "вb",
    "сc",
    "ԁd",
    "еe",
    "ѐe",
    "ёe",
    "һh",
    "іi",
    "їi",
    "јj",
    "кk",
    "мm",
    "нh",
    "оo",
    "рp",
    "ԛq",
    "ѕs",
    "тt",
    "υu",
    "ѵv",
    "ԝw",
    "хx",
    "уy",
  ]
    .concat(["ɑa", "ɡg", "ıi", "ȷj", "ɩi", "øo", "đd", "łl", "ħh", "ŧt", "ƅb", "ƒf", "ǀl", "օo", "ոn", "սu", "հh", "ցg", "զq", "յj", "աw"])
    .concat([..."abcdefghijklmnoprstuvwyz"].map((letter, at) => `${[..."ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"][at]!}${letter}`))
    .concat(["αa", "βb", "ϲc", "εe", "ηn", "ιi", "κk", "νv", "οo", "ρp", "τt", "χx", "γy", "ωw", "ӏl"])
    .map((pair) => [pair[0]!, pair[1]!] as const),
);

function characterOf(code: number): string {
  return code <= 0x10ffff && code > 0 ? String.fromCodePoint(code) : " ";
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function bytesAsText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function fromBase64(digits: string): string {
  const whole = digits.slice(0, digits.length - (digits.length % 4 === 1 ? 1 : 0));
  try {
    return bytesAsText(Uint8Array.from(atob(whole), (character) => character.charCodeAt(0)));
  } catch {
    return "";
  }
}
