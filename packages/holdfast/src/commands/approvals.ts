import { HoldfastError } from "@holdfast/protocol/error";
import type { Approval } from "@holdfast/protocol";
import type { SessionRow } from "@holdfast/runtime";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { canAsk, usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { nextAnswer, openForQuestion } from "../line/screen.ts";
import { renderApproval } from "../render/ending.ts";
import { jsonLine } from "../render/json-events.ts";
import { fit, table } from "../render/layout.ts";
import { describeOffer } from "../render/offer.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts, OpenStore } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "approvals",
  summary: "Lists the calls that wait for a person, shows them with their exact input, or answers them.",
  usage: [
    "holdfast approvals [list] [--json]",
    "holdfast approvals [SESSION] [APPROVAL] [show]",
    "holdfast approvals [SESSION] [APPROVAL] allow [--for once|session|rule] [--offer N]",
    "holdfast approvals [SESSION] [APPROVAL] deny [--note TEXT]",
  ],
  flags: {
    json: { kind: "boolean", help: "without an answer: one JSON object a line" },
    note: { kind: "string", value: "TEXT", help: "with an answer: a word to the model" },
    for: {
      kind: "string",
      value: "HOW LONG",
      help: "with allow: once (default), session (what is offered, until the session ends), or rule (kept with your own rules)",
      oneOf: ["once", "session", "rule"],
    },
    offer: { kind: "string", value: "N", help: "with --for session or rule: which of the rules that are offered; the first" },
    yes: { kind: "boolean", short: "y", help: "with --for rule: keep it without a question; it is shown all the same" },
  },
  words: { min: 0, max: 3, named: "a session, an approval, and allow or deny" },
  notes: [
    "Without SESSION and APPROVAL, allow and deny answer the one call that waits. IDs may be cut short.",
    "At a terminal, allow without the whole ID shows the call and asks first: another may wait by now.",
    "An answer counts for exactly what is shown: a second one, a late one, and one for what has changed since are refused.",
    "A session that a living process drives takes the answer at once; else holdfast exec resume ID goes on with it.",
  ],
  examples: [
    ["holdfast approvals", "everything that waits, in all folders"],
    ["holdfast approvals apr_01J allow", "lets the call run, with the scope shown"],
    ["holdfast approvals apr_01J allow --for session", "and what the first offered rule covers, until the session ends"],
    ['holdfast approvals ses_01J deny --note "use the staging host"', "refuses it, and tells the model why"],
  ],
};

interface Open {
  readonly row: SessionRow;
  readonly approval: Approval;
  /** What the session takes in when it goes on; null while it waits for an answer. */
  readonly answer: "allow" | "deny" | null;
}

interface Wanted {
  readonly session: string | null;
  readonly approval: string | null;
  readonly verb: "list" | "show" | "allow" | "deny";
}

/** Pure. `answer ID allow` and `show ID` are understood as well. */
export function readWords(words: readonly string[]): Wanted {
  const rest = [...words];
  const first = rest[0] === "show" || rest[0] === "answer" || rest[0] === "list" ? rest.shift() : null;
  const take = (prefix: string): string | null =>
    rest[0] !== undefined && new RegExp(`^${prefix}_[0-9a-z]*$`, "i").test(rest[0]) ? (rest.shift() ?? null) : null;
  const [session, approval] = [take("ses"), take("apr")];
  const word = rest.shift();
  if (rest.length > 0 || (first === "list" && (session ?? approval ?? word ?? null) !== null))
    throw usage(spec, `unexpected word ${JSON.stringify(rest[0] ?? words.at(-1))}`);
  const isNamed = session !== null || approval !== null;
  if (word === undefined) {
    if (first === "answer") throw usage(spec, "answer takes an approval ID, and allow or deny");
    if (first === "show" && !isNamed) throw usage(spec, "show takes an approval ID");
    return { session, approval, verb: isNamed ? "show" : "list" };
  }
  if (word !== "allow" && word !== "deny" && word !== "show")
    throw usage(spec, `${JSON.stringify(word)} is no approval ID, and no answer`, "allow or deny");
  return { session, approval, verb: word };
}

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const wanted = readWords(given.words);
  const store = await hosts.openStore(await openSetup(io));
  try {
    const open = await openApprovals(store, wanted);
    if (wanted.approval !== null && !open.some(({ approval }) => approval.id.startsWith(wanted.approval!))) {
      const session = wanted.session === null ? null : (await sessionById(store.ports, wanted.session)).session;
      const closed = await store.runtime.closedApproval(store.ports, wanted.approval, session);
      if (closed !== null) throw closed;
    }
    if (wanted.verb === "list") return list(given, io, open);
    if (wanted.verb === "show") return show(given, io, named(open, wanted));
    const one = theOne(open, wanted);
    if (wanted.verb === "allow" && wanted.approval !== one.approval.id && !(await isMeant(io, one))) return 1;
    return await answer(given, io, store, one, wanted.verb);
  } finally {
    await store.close();
  }
}

async function answer(given: Arguments, io: Io, store: OpenStore, { row, approval }: Open, verb: "allow" | "deny"): Promise<number> {
  const wished = given.value("for") ?? "once";
  const how = wished === "session" || wished === "rule" ? wished : null;
  if (verb === "deny" && (how !== null || given.has("offer"))) throw usage(spec, "--for and --offer go with allow");
  if (how === null && given.has("offer")) throw usage(spec, "--offer goes with --for session or --for rule");
  const offer = how === null ? null : (approval.offers?.find(({ id }) => id === (given.value("offer") ?? "1")) ?? null);
  if (how !== null && offer === null) {
    throw new HoldfastError(
      "approval_not_offered",
      `${approval.id} offers no ${given.has("offer") ? `rule ${given.value("offer")}` : "rule"}`,
      {
        hint: `holdfast approvals ${approval.id} shows what it offers`,
      },
    );
  }
  if (how === "rule" && offer !== null && !(await keepsRule(given, io, offer.text))) {
    io.stderr.write("not kept; the call still waits\n");
    return 1;
  }
  await store.runtime.answerApproval(store.ports, row.session, {
    approvalId: approval.id,
    answer: verb,
    by: io.env["USER"] || io.env["LOGNAME"] || "holdfast approvals",
    note: given.value("note") ?? "",
    digest: approval.digest,
    ...(how === null || offer === null ? {} : { grant: { for: how, offer: offer.id } }),
  });
  const more = offer === null || how !== "session" ? "" : `, and until the session ends: ${sanitizeLine(describeOffer(offer))}`;
  io.stderr.write(`answered ${approval.id}: ${verb}${more}\nunless a process drives the session: holdfast exec resume ${row.session}\n`);
  return 0;
}

/**
 * Words that don't name it mean whatever waits by now, which may be something else than the person has seen. At a terminal
 * it is shown first.
 */
async function isMeant(io: Io, one: Open): Promise<boolean> {
  if (one.answer !== null || !canAsk(io, io.stderr)) return true;
  const screen = await openForQuestion(io, io.stderr);
  const leaving = new AbortController();
  const release = screen.onInterrupt(() => leaving.abort());
  const style = createStyle(usesColour(io.stderr, io.env));
  try {
    screen.print(renderApproval(one.approval, { style, width: io.stderr.columns, showsResume: false }));
    if (/^y(?:es)?$/i.test(((await nextAnswer(screen, "allow it? y/n › ", leaving.signal)) ?? "").trim())) return true;
    screen.print(["not answered; the call still waits"]);
    return false;
  } finally {
    release();
    screen.close();
  }
}

/** The text is shown before it is kept, whatever is said. */
async function keepsRule(given: Arguments, io: Io, text: string): Promise<boolean> {
  const shown = `this is kept with your own rules, and holds in every later session:\n${sanitize(text).trimEnd()}\n`;
  if (given.has("yes") || !canAsk(io, io.stderr)) io.stderr.write(shown);
  if (given.has("yes")) return true;
  if (!canAsk(io, io.stderr)) throw usage(spec, "nobody is here to be asked whether the rule is to be kept", "look at it, then add --yes");
  const screen = await openForQuestion(io, io.stderr);
  screen.print([shown.trimEnd()]);
  const leaving = new AbortController();
  const release = screen.onInterrupt(() => leaving.abort());
  try {
    return /^y(?:es)?$/i.test(((await nextAnswer(screen, "keep this rule? y/n › ", leaving.signal)) ?? "").trim());
  } finally {
    release();
    screen.close();
  }
}

function show(given: Arguments, io: Io, open: readonly Open[]): number {
  const style = createStyle(usesColour(io.stdout, io.env));
  for (const { row, approval, answer } of open) {
    if (given.has("json"))
      io.stdout.write(jsonLine({ type: "approval", session: row.session, ...approval, ...(answer === null ? {} : { answer }) }));
    else {
      const about = [
        `session ${row.session}  ${sanitizeLine(row.title)}`,
        `rule ${sanitizeLine(approval.rule.id)}`,
        ...(answer === null ? [] : [answeredWord(answer)]),
      ];
      io.stdout.write(`${[...about, ...renderApproval(approval, { style, width: io.stdout.columns, showsResume: true })].join("\n")}\n`);
      for (const { id, text } of approval.offers ?? [])
        io.stdout.write(`\nrule ${id}, as it would be kept:\n${sanitize(text).trimEnd()}\n`);
    }
  }
  return 0;
}

function list(given: Arguments, io: Io, open: readonly Open[]): number {
  if (given.has("json")) return show(given, io, open);
  if (open.length === 0) {
    io.stderr.write("nothing waits for an answer\n");
    return 0;
  }
  const rows = open.map(({ row, approval, answer }) => [
    approval.id,
    row.session,
    answer === null ? fit(sanitizeLine(approval.reason), 60) : answeredWord(answer),
  ]);
  io.stdout.write(`${table([["approval", "session", "why"], ...rows], io.stdout.columns).join("\n")}\n`);
  return 0;
}

function answeredWord(answer: "allow" | "deny"): string {
  return `answered: ${answer}; goes on with holdfast exec resume`;
}

/** A running session may have an approval open beside calls that go on. */
async function openApprovals(store: OpenStore, { session }: Wanted): Promise<Open[]> {
  const rows =
    session === null
      ? [...(await store.ports.log.list({ status: "waiting" })), ...(await store.ports.log.list({ status: "running" }))]
      : [await sessionById(store.ports, session)];
  const open: Open[] = [];
  for (const row of rows) {
    const { openApprovals: approvals } = await store.runtime.readStanding(store.ports, row.session);
    const answers = approvals.length === 0 ? null : await store.runtime.postedAnswers(store.ports, row.session, approvals);
    for (const approval of approvals) open.push({ row, approval, answer: answers?.get(approval.id) ?? null });
  }
  return open;
}

/** Those that the words name: all of a session, or one by its ID. */
function named(open: readonly Open[], { session, approval: id }: Wanted): readonly Open[] {
  const exact = open.filter(({ approval }) => approval.id === id);
  const found = id === null ? open : exact.length > 0 ? exact : open.filter(({ approval }) => approval.id.startsWith(id));
  if (found.length > 1 && id !== null && id.length < 8) throw notFound(`${found.length} approvals begin with ${id}`);
  if (found.length > 0) return found;
  throw notFound(id !== null ? `no open approval is called ${id}` : `session ${session} waits for no approval`);
}

function theOne(open: readonly Open[], wanted: Wanted): Open {
  const all = wanted.approval === null && wanted.session === null ? open : named(open, wanted);
  const waiting = all.filter((one) => one.answer === null);
  // One that was answered is named all the same: then it is told what the answer was.
  const found = waiting.length > 0 ? waiting : all;
  const [only] = found;
  if (only === undefined) throw notFound("nothing waits for an answer");
  if (found.length > 1)
    throw notFound(
      `${found.length} approvals are open${wanted.approval === null ? "" : ` that begin with ${wanted.approval}`}`,
      "name one",
    );
  return only;
}

function notFound(what: string, hint = "it may have been answered or have passed its deadline"): HoldfastError {
  return new HoldfastError("approval_not_found", what, { hint: `${hint}; holdfast approvals lists the open ones` });
}

export const command: Command = { ...spec, run };
