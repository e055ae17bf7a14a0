import type { Json } from "@holdfast/protocol";
import { fieldsOf } from "./fields.ts";

const months =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?";
/** Dates with their digits, and words that stand for a date. */
const dates = String.raw`\b\d{4}[-./]\d{1,2}[-./]\d{1,2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b(?:${months})\.? \d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:${months})\b`;
const weekdays = String.raw`\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b`;
/** What stands for a date and says nothing else. */
export const dateWords = new RegExp(`${dates}|${weekdays}`, "gi");

const anyDate = String.raw`${dates}|${weekdays}|\b(?:tomorrow|yesterday|today)\b`;
const clock = String.raw`\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\bnoon\b|\bo'clock\b`;
const coordinates = String.raw`-?\d{1,3}\.\d{2,}\s*°?\s*[NSEW]?\s*(?:,|and)\s*(?:longitude\s*)?-?\d{1,3}\.\d{2,}`;
const units =
  "fahrenheit|celsius|kelvin|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|feet|foot|inch(?:es)?|kilograms?|grams?|pounds?|lbs?|lit(?:er|re)s?|gallons?|k[gm]|[cm]m|imperial|metric";
const currencies = "dollars?|usd|euros?|eur|gbp|yen|rupees?";
const year = /\b(?:1[5-9]|20)\d\d\b/;

/** A kind of value that a request can hold, and that a tool's parameters can take. Each is a bit of a set. */
interface Shape {
  readonly inText: RegExp;
  readonly inName: RegExp;
  /** How many parameters it takes to be of this kind. */
  readonly times?: number;
  /** Some say something only where a tool takes what is there, or only where one needs what isn't. */
  readonly only?: "taken" | "needed";
}

const dateName = /(?:^|_|\b)(?:date|day|datetime|when|deadline|check.?in|check.?out|departure)/i;

const shapes: readonly Shape[] = [
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
    inName: dateName,
  },
  // From one date to another.
  { inText: new RegExp(`(?:${anyDate})[^]*?(?:${anyDate})`, "i"), inName: dateName, times: 2, only: "needed" },
  { inText: year, inName: /year|date|season|period/i },
  { inText: new RegExp(clock, "i"), inName: /time|hour|when|clock|start|end$/i, only: "taken" },
  {
    // How long.
    inText: /\b(?:\d+|two|three|four|five|six|seven|ten|few)[- ](?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?)\b/i,
    inName: /(?:second|minute|hour|day|night|week|month|year)s|duration|^time|_time|period|length/i,
    only: "taken",
  },
  {
    // Money.
    inText: new RegExp(String.raw`[$€£¥]\s?\d|\b(?:${currencies}|pounds?|bucks?)\b`, "i"),
    inName: /amount|price|budget|cost|currenc|salary|income|principal|payment|value|balance|investment|revenue|fare|fee/i,
    only: "taken",
  },
  { inText: new RegExp(String.raw`\b(?:${units}|${currencies})\b`, "i"), inName: /unit|currency|measure/i, only: "needed" },
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
  { inText: new RegExp(String.raw`${coordinates}|\blatitude\b`, "i"), inName: /lat(?:itude)?\b|lon(?:g(?:itude)?)?\b|coord/i },
];

/** Words that a request means without saying them, by the values that it holds. */
export function wordsMeant(text: string): string[] {
  return [
    ...(shapes[0]!.inText.test(text) ? ["date"] : []),
    ...(year.test(text.replaceAll(dateWords, " ")) ? ["year"] : []),
    ...(new RegExp(coordinates, "i").test(text) ? ["coordinates", "latitude", "longitude"] : []),
  ];
}

/** The kinds of values that a text holds, as bits. */
export function shapesIn(text: string): number {
  return bitsWhere(({ inText }) => inText.test(text));
}

/** The kinds of values that a tool's parameters take, and those that it can't be called without. Told by the names. */
export function shapesTaken(schema: Json): { readonly takes: number; readonly needs: number } {
  const { properties = null, required } = fieldsOf(schema);
  const needed = Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [];
  const among = (names: readonly string[], not: Shape["only"]): number =>
    bitsWhere(({ inName, times = 1, only }) => only !== not && names.filter((name) => inName.test(name)).length >= times);
  return { takes: among(Object.keys(fieldsOf(properties)), "needed"), needs: among(needed, "taken") };
}

/** How many numbers a tool can't be called without, and how many a text holds beside those of its dates. */
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
  const undated = text.replaceAll(dateWords, " ").replaceAll(/,? (?:19|20)\d\d\b/g, " ");
  return undated.match(/\d+(?:\.\d+)?/g)?.length ?? 0;
}

export function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

function bitsWhere(holds: (shape: Shape) => boolean): number {
  return shapes.reduce((bits, shape, index) => (holds(shape) ? bits | (1 << index) : bits), 0);
}
