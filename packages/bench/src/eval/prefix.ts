/**
 * How much of a request's prefix is that of the one before, measured from the requests as a server received them: over each
 * wire a session of 200 turns with tools that are searched and called, other modes, plan mode, edited project rules, processes
 * that take the session over, and five shortenings.
 *   npm run eval -- prefix [--count TURNS] [--json]
 */
import type { Settings } from "@holdfast/protocol";
import type { OpenHost } from "holdfast";
import type { Evaluate, Figure } from "./evaluation.ts";
import { makePlace, plainTool, providerAt } from "./wires/place.ts";
import { reuseOf } from "./wires/reuse.ts";
import { type Said, startWireServer, wireNames, type WireName } from "./wires/server.ts";

const leastReuse = 0.995;
const usualTurns = 200;
const cuts = 5;

/** What happens between two turns, and what the model does in the next one; each comes round again and again. */
const moves = ["talk", "search", "rules", "mode", "read", "resume", "plan", "many"] as const;

export const evaluate: Evaluate = async ({ count = usualTurns }) => {
  const figures: Figure[] = [];
  const misses: object[] = [];
  for (const wire of wireNames) {
    const { shares, happened } = await measure(wire, count);
    const least = Math.min(...shares.map(({ share }) => share));
    misses.push(...shares.filter(({ share }) => share < leastReuse).map((one) => ({ wire, ...one })));
    figures.push(
      {
        name: `${wire}: the least of a prefix that was reused`,
        value: least,
        goal: `≥ ${leastReuse}`,
        isMet: least >= leastReuse,
        n: shares.length,
      },
      {
        name: `${wire}: the same on the average`,
        value: shares.reduce((sum, { share }) => sum + share, 0) / shares.length,
        n: shares.length,
      },
      { name: `${wire}: shortenings`, value: happened.cuts, goal: `${cuts}`, isMet: happened.cuts === cuts },
      ...(["search", "mode", "rules", "resume", "plan"] as const).map((what): Figure => ({
        name: `${wire}: ${names[what]}`,
        value: happened[what],
        goal: "≥ 1",
        isMet: happened[what] >= 1,
      })),
    );
  }
  return { figures, misses };
};

const names = {
  search: "turns with tools searched and called",
  mode: "other modes",
  rules: "edited project rules",
  resume: "processes that took it over",
  plan: "turns in plan mode",
};

async function measure(wire: WireName, turns: number) {
  const place = makePlace(wire);
  place.write("AGENTS.md", rulesOf(0));
  place.write("notes.txt", "one\ntwo\nthree\n");
  let plan: Said[] = [];
  const server = await startWireServer(() => plan.shift() ?? { text: "Done." });
  const tools = Array.from({ length: 60 }, (_, n) =>
    plainTool(`ticket_${n}`, `Reads tickets of the board ${n}`, true, (input) => `ticket ${n} ${JSON.stringify(input)} `.repeat(20)),
  );
  const config = providerAt(wire, server.baseUrl);
  let host = await place.open(config, tools);
  const session = await place.newSession(host);
  const happened = { cuts: 0, search: 0, mode: 0, rules: 0, resume: 0, plan: 0 };
  const cutBefore = new Set<number>();
  let asked = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const move = moves[turn % moves.length];
    if (move === "rules") {
      place.write("AGENTS.md", rulesOf(turn));
      happened.rules += 1;
    }
    if (move === "mode") {
      await host.runtime.changeSettings(host.ports, session, modeOf(turn));
      happened.mode += 1;
    }
    if (move === "resume") {
      await host.close();
      host = await place.open(config, tools);
      happened.resume += 1;
    }
    plan = answersOf(move ?? "talk", turn);
    if (move === "search") happened.search += 1;
    if (move === "plan") happened.plan += 1;
    await takeTurn(host, session, turn, move === "plan");
    if (
      Math.floor(((turn + 1) * (cuts + 1)) / turns) > Math.floor((turn * (cuts + 1)) / turns) &&
      happened.cuts < cuts &&
      turn + 1 < turns
    ) {
      await host.runtime.post(host.ports, session, { type: "compaction.request", by: "eval" });
      // One that frees too little leaves the window: it is no cut.
      await host.runtime.drive(host.ports, session, {
        waiting: "return",
        onEvent: ({ type }) => (happened.cuts += type === "window.compacted" ? 1 : 0),
      });
      cutBefore.add(server.bodies.length);
      asked += 1;
    }
  }
  await host.close();
  server.close();
  place.remove();
  const shares = server.bodies.slice(1).flatMap((body, index) => {
    const request = index + 1;
    return cutBefore.has(request) ? [] : [{ request, share: reuseOf(wire, server.bodies[index] ?? "", body) }];
  });
  return { shares, happened };
}

async function takeTurn({ ports, runtime }: OpenHost, session: string, turn: number, isPlan: boolean): Promise<void> {
  if (isPlan) await runtime.changeSettings(ports, session, { isPlanning: true, sandbox: "read-only" });
  const text = `Turn ${turn}: look after what was said, and go on. ${"And mind the details. ".repeat(turn % 7)}`;
  await runtime.post(ports, session, { type: "input.send", parts: [{ type: "text", text }] });
  const end = await runtime.drive(ports, session, { waiting: "return" });
  for (const question of end.questions) {
    const choices = question.choices.slice(0, 1);
    await runtime.post(ports, session, { type: "question.answer", questionId: question.id, answer: { choices, text: "" }, by: "eval" });
    await runtime.drive(ports, session, { waiting: "return" });
  }
}

function rulesOf(turn: number): string {
  return [
    "# Rules",
    ...Array.from({ length: 40 }, (_, n) => `- Rule ${n}: keep it ${(n + turn) % 5 === 0 ? `short (${turn})` : "plain"}.`),
    "",
  ].join("\n");
}

function modeOf(turn: number): Partial<Settings> {
  return turn % 16 < 8 ? { approvals: "deny", network: ["example.org"] } : { approvals: "allow", network: "none" };
}

function answersOf(move: (typeof moves)[number], turn: number): Said[] {
  const call = (name: string, input: object) => ({ name, input });
  switch (move) {
    case "search":
      return [
        { calls: [call("search_tools", { query: `tickets of board ${turn % 60}` })] },
        { text: "I found it.", calls: [call("use_tool", { name: `ticket_${turn % 60}`, input: { about: `turn ${turn}` } })] },
        { text: `What it says is clear (${turn}).` },
      ];
    case "read":
      return [{ text: "I read it.", calls: [call("read_file", { path: "notes.txt" })] }, { text: `Read in turn ${turn}.` }];
    case "many":
      return [
        { calls: [call("read_file", { path: "notes.txt" }), call("list_folder", {}), call("read_file", { path: "missing.txt" })] },
        { calls: [call("update_plan", { steps: [{ text: `part ${turn}`, status: "pending" }] })] },
        { text: `Looked at all in turn ${turn}.` },
      ];
    case "plan":
      return [{ text: `1. Do part ${turn}.\n2. Check it.` }, { text: "Carried out." }];
    case "talk":
    case "rules":
    case "mode":
    case "resume":
      return [{ text: `All is well in turn ${turn}. ${"It goes on. ".repeat(turn % 11)}` }];
  }
}
