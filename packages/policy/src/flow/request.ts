import type { Day } from "./dates.ts";
import { daysOf } from "./dates.ts";
import type { ActionKind } from "./lexicon.ts";
import { all, alsoNouns, askedKinds, isChoosing, lightVerbs, nounActions, toolKinds } from "./lexicon.ts";
import { numbersOf } from "./said.ts";
import { formOf } from "./verbs.ts";
import { stem } from "./words.ts";

/** Something that a person's words ask for: kinds of action, by their verb, and the words that say of what. */
export interface Asked {
  readonly verb: string;
  readonly kinds: readonly ActionKind[];
  /** A wish ("I'd like to book a hotel") asks for less than a request: it is a reason to ask the person, not to act. */
  readonly isWish: boolean;
  /** Stems of the clause. */
  readonly words: ReadonlySet<string>;
  /** What it says in quotes. */
  readonly quoted: readonly string[];
  /** The days that its clause names. */
  readonly days: readonly Day[];
  /** The amounts of money that its clause names: no counts, no years. */
  readonly amounts: readonly number[];
  /** It says when in relation to something else: "the day before", "tomorrow". */
  readonly isRelative: boolean;
  /** It leaves a choice to what is found (`one`), or means all of a kind. */
  readonly open: "one" | "all" | null;
  /** It speaks of a link or a page, or of all of them: "include the link", "each website". */
  readonly links: "one" | "all" | null;
}

type Status = "asked" | "wish" | "none";

/** Words that may stand before a verb that asks. */
const polite = new Set(
  "please kindly also then and now just so finally afterwards next first second third secondly lastly additionally otherwise be do or but if once yes ok okay hey hi hello great thanks well again always".split(
    " ",
  ),
);
/** What leads to a verb that asks, or to one that only tells of a wish. */
const asks =
  /(?:\b(?:can|could|would|will|may|might) (?:you|we|u)(?: please| kindly| also| then| just| maybe)*|\byou (?:can|could|should|must|may|need to|have to)(?: also| then| just)*|\b(?:make|be) (?:sure|certain)(?: that you| you| to| and)*|\bgo ahead(?: and)?|\b(?:need|want|like|ask|expect) you(?: to)?(?: please| also)*|\b(?:help (?:me|us)|do not forget|don['’]?t forget|remember|try|feel free|would you mind|your (?:task|job) is|i ask you)(?: to| and| with)?|\blet['’]?s|\bplease(?: also| then)?|\bafter that|\bafterwards?|\bif so|\bif (?:not|yes|possible)|\bin that case|\bplease go ahead and|^(?:(?:it is|it['’]?s) )?time to|\b(?:appreciate|grateful|glad|great|nice|kind|lovely)(?: it)? if you)$/;
const wishes =
  /(?:\b(?:i|we)(?:['’](?:d|m|ve|ll|re))?(?: am| are| would| will| have| was)?(?: also| really| just)?(?: want| wish| like| love| need| plan| planning| hope| hoping| going| looking| trying| try| have| has| about| got| thinking| intend)+(?: forward)?(?: to| of| about)+)$/;

/**
 * What a person's text asks for: the verbs that stand where English puts a request (at the beginning of a clause, after
 * "please", "can you", "make sure to"), each with its clause. Told things ("I paid", "she will send") and purposes ("to
 * remind me") ask for nothing.
 */
export function readRequest(text: string): Asked[] {
  const asked: Asked[] = [];
  const quotes: string[] = [];
  const masked = maskQuotes(bounded(text), quotes).replaceAll(/\b(?:direct|private|instant)[ -](?=messag)/gi, "");
  for (const sentence of masked.split(/(?<=[.!?;])\s+|:\s*\n|\n+|\s[-–—•*]\s|(?<=[.!?])(?=[A-Z])/))
    readSentence(sentence.slice(0, longestSentence), quotes, asked);
  // Who asks nothing, and says no more than a wish, asks for that.
  return text.includes("?") || asked.some(({ isWish }) => !isWish) ? asked : asked.map((one) => ({ ...one, isWish: false }));
}

const longestStart = 16_000;
const longestEnd = 8_000;
const longestWord = 400;

/** A request stands at the beginning or at the end of what was pasted with it. */
function bounded(text: string): string {
  const read = text.length <= longestStart + longestEnd ? text : `${text.slice(0, longestStart)}\n${text.slice(-longestEnd)}`;
  return read.replaceAll(/\S{400,}/g, (word) => word.slice(0, longestWord));
}

/** What leads to a request is no longer. */
const longestLead = 120;
const longestSentence = 2_000;

interface Token {
  readonly word: string;
  readonly at: number;
  readonly end: number;
}

function readSentence(sentence: string, quotes: readonly string[], asked: Asked[]): void {
  const tokens: Token[] = [...sentence.matchAll(/[\p{L}\p{N}'’\u0001]+/gu)].map((found) => ({
    word: found[0].toLowerCase(),
    at: found.index,
    end: found.index + found[0].length,
  }));
  const verbs: { index: number; status: Status; kinds: readonly ActionKind[] }[] = [];
  let previous: Status = beginsWithRequest(tokens) ? "asked" : "none";
  tokens.forEach(({ word, at }, index) => {
    const kinds = kindsOf(formOf(word, sentence.slice(Math.max(0, at - longestLead), at)));
    if (kinds === undefined) return;
    const status = statusOf(sentence, tokens, index, at, previous);
    if (status === null) return;
    // "Check who owes me money and remind them": what is said of others within a request doesn't end it.
    if (!/^(?:who|that|which)$/.test(tokens[index - 1]?.word ?? "")) previous = status;
    if (status !== "none") verbs.push({ index, status, kinds });
  });
  verbs.forEach(({ index, status, kinds }, which) => {
    const until = verbs[which + 1]?.index ?? tokens.length;
    const clause = tokens.slice(index, until).map(({ word }) => word);
    const stems = clause.slice(1).map(stem);
    const { at } = tokens[index]!;
    const verb = formOf(clause[0]!, sentence.slice(Math.max(0, at - longestLead), at));
    if (clause[1] === "sure" || clause[1] === "certain") return;
    const whole = clause.some((word) => /^(?:it|them|this|that|these|those|him|her)$/.test(word)) ? tokens.map(({ word }) => word) : clause;
    const noun = lightVerbs.has(verb) ? stems.slice(0, 8).flatMap((word) => nounActions.get(word) ?? []) : [];
    const phrasal = phrasalKinds(verb, clause);
    const said = sentence.slice(at, tokens[until]?.at);
    asked.push({
      verb,
      // "Give Bo access to the channel": he is brought in.
      kinds: isTelling(verb, clause)
        ? ["read"]
        : [...new Set([...kinds, ...noun, ...phrasal, ...(noun.includes("share") ? (["invite"] as const) : [])])],
      isWish: status === "wish",
      words: new Set([stem(verb), ...stems]),
      quoted: clause.flatMap((word) => (word.startsWith("\u0001") ? [quotes[quoteIndex(word)] ?? ""] : [])),
      days: daysOf(said),
      amounts: /%|\bper ?cent/.test(said)
        ? []
        : numbersOf(said).filter((number) => number >= 10 && !(number >= 1_900 && number <= 2_100) && !isOfDay(said, number)),
      isRelative: relative.test(sentence),
      open: openOf(whole),
      links: linksOf(whole),
    });
  });
}

/** "June 12", "the 12th" is no amount. */
function isOfDay(text: string, number: number): boolean {
  return daysOf(text).some(({ day }) => day === number);
}

function kindsOf(word: string): readonly ActionKind[] | undefined {
  if (/^(?:new|is|has)$/.test(word)) return undefined;
  return askedKinds.get(word) ?? toolKinds.get(word) ?? (/^(?:throw|take|need)$/.test(word) ? [] : undefined);
}

/** Null: no verb here. */
function statusOf(sentence: string, tokens: readonly Token[], index: number, at: number, previous: Status): Status | null {
  const { word, end } = tokens[index]!;
  // "We need an email to Nora"
  if (word === "need") return /^(?:i|we)$/.test(tokens[index - 1]?.word ?? "") && isNounAction(tokens, index) ? "wish" : null;
  const before = sentence.slice(0, at).trimEnd().toLowerCase();
  const near = before.slice(-longestLead);
  const gap = sentence.slice(index === 0 ? 0 : tokens[index - 1]!.end, at);
  const last = tokens[index - 1]?.word;
  const next = tokens[index + 1];
  const isBeforeSomething = next !== undefined && !/^\s*[,.;:!?)]/.test(sentence.slice(end));
  const isNoun =
    alsoNouns.has(word) && (!isBeforeSomething || /^(?:of|from|is|was|are|were|has|have|id|ids|address|addresses)$/.test(next.word));
  if (isNegatedBehind(next?.word, tokens[index + 2]?.word)) return "none";
  const lead = asks.exec(near) ?? wishes.exec(near);
  if (lead !== null && negation.test(near.slice(0, lead.index))) return "none";
  if (asks.test(near)) return isNoun && !isBeforeSomething && last !== "you" && last !== "please" ? null : "asked";
  if (wishes.test(near)) return "wish";
  const leading = tokens.slice(0, index);
  if (leading.every(({ word: earlier }) => polite.has(earlier))) return isNoun && index > 0 ? null : "asked";
  // The clause after a condition: "if it is rated over 4, book it"; and one after another: "check it, then send it".
  const isNewClause = /[,:)–—-]\s*(?:(?:and|then|please|also|or|so|but)\s+)*$/.test(sentence.slice(0, at));
  const isJoined = /^(?:and|then|or|also|please)$/.test(last ?? "");
  if (
    isNewClause &&
    !isNoun &&
    /^(?:if|when|once|after|in case|should|unless|as soon as|while|since|because|for|based on|according to|from|using|with|on|in|at)\b/.test(
      before.replace(/^(?:and|then|also|,|\s)+/, ""),
    ) &&
    clausesOf(before) === 1
  )
    return "asked";
  if ((isNewClause || isJoined) && !isNoun && previous !== "none" && !isSubjectBefore(tokens, index)) return previous;
  // "My mails have the link, put it into the event."
  if (isNewClause && !isNoun && next !== undefined && /^(?:it|them|him|her|the|this|that|these|those|my|our)$/.test(next.word))
    return "asked";
  if (last === "to" && gap.trim() === "" && previous === "wish") return "none";
  return last === "to" || /^(?:i|we|they|he|she|it|who|that|you)$/.test(last ?? "") ? "none" : null;
}

/** "I don't want you to send", "never ask you to": what leads to the verb is taken back just before. */
const negation = /(?:\b(?:not|never|no|nor|hardly|instead of)|n['’]t)(?:\s+[\p{L}'’]+){0,2}\s*$/iu;

/** "Send no email": the object takes it back. */
function isNegatedBehind(next = "", after = ""): boolean {
  return (
    /^(?:no|nothing|nobody|none|neither)$/.test(next) &&
    after !== "" &&
    !/^(?:later|earlier|matter|more|less|longer|to|and|or|but)$/.test(after)
  );
}

/** How many commas open a clause before here. */
function clausesOf(before: string): number {
  return Math.max(1, before.replace(/[,\s]+(?:and|then|please|also|or|so|but|\s)*$/, "").split(/,(?!\s*(?:and|or)\b)/).length > 2 ? 2 : 1);
}

function isNounAction(tokens: readonly Token[], index: number): boolean {
  return /^an?$/.test(tokens[index + 1]?.word ?? "") && nounActions.has(stem(tokens[index + 2]?.word ?? ""));
}

/** "Take the notes and mail them": also a verb that isn't known begins a request, where its object follows. */
function beginsWithRequest(tokens: readonly Token[]): boolean {
  const first = tokens.findIndex(({ word }) => !polite.has(word));
  const [verb, object] = [tokens[first]?.word ?? "", tokens[first + 1]?.word ?? ""];
  return (
    /^(?:the|an?|my|our|his|her|their|this|that|these|those|all|it|them|every|each|some|any|through|over|into|up|out)$/.test(object) &&
    !subject.test(verb) &&
    !/(?:s|ed|ing)$/.test(verb)
  );
}
const subject =
  /^(?:i|we|you|he|she|it|they|the|an?|this|that|these|those|there|here|what|who|which|when|where|why|how|is|are|was|were|am|do|did|has|have|had|can|could|will|would|should|may|might|in|on|at|for|from|with|of|to|by|and|or|but|if|that|like|than|after|before|since|because|as|not|no|all|both|my|our|his|her|their)$/;

/** "and then they send": somebody else does it. */
function isSubjectBefore(tokens: readonly Token[], index: number): boolean {
  return /^(?:i|we|they|he|she|it|who|that|which|you)$/.test(tokens[index - 1]?.word ?? "");
}

/** "Tell me", "let us know": an answer is asked for, not a message. */
function isTelling(verb: string, clause: readonly string[]): boolean {
  return telling.has(verb) && /^(?:me|us)$/.test(clause[1] ?? "");
}
const relative =
  /\b(?:today|tomorrow|tonight|yesterday|before|after|later|earlier|next|following|same day|(?:in|for) (?:a|an|\d+|two|three|four|five|six|seven) (?:day|night|week|month)s?|monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend)\b/i;
function openOf(words: readonly string[]): Asked["open"] {
  const found = words.filter(
    (word, at) => isChoosing(word) && !/^(?:minute|hour|day|night|week|weekend|month|quarter|year|time)s?$/.test(words[at + 1] ?? ""),
  );
  return found.some((word) => all.has(word)) ? "all" : found.length > 0 ? "one" : null;
}

function linksOf(words: readonly string[]): Asked["links"] {
  const found = words.flatMap((word, at) => (linkWords.has(stem(word)) ? [words.slice(Math.max(0, at - 3), at)] : []));
  if (found.length === 0) return null;
  return found.some((before) => before.some((word) => /^(?:each|every|all|any)$/.test(word))) ? "all" : "one";
}
const linkWords = new Set(["link", "url", "site", "website", "page"].map(stem));

/** The person lets another's text decide what is to be done: "do what the note says". */
export function isDelegating(text: string): boolean {
  return delegating.test(text);
}

const delegating =
  /\b(?:follow|do|carry out|perform|complete|execute|take|act on|act upon|handle|implement|work through|comply with|obey|apply)\b.{0,40}\b(?:instructions?|actions?|tasks?|steps|to-?dos?|what|whatever|everything|requests?|orders|directions|items|it says|asked|asks)\b/i;
const telling = new Set(["tell", "give", "show", "provide", "let", "inform", "remind", "report", "thank"]);

/** What a verb asks for together with a word behind it. */
const phrasal: readonly (readonly [verb: RegExp, behind: RegExp, kinds: readonly ActionKind[]])[] = [
  [/^let$/, /^know$/, ["send"]],
  [/^let$/, /^join$/, ["invite"]],
  [/^give$/, /^heads$/, ["send"]],
  // "Put the summary into Ana's inbox", "publish it in the channel"
  [/^(?:put|drop|leave|place|publish|upload)$/, /^(?:inbox|mailbox|dms?|chat|channels?|thread)$/, ["send"]],
  [/^call$/, /^(?!off$)/, ["run"]],
  [/^set$/, /^up$/, ["create"]],
  [/^get$/, /^back$/, ["send"]],
  [/^get$/, /^rid$/, ["delete"]],
  [/^get$/, /^(?:into|onto|on)$/, ["invite"]],
  [/^(?:throw|take)$/, /^(?:away|off|out)$/, ["delete"]],
  [/^make$/, /^(?:available|accessible)$/, ["share"]],
  [/^(?:create|make|set|open|give)$/, /^account$/, ["invite"]],
];

function phrasalKinds(verb: string, clause: readonly string[]): ActionKind[] {
  const near = clause.slice(1, farthestBehind);
  return phrasal.flatMap(([first, behind, kinds]) => (first.test(verb) && near.some((word) => behind.test(word)) ? kinds : []));
}
const farthestBehind = 10;

const quoteMark = "\u0001";

/** Texts in quotes and addresses become one word each, so that nothing in them reads as a request. */
function maskQuotes(text: string, quotes: string[]): string {
  const keep = (content: string): string => {
    quotes.push(content);
    return ` ${quoteMark}${"i".repeat(quotes.length)} `;
  };
  return text
    .replaceAll(
      /"([^"\n]{1,2000})"|“([^”]{1,2000})”|«([^»]{1,2000})»|`([^`\n]{1,2000})`|(?<![\p{L}\p{N}])['‘](.{1,2000}?)['’](?![\p{L}\p{N}])/gsu,
      (_, ...groups: (string | number | undefined)[]) =>
        keep(groups.slice(0, 5).find((group) => typeof group === "string" && group !== undefined) as string),
    )
    .replaceAll(/[^\s'"]+@[^\s'"]+|(?:https?:\/\/|www\.)[^\s'"]+|\b[\w-]+\.[a-z]{2,5}\b/gi, (address) => {
      const trimmed = address.replace(/[.,;:!?)]+$/, "");
      return `${keep(trimmed)}${address.slice(trimmed.length)}`;
    });
}

function quoteIndex(word: string): number {
  return word.length - 2;
}
