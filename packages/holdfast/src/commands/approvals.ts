import { HoldfastError } from "@holdfast/protocol/error";
import type { Approval, Op } from "@holdfast/protocol";
import type { SessionRow } from "@holdfast/runtime";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { renderApproval } from "../render/ending.ts";
import { jsonLine } from "../render/json-events.ts";
import { fit, table } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts, OpenStore } from "../runtime-api.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "approvals",
  summary: "Lists the calls that wait for a person, shows one with its exact input, or answers it.",
  usage: ["holdfast approvals list [--json]", "holdfast approvals show ID", "holdfast approvals answer ID allow|deny [--note TEXT]"],
  flags: {
    json: { kind: "boolean", help: "with list: one JSON object a line" },
    note: { kind: "string", value: "TEXT", help: "with answer: a word to the model" },
  },
  words: { min: 0, max: 3, named: "list, show or answer" },
  notes: [
    "An answer counts for exactly the input shown: where that has changed since, it is refused.",
    "A session that a living process drives takes the answer at once; else holdfast exec resume ID goes on with it.",
  ],
  examples: [
    ["holdfast approvals list", "everything that waits, in all folders"],
    ["holdfast approvals answer apr_01J allow", "lets the call run, with the scope shown"],
    ['holdfast approvals answer apr_01J deny --note "use the staging host"', "refuses it, and tells the model why"],
  ],
};

interface Open {
  readonly row: SessionRow;
  readonly approval: Approval;
}

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const [verb = "list", id, answer] = given.words;
  const wants = { list: "no more words", show: "an approval ID", answer: "an approval ID, and allow or deny" };
  if (verb !== "list" && verb !== "show" && verb !== "answer")
    throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "list, show or answer");
  if (Math.max(1, given.words.length) !== { list: 1, show: 2, answer: 3 }[verb]) throw usage(spec, `${verb} takes ${wants[verb]}`);
  if (verb === "answer" && answer !== "allow" && answer !== "deny")
    throw usage(spec, `${JSON.stringify(answer)} is no answer`, "allow or deny");
  const store = await hosts.openStore(await openSetup(io));
  try {
    if (verb === "list") return await list(given, io, store);
    const found = await findApproval(store, id ?? "");
    if (verb === "show") {
      const style = createStyle(usesColour(io.stdout, io.env));
      const lines = [`session ${found.row.session}  ${sanitizeLine(found.row.title)}`, `rule ${sanitizeLine(found.approval.rule.id)}`];
      io.stdout.write(
        `${[...lines, ...renderApproval(found.approval, { style, width: io.stdout.columns, showsResume: true })].join("\n")}\n`,
      );
      return 0;
    }
    const posted = await answerThatWaits(store, found);
    if (posted !== null) {
      throw new HoldfastError("approval_closed", `${found.approval.id} was answered before: ${posted}`, {
        hint: `the session takes that answer when it goes on: holdfast exec resume ${found.row.session}`,
      });
    }
    await store.runtime.post(store.ports, found.row.session, {
      type: "approval.answer",
      approvalId: found.approval.id,
      answer: answer === "allow" ? "allow" : "deny",
      by: io.env["USER"] || io.env["LOGNAME"] || "holdfast approvals answer",
      note: given.value("note") ?? "",
      digest: found.approval.digest,
    });
    io.stderr.write(
      `answered ${found.approval.id}: ${answer}\nunless a process drives the session: holdfast exec resume ${found.row.session}\n`,
    );
    return 0;
  } finally {
    await store.close();
  }
}

/** An answer that no driver has taken in yet: the first one counts. */
async function answerThatWaits(store: OpenStore, { row, approval }: Open): Promise<string | null> {
  for (const { body } of await store.ports.log.inbox(row.session)) {
    const op = JSON.parse(body) as Op;
    if (op.type === "approval.answer" && op.approvalId === approval.id) return op.answer;
  }
  return null;
}

async function list(given: Arguments, io: Io, store: OpenStore): Promise<number> {
  const open = await openApprovals(store);
  if (given.has("json")) {
    for (const { row, approval } of open) io.stdout.write(jsonLine({ type: "approval", session: row.session, ...approval }));
    return 0;
  }
  if (open.length === 0) {
    io.stderr.write("nothing waits for an answer\n");
    return 0;
  }
  const rows = open.map(({ row, approval }) => [approval.id, row.session, fit(sanitizeLine(approval.reason), 60)]);
  io.stdout.write(`${table([["approval", "session", "why"], ...rows], io.stdout.columns).join("\n")}\n`);
  return 0;
}

/** A running session may have an approval open beside calls that go on. */
async function openApprovals(store: OpenStore): Promise<Open[]> {
  const rows = [...(await store.ports.log.list({ status: "waiting" })), ...(await store.ports.log.list({ status: "running" }))];
  const open: Open[] = [];
  for (const row of rows) {
    const view = await store.runtime.readStanding(store.ports, row.session);
    for (const approval of view.openApprovals) open.push({ row, approval });
  }
  return open;
}

async function findApproval(store: OpenStore, id: string): Promise<Open> {
  const open = await openApprovals(store);
  const exact = open.find(({ approval }) => approval.id === id);
  if (exact !== undefined) return exact;
  const close = id.length < 4 ? [] : open.filter(({ approval }) => approval.id.startsWith(id));
  const [only] = close;
  if (only !== undefined && close.length === 1) return only;
  throw new HoldfastError(
    "approval_not_found",
    close.length > 1 ? `${close.length} approvals begin with ${id}` : `no open approval is called ${id}`,
    {
      hint: "it may have been answered or have passed its deadline; holdfast approvals list names the open ones",
    },
  );
}

export const command: Command = { ...spec, run };
