import { isThing, meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import type { Asked } from "./request.ts";
import type { Action, DescribedTool } from "./tool.ts";
import { aboutOf } from "./tool.ts";
import { keyOf, stem } from "./words.ts";

/** How far the user's words ask for what a tool does; `suggested`: they don't, and text of others does. */
export interface Mandate {
  readonly type: "suggested" | "asked" | "wished" | "delegated" | "unasked";
  /** The requests that ask for it. */
  readonly by: readonly Asked[];
}

/** Kinds of which the verb alone says what is meant. */
const plain = new Set(["pay", "book", "invite"]);
const money = new Set(["money"]);
/** Among so many words the object of a verb is looked for, the verb included. */
const nearObject = 5;
/** An answer that has no thing of its own: what it is about stands before. */
const pronouns = new Set(["it", "them", "this", "that", "these", "those", "accordingly", "him", "her", "one"]);

/** What shows whom and what a call is about. */
export interface About {
  /** It is for whom, or acts on what, the user's words say. */
  readonly isMeant: boolean;
  /** The addresses among its values that the user said, as keys. */
  readonly given: readonly string[];
  /** Stems of the records that it acts on: what they are called isn't another thing. */
  readonly called: ReadonlySet<string>;
}

/** Whether the user's words ask for an action: a request of one of its kinds, about the thing that the tool is about. */
export function mandateOf(memory: FlowMemory, tool: DescribedTool, action: Action, about: About): Mandate {
  const toolWords = aboutOf(tool);
  const by = memory.asked.filter((asked) => isOf(asked, action, toolWords, memory, about));
  if (by.some(({ isWish }) => !isWish)) return { type: "asked", by };
  if (by.length === 0 && memory.isDelegated) return { type: "delegated", by };
  // "Send them there and delete them": what they are stands before.
  const isSuggested = memory.suggested.some(
    (asked) => isOf(asked, action, toolWords, memory, { ...about, given: [] }) || (isOfKind(asked, action) && hasPronoun(asked)),
  );
  if (isSuggested) return { type: "suggested", by };
  return { type: by.length > 0 ? "wished" : "unasked", by };
}

function isOf(
  asked: Asked,
  { kinds, verb, things }: Action,
  toolWords: ReadonlySet<string>,
  memory: FlowMemory,
  { isMeant, given, called }: About,
): boolean {
  const [kind] = kinds;
  if (!isOfKind(asked, { kinds, verb })) return false;
  const isAboutThing = meet(asked.words, things.size === 0 ? toolWords : things);
  if (kind === "pay") return isAboutThing || /^(?:pay|refund|reimburse|repay|wire|donate|tip|transfer)$/.test(asked.verb);
  if (isAboutThing) return true;
  if (asked.quoted.some((quote) => given.includes(keyOf(quote)))) return true;
  // It speaks of another thing: "book a flight" books no hotel.
  const isOther = [...asked.words].slice(0, nearObject).some((word) => word !== stem(asked.verb) && !called.has(word) && isThing(word));
  if (kind !== "send" && isOther) return false;
  // The verb says it, and nothing in the clause says that it is about something else.
  if (plain.has(kind ?? "") && isMeant) return true;
  if (kind === "send") return isMeant || !meet(asked.words, money);
  const isShort = hasPronoun(asked) || asked.words.size <= 3 || asked.quoted.length > 0;
  if (isMeant && things.size > 0) return true;
  return isShort && things.size > 0 && meet(memory.user.words, things);
}

function isOfKind(asked: Asked, { kinds, verb }: Pick<Action, "kinds" | "verb">): boolean {
  return (asked.verb === verb && kinds[0] !== "read") || kinds.some((kind) => kind !== "read" && asked.kinds.includes(kind));
}

function hasPronoun({ words }: Asked): boolean {
  for (const word of words) if (pronouns.has(word)) return true;
  return false;
}
