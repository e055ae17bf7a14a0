import { HoldfastError } from "@holdfast/protocol/error";
import type { Question } from "@holdfast/protocol";
import type { SessionRow } from "@holdfast/runtime";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { findWorkspace } from "../config/workspace.ts";
import { jsonLine } from "../render/json-events.ts";
import { renderQuestion } from "../render/question.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts, OpenStore } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";
import { answerFrom } from "../session/read-answer.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "answer",
  summary: "Answers a question that a session waits with; without an answer, shows the open ones.",
  usage: [
    "holdfast answer [SESSION] [QUESTION] [--json]",
    "holdfast answer [SESSION] [QUESTION] TEXT",
    "holdfast answer [SESSION] [QUESTION] --choice N",
  ],
  flags: {
    choice: { kind: "list", value: "N", help: "take this choice, by its number (repeatable where several may be taken)" },
    json: { kind: "boolean", help: "without an answer: one JSON object a line" },
  },
  words: { min: 0, max: 3, named: "a session, a question and the answer" },
  notes: [
    "Without SESSION and QUESTION: the open question of this folder's sessions, where there is just one. IDs may be cut short.",
    "A session that a living process drives takes the answer at once; else holdfast exec resume ID goes on with it.",
  ],
  examples: [
    ["holdfast answer", "every open question, and how to answer it"],
    ['holdfast answer "the staging database"', "answers the one open question of this folder"],
    ["holdfast answer qst_01J --choice 2", "takes the second choice"],
  ],
};

interface Open {
  readonly row: SessionRow;
  readonly question: Question;
  /** No driver has taken the answer in yet: the first one counts. */
  readonly isAnswered: boolean;
}

interface Wanted {
  readonly session: string | null;
  readonly question: string | null;
  readonly text: string;
}

/** Pure: leading words that are IDs name the question, what is left is the answer. */
export function readWords(words: readonly string[]): Wanted {
  const rest = [...words];
  const take = (prefix: string): string | null =>
    rest[0] !== undefined && new RegExp(`^${prefix}_[0-9a-z]+$`, "i").test(rest[0]) ? (rest.shift() ?? null) : null;
  const [session, question] = [take("ses"), take("qst")];
  if (rest.length > 1) throw usage(spec, `unexpected word ${JSON.stringify(rest[1])}`, "put an answer of several words in quotes");
  return { session, question, text: rest[0] ?? "" };
}

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const wanted = readWords(given.words);
  const numbers = given.values("choice").map(Number);
  const wrong = given.values("choice").find((value) => !/^\d+$/.test(value));
  if (wrong !== undefined) throw usage(spec, `--choice ${JSON.stringify(wrong)} is not a number`, "choices are numbered from 1 on");
  const isAnswer = numbers.length > 0 || wanted.text !== "";
  if (isAnswer && given.has("json")) throw usage(spec, "--json goes without an answer");
  const store = await hosts.openStore(await openSetup(io));
  try {
    const all = await openQuestions(store, wanted, io, isAnswer);
    const open = all.filter(({ isAnswered }) => !isAnswered);
    if (!isAnswer) return show(given, io, open);
    const isOpen = open.length > 0 && !all.some(({ question }) => question.id === wanted.question);
    const { row, question } = theOne(isOpen ? open : all, wanted);
    const read = answerFrom(question, numbers, wanted.text);
    if (read.type === "problem") throw usage(spec, `${question.id}: ${read.text}`, "holdfast answer shows the question");
    const by = io.env["USER"] || io.env["LOGNAME"] || "holdfast answer";
    await store.runtime.answerQuestion(store.ports, row.session, { questionId: question.id, answer: read.answer, by });
    io.stderr.write(`answered ${question.id}\nunless a process drives the session: holdfast exec resume ${row.session}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

function show(given: Arguments, io: Io, open: readonly Open[]): number {
  const style = createStyle(usesColour(io.stdout, io.env));
  for (const { row, question } of open) {
    if (given.has("json")) io.stdout.write(jsonLine({ type: "question", session: row.session, ...question }));
    else {
      const lines = renderQuestion(question, { style, width: io.stdout.columns, isTyped: false });
      io.stdout.write(`${[`session ${row.session}  ${sanitizeLine(row.title)}`, ...lines.slice(1)].join("\n")}\n`);
    }
  }
  if (open.length === 0 && !given.has("json")) io.stderr.write("no question waits for an answer\n");
  return 0;
}

async function answersTo(store: OpenStore, session: string): Promise<ReadonlySet<string>> {
  const ops = (await store.ports.log.inbox(session)).map(store.runtime.parseOp);
  return new Set(ops.flatMap((op) => (op.type === "question.answer" ? [op.questionId] : [])));
}

/** A running session may have a question open beside calls that go on. `isHere`: of this folder, where nothing is named. */
async function openQuestions(store: OpenStore, wanted: Wanted, io: Io, isHere: boolean): Promise<Open[]> {
  const isNamed = wanted.session !== null || wanted.question !== null;
  const place = isHere && !isNamed ? await findWorkspace(".", io.cwd, io.env) : null;
  const rows =
    wanted.session === null
      ? [...(await store.ports.log.list({ status: "waiting" })), ...(await store.ports.log.list({ status: "running" }))]
      : [await sessionById(store.ports, wanted.session)];
  const open: Open[] = [];
  for (const row of rows) {
    if (place !== null && row.workspace !== place.cwd && row.workspace !== place.root) continue;
    const { openQuestions: questions } = await store.runtime.readStanding(store.ports, row.session);
    const named = questions.filter(({ id }) => id.startsWith(wanted.question ?? ""));
    const answered = named.length === 0 ? new Set() : await answersTo(store, row.session);
    for (const question of named) open.push({ row, question, isAnswered: answered.has(question.id) });
  }
  return open;
}

function theOne(open: readonly Open[], wanted: Wanted): Open {
  const exact = open.find(({ question }) => question.id === wanted.question);
  const [only] = open;
  if (exact !== undefined) return exact;
  if (only !== undefined && open.length === 1) return only;
  const which = wanted.question === null ? "" : ` that begins with ${wanted.question}`;
  const where = wanted.session === null && wanted.question === null ? " in this folder" : "";
  throw new HoldfastError(
    "question_not_found",
    open.length === 0 ? `no question${which} is open${where}` : `${open.length} questions${which} are open${where}`,
    {
      hint:
        open.length === 0
          ? "it may have been answered or have passed its deadline; holdfast answer shows the open ones"
          : "name one; holdfast answer shows them",
    },
  );
}

export const command: Command = { ...spec, run };
