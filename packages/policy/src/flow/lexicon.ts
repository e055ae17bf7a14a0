import { stem } from "./words.ts";

/** What an action does to the world, as far as a verb says it. */
export const actionKinds = [
  "read",
  "send",
  "pay",
  "create",
  "update",
  "delete",
  "share",
  "invite",
  "append",
  "post",
  "book",
  "run",
] as const;
export type ActionKind = (typeof actionKinds)[number];

const list = (words: string): string[] => words.split(/\s+/).filter((word) => word !== "");

/** Verbs by what they ask for. One verb may ask for several kinds: "add Ana" invites, "add an event" creates. */
const verbsOf: Readonly<Record<ActionKind, readonly string[]>> = {
  read: list(
    "get read list search find fetch show look lookup see view check query count describe retrieve browse visit summarize summarise tell " +
      "recommend suggest compare calculate compute explain analyze analyse review inspect identify determine open download verify give say " +
      "translate extract scan preview is has validate estimate provide answer whoami know",
  ),
  send: list(
    "send email mail message write text dm reply respond answer forward notify inform tell remind greet ping contact let thank congratulate " +
      "wish ask report deliver submit pass relay alert warn invite welcome broadcast say confirm apologize apologise announce drop shoot post fire share",
  ),
  pay: list(
    "pay transfer refund reimburse repay wire remit donate tip settle compensate return send give move deposit withdraw charge buy",
  ),
  create: list(
    "create add make set schedule write save draft open put insert register start new generate prepare record note log store plan arrange " +
      "compile compose build block book pencil collect setup enter file produce raise organize organise import issue duplicate copy clone define enable initiate",
  ),
  update: list(
    "update change adjust modify edit set correct fix rename move reschedule postpone delay push shift extend replace increase decrease raise " +
      "lower reduce reset mark toggle switch convert complete close assign put bring patch amend revise upgrade downgrade configure alter " +
      "label tag archive unarchive pin star reopen prolong shorten resize redirect transfer enable disable turn resolve solve",
  ),
  delete: list(
    "delete remove cancel drop clear erase trash discard unsubscribe kick revoke empty clean purge wipe destroy unshare uninvite ban " +
      "deactivate terminate rid stop decline leave uninstall disconnect abort void call archive scrap bin ditch",
  ),
  share: list("share grant give send publish let allow permit open provide"),
  invite: list("invite add include ask bring enroll enrol join onboard register have"),
  append: list("append add insert put write extend include update attach note log prepend"),
  post: list("post publish upload announce share put write send tweet create update submit comment broadcast push"),
  book: list("book reserve rent order buy purchase hire get make secure"),
  run: list(
    "run execute start trigger launch deploy merge restart stop approve call invoke rerun install sync submit play pause resume print",
  ),
};

/** Verbs in the names of tools, in the order in which they decide: `schedule_transfer` makes something, `cancel_order` undoes it. */
const toolVerbs: Readonly<Record<ActionKind, readonly string[]>> = {
  read: list(
    "get read list search find fetch show look lookup view check query count describe retrieve browse visit summarize inspect preview " +
      "whoami download is has validate compare estimate calculate convert head stat tail diff explain recommend suggest translate",
  ),
  send: list("send reply respond forward notify message email mail dm text ping contact remind alert"),
  pay: list("pay transfer refund reimburse wire remit donate tip withdraw deposit charge"),
  create: list(
    "create add make schedule write save draft open put insert register new generate record store start import duplicate copy clone log note upload file compose issue",
  ),
  update: list(
    "update change adjust modify edit set correct rename move reschedule postpone extend replace reset mark toggle switch complete close assign " +
      "patch label tag archive pin star reopen configure enable disable unarchive resize amend turn resolve",
  ),
  delete: list(
    "delete remove cancel drop clear erase trash discard unsubscribe kick revoke empty purge wipe destroy unshare ban deactivate terminate leave decline abort void overwrite",
  ),
  share: list("share grant"),
  invite: list("invite enroll join onboard"),
  append: list("append prepend attach"),
  post: list("post publish tweet comment announce broadcast push"),
  book: list("book reserve rent order buy purchase hire checkout redeem"),
  run: list("run execute trigger launch deploy merge restart stop approve invoke call rerun install sync submit play pause resume print"),
};

function byWord(table: Readonly<Record<ActionKind, readonly string[]>>): ReadonlyMap<string, readonly ActionKind[]> {
  const kinds = new Map<string, ActionKind[]>();
  for (const kind of actionKinds) for (const verb of table[kind]) kinds.set(verb, [...(kinds.get(verb) ?? []), kind]);
  return kinds;
}
export const askedKinds = byWord(verbsOf);
export const toolKinds = byWord(toolVerbs);

/** Words that are verbs or nouns by where they stand: after "and" or a comma they count as verbs only before something. */
export const alsoNouns = new Set(
  list(
    "email mail message text dm reply answer report transfer tip wire refund return charge deposit record note log plan book file issue copy change " +
      "fix move delay push shift reset mark switch label tag pin star drop call share post comment update order rent hire run start stop print play bin " +
      "sync submit add show look view check query count review scan visit search list find open block schedule draft set put make contact remind ask alert",
  ),
);

/** Things that tools are about: words for one thing meet. */
const things: readonly (readonly string[])[] = [
  list(
    "money payment transaction transfer bill rent refund amount fee invoice salary difference sum debt wage subscription vat price cost order dues donation deposit balance fund cash standing iban",
  ),
  list("email mail inbox mailbox letter newsletter draft"),
  list("message dm chat text note conversation thread channel greeting reminder"),
  list(
    "event appointment meeting calendar reminder lunch dinner breakfast call session class invitation invite agenda slot trip party hike training checkup conference schedule sync standup interview",
  ),
  list("participant attendee guest invitee person people event meeting member user"),
  list("file document doc notes sheet spreadsheet folder drive slide presentation list report minutes attachment"),
  list("info information detail details profile data address name phone street city account contact"),
  list("password passcode passphrase credential pin login"),
  list("hotel room stay accommodation lodging"),
  list("restaurant table dinner lunch meal"),
  list("car vehicle rental"),
  list("flight plane ticket seat"),
  list("page webpage website site web article blog url link post"),
  list("channel group room workspace slack team server"),
  list("issue ticket bug task todo card story incident"),
  list("comment reply review feedback note"),
  list("user member person people account colleague employee friend"),
  list("repository repo branch pull request commit release code"),
  list("product item cart order purchase"),
  list("contact address phone number person"),
];
const thingsOf = new Map<string, number[]>();
things.forEach((words, index) => {
  for (const word of words) thingsOf.set(stem(word), [...(thingsOf.get(stem(word)) ?? []), index]);
});

/** Whether two sets of stems speak of a same thing. */
export function meet(a: Iterable<string>, b: ReadonlySet<string>): boolean {
  const groups = new Set<number>();
  for (const word of b) for (const group of thingsOf.get(word) ?? []) groups.add(group);
  for (const word of a) if (b.has(word) || (thingsOf.get(word) ?? []).some((group) => groups.has(group))) return true;
  return false;
}

export function isThing(word: string): boolean {
  return thingsOf.has(word);
}

/** Nouns with which a verb that says little ("make", "set up") asks for an action. */
export const nounActions: ReadonlyMap<string, ActionKind> = new Map([
  ...list("reservation booking").map((noun) => [stem(noun), "book"] as const),
  ...list("payment transfer refund donation").map((noun) => [stem(noun), "pay"] as const),
  ...list("appointment event meeting reminder").map((noun) => [stem(noun), "create"] as const),
  ...list("invitation invite").map((noun) => [stem(noun), "invite"] as const),
  ...list("access permission").map((noun) => [stem(noun), "share"] as const),
  ...list("message email mail note reply text line dm").map((noun) => [stem(noun), "send"] as const),
  ...list("page website webpage site blog").map((noun) => [stem(noun), "post"] as const),
]);
export const lightVerbs = new Set(list("make set do give put have drop get send write shoot add leave fire create build start need"));

/** Words that mean all of a kind. */
export const all = new Set(
  list(
    "all each every everyone everybody both any whoever whichever members participants attendees invitees guests team group users people recipients rest others",
  ),
);

/** Words by which a person leaves a choice to what is found, those for all of a kind included. */
export const choosing = new Set([
  ...all,
  ...list(
    "highest best lowest cheapest largest biggest smallest latest newest oldest first last most least earliest recent top longest shortest next " +
      "closest nearest nearby suspicious duplicate duplicates unread spam more",
  ),
]);

const noSuperlative =
  /^(?:request|interest|guest|forest|honest|suggest|invest|digest|harvest|protest|contest|manifest|arrest|west|test|quest|rest|nest|chest|pest|vest|crest|latest)$/;

/** Also any other superlative: "the fewest". */
export function isChoosing(word: string): boolean {
  return choosing.has(word) || (/^[a-z]{2,}est$/.test(word) && !noSuperlative.test(word));
}
