import type { Json } from "@holdfast/protocol";
import { fieldsOf } from "./fields.ts";

const months =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
/** Dates with their digits, and words that stand for a date. */
const dates = String.raw`\b\d{4}[-./]\d{1,2}[-./]\d{1,2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b(?:${months})\.? \d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${months})\b`;
const weekdays = String.raw`\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b`;
/** What stands for a date and says nothing else. */
export const dateWords = new RegExp(`${dates}|${weekdays}`, "gi");

/** Kinds of values that a request can hold, and that a tool's parameters can take. Each is a bit of a set. */
const shapes: readonly { readonly inText: RegExp; readonly inName: RegExp }[] = [
  {
    // A date.
    inText: new RegExp(
      [
        dates,
        String.raw`\b(?:${months})\.? \d|\d(?:st|nd|rd|th)? (?:of )?(?:${months})\b`,
        weekdays,
        String.raw`\b(?:tomorrow|yesterday)\b|\bnext (?:week|month)\b`,
      ].join("|"),
      "i",
    ),
    inName: /(?:^|_|\b)(?:date|day|datetime|when|deadline|check.?in|departure)/i,
  },
  {
    // A place.
    inText: /\b(?:in|at|near|from|to|around|of|for) (?:the )?(?:\p{Lu}\p{L}+[ ,]?)+(?:, ?\p{Lu})?|\p{Lu}\p{L}+, ?\p{Lu}/u,
    inName: /location|city|place|address|country|region|state|destination|origin/i,
  },
  { inText: /https?:\/\/|\bwww\./i, inName: /url|uri|link|href|website/i },
  { inText: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.\w/, inName: /e-?mail|recipient/i },
  {
    // A file.
    inText:
      /(?<![\w/])~?\/[\w.-]+\/[\w.-]|\b[A-Z]:\\|\b[\w-]+\.(?:txt|md|csv|json|xml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|html?|ya?ml|toml|py|ts|js)\b/,
    inName: /path|file|directory|folder/i,
  },
  {
    // Coordinates.
    inText: /-?\d{1,3}\.\d{2,}\s*°?\s*[NSEW]?\s*(?:,|and)\s*(?:longitude\s*)?-?\d{1,3}\.\d{2,}|\blatitude\b/i,
    inName: /lat(?:itude)?\b|lon(?:g(?:itude)?)?\b|coord/i,
  },
];

/** Whether a text holds a date, in whichever words. */
export function holdsDate(text: string): boolean {
  return shapes[0]!.inText.test(text);
}

/** The kinds of values that a text holds, as bits. */
export function shapesIn(text: string): number {
  return bitsWhere(({ inText }) => inText.test(text));
}

/** The kinds of values that a tool's parameters take, and those that it can't be called without. Told by the names. */
export function shapesTaken(schema: Json): { readonly takes: number; readonly needs: number } {
  const { properties = null, required } = fieldsOf(schema);
  const needed = Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [];
  const among = (names: readonly string[]): number => bitsWhere(({ inName }) => names.some((name) => inName.test(name)));
  return { takes: among(Object.keys(fieldsOf(properties))), needs: among(needed) };
}

/** How many numbers a tool can't be called without, and how many a text holds. */
export function numbersNeeded(schema: Json): number {
  const { properties = null, required } = fieldsOf(schema);
  const known = fieldsOf(properties);
  const isNumber = (name: Json): boolean => {
    const { type } = typeof name === "string" ? fieldsOf(known[name] ?? null) : {};
    return type === "integer" || type === "number" || type === "float";
  };
  return Array.isArray(required) ? Math.min(255, required.filter(isNumber).length) : 0;
}

export function numbersIn(text: string): number {
  return text.match(/\d+(?:\.\d+)?/g)?.length ?? 0;
}

export function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

function bitsWhere(holds: (shape: (typeof shapes)[number]) => boolean): number {
  return shapes.reduce((bits, shape, index) => (holds(shape) ? bits | (1 << index) : bits), 0);
}
