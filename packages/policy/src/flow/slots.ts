import type { Json } from "@holdfast/protocol";
import { atomsOf } from "./atoms.ts";
import type { ActionKind } from "./lexicon.ts";
import { nameWords } from "./words.ts";

/**
 * What a value of a call is for. `address`: where something goes, or who gets it. `target`: what is acted on, by name; `id`:
 * by number. `secret`: a password and the like. `content`, `title`: what is said. `time`, `amount`, `place`, `choice`.
 */
export type Role = "address" | "target" | "id" | "secret" | "content" | "title" | "time" | "amount" | "place" | "choice";

export interface Slot {
  /** `attachments.0.file_id` */
  readonly path: string;
  readonly role: Role;
  readonly value: string | number;
}

interface Schema {
  readonly type?: Json;
  readonly format?: Json;
  readonly description?: Json;
  readonly enum?: Json;
  readonly const?: Json;
  readonly properties?: Json;
  readonly additionalProperties?: Json;
  readonly items?: Json;
  readonly anyOf?: Json;
  readonly oneOf?: Json;
}

const roles: readonly (readonly [Role, RegExp])[] = [
  [
    "choice",
    /^(?:type|kind|mode|format|status|state|visibility|permission|permissions|role|access|level|importance|encoding|language|lang|locale|unit|currency|order|sort)$/,
  ],
  ["secret", /^(?:password|passphrase|passcode|secret|token|pin|credentials?|pwd)$/],
  [
    "id",
    /^(?:id|ids|uuid|guid|identifier|ref|sha|key|keys|index|number|no|num|path|paths|file|files|filename|filenames|filepath|folder|slug)$/,
  ],
  [
    "address",
    /^(?:e?mails?|recipients?|receivers?|payees?|beneficiary|to|cc|bcc|addressees?|users?|username|usernames|handle|channels?|accounts?|iban|bic|phones?|mobile|url|urls|uri|link|links|href|host|hostname|domain|endpoint|webhook|callback|participants?|attendees?|invitees?|guests?|members?|assignees?|reviewers?|owners?|contacts?|destination|chat|room|rooms|group|groups|team|repo|repository|site|person|people|wallet|server|remote|origin|customers?|clients?|viewers?|editors?|collaborators?)$/,
  ],
  [
    "time",
    /^(?:date|dates|datetime|day|days|time|times|timestamp|start|starts|end|ends|begin|until|due|deadline|when|month|year|expiry|expires|duration|schedule|timezone|tz|recurrence|hour|minutes|at|checkin|checkout|from)$/,
  ],
  ["amount", /^(?:amount|quantity|qty|price|sum|total|count|limit|size|value|rate|percent|number|guests|priority|n|max|min)$/],
  ["place", /^(?:location|place|venue|street|city|town|state|country|zip|postcode|region|area|building)$/],
  ["title", /^(?:title|subject|headline|heading|summary|label|labels|tag|tags|topic|category|emoji|color|icon)$/],
  [
    "content",
    /^(?:body|text|content|contents|message|messages|description|comment|comments|note|notes|reason|details?|memo|markdown|html|data|payload|caption|bio|instructions|reference|purpose|query|prompt|value|html|code|diff|patch|changes|answer|reply|signature|remarks?)$/,
  ],
];

export interface Slots {
  readonly slots: readonly Slot[];
  /** False: the call holds more values than are judged. */
  readonly isWhole: boolean;
}

/** No call of use holds more different values. */
const mostSlots = 1_000;

/**
 * The values of a call with what each is for, by the names, formats and descriptions of the tool's schema, and by their look.
 * A value that stands in one place many times counts once. The keys of a map are values as well: `{"ana@example.com": "r"}`.
 */
export function slotsOf(input: Json, schema: Json, kinds: readonly ActionKind[]): Slots {
  const slots: Slot[] = [];
  const seen = new Set<string>();
  let isWhole = true;
  walk(input, schema, "", "");
  return { slots, isWhole };

  function walk(value: Json, about: Json | undefined, path: string, name: string): void {
    if (value === null || !isWhole) return;
    if (typeof value !== "object") {
      const role = typeof value === "boolean" ? "choice" : roleOf(value, name, schemaOf(about), kinds);
      add({ path, role, value: typeof value === "boolean" ? String(value) : value });
      return;
    }
    const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
    const own = schemaOf(about);
    if (Array.isArray(value)) {
      for (const [index, entry] of value.entries()) walk(entry as Json, own.items ?? about, below(String(index)), name);
      return;
    }
    for (const [key, entry] of Object.entries(value) as [string, Json][]) {
      const known = isObject(own.properties) && Object.hasOwn(own.properties, key) ? own.properties[key] : undefined;
      if (known !== undefined || isFieldOf(key, own, path === "")) walk(entry, known, below(key), key);
      else {
        const role = roleOf(key, name, {}, kinds);
        add({ path: below(key), role: role === "address" || role === "secret" || role === "id" ? role : "target", value: key });
        walk(entry, own.additionalProperties, below(key), name);
      }
    }
  }

  function add(slot: Slot): void {
    const place = JSON.stringify([slot.path.replaceAll(/\.\d+(?=\.|$)/g, ""), slot.role, slot.value]);
    if (seen.has(place)) return;
    if (slots.length >= mostSlots) isWhole = false;
    else {
      seen.add(place);
      slots.push(slot);
    }
  }
}

/** Whether a key that a schema doesn't know is the name of a field (`file_id`), and not something that is named itself. */
function isFieldOf(key: string, { additionalProperties }: Schema, isParameter: boolean): boolean {
  if (isObject(additionalProperties) || !/^[A-Za-z_$][\w$-]{0,40}$/.test(key)) return false;
  return isParameter || roleOfWords(nameWords(key)) !== null;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function schemaOf(value: Json | undefined): Schema {
  if (!isObject(value)) return {};
  const schema: Schema = value;
  const choices = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(choices)) return schema;
  const one = choices.find((choice) => isObject(choice) && choice["type"] !== "null");
  return isObject(one) ? { ...schema, ...one } : schema;
}

function roleOf(
  value: string | number,
  name: string,
  { format, description, enum: choices, items }: Schema,
  kinds: readonly ActionKind[],
): Role {
  if (Array.isArray(choices)) return "choice";
  const words = nameWords(name);
  const named = roleOfWords(words);
  if (named === "secret") return "secret";
  if (typeof value === "number") return named === "id" || named === "time" ? named : named === "address" ? "id" : "amount";
  if (typeof format === "string") {
    if (/^(?:date|time|date-time|duration)$/.test(format)) return "time";
    if (/^(?:email|idn-email|uri|url|iri|hostname|ipv4|ipv6)$/.test(format)) return "address";
    if (format === "password") return "secret";
  }
  const [atom] = atomsOf(value);
  const isOne = atom !== undefined && atom.text.length >= value.trim().length - 1;
  if (
    isOne &&
    named !== "content" &&
    named !== "title" &&
    named !== "place" &&
    (atom.kind === "email" || atom.kind === "url" || atom.kind === "account")
  )
    return "address";
  if (isMaking(kinds) && words.some((word) => /^(?:name|filename|path|folder|slug)$/.test(word)) && named !== "address") return "title";
  if (named !== null) return named;
  if (words.at(-1) === "address") return "place";
  const said = typeof description === "string" ? description : "";
  if (/\b(?:e-?mail|iban|recipient|url|webhook|phone number|account number)\b/i.test(said)) return "address";
  if (/\b(?:password|secret|token)\b/i.test(said)) return "secret";
  if (/\bYYYY|\bdate\b|\btime\b|ISO 8601/i.test(said)) return "time";
  if (/\b(?:text|content|body|message|markdown|description)\b/i.test(said)) return "content";
  if (items === undefined && value.length > 200) return "content";
  return "target";
}

function isMaking(kinds: readonly ActionKind[]): boolean {
  return kinds.includes("create");
}

/** English names end with what they are: `user_email` is an address, `email_id` a number, `start_time` a time. */
function roleOfWords(words: readonly string[]): Role | null {
  for (const word of words.toReversed()) {
    for (const [role, pattern] of roles) if (pattern.test(word)) return role;
  }
  return null;
}
