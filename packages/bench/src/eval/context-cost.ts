/**
 * What a request costs before the first word, and what a step costs later: sizes of the first request on each wire, bare and
 * with 500 MCP tools, 100 skills and a 10 kB AGENTS.md; its parts with their reasons; bytes a step where the provider keeps
 * answers; and the time that building a request takes in a session of 10,000 events.
 *   npm run eval -- context-cost [--count STEPS] [--json]
 */
import { ledgerOf } from "@holdfast/harness/context/ledger";
import { estimateTokens } from "@holdfast/harness/context/estimate";
import { requestsOf } from "@holdfast/runtime/session/requests";
import { fileURLToPath } from "node:url";
import { loadConfig, type Config, type OpenHost } from "holdfast";
import type { Evaluate, Figure } from "./evaluation.ts";
import { type BuilderTimes, timeBuilder } from "./wires/builder.ts";
import { type EvalPlace, makePlace, plainTool, providerAt } from "./wires/place.ts";
import { startWireServer, wireNames, type WireName, type WireServer } from "./wires/server.ts";

const mostBare = 8_000;
const mostLaden = 20_000;
const mcpTools = 500;
const skills = 100;
const rulesBytes = 10_000;
const usualSteps = 1_000;
const mostBuildMs = 2;
/** A step may send so much more at the session's end than at its beginning. */
const mostGrowth = 1.02;
const ages = [1_000, 10_000] as const;
const clockNoiseMs = 0.05;

export const evaluate: Evaluate = async ({ count = usualSteps }) => {
  const figures: Figure[] = [];
  const misses: object[] = [];
  for (const wire of wireNames) {
    const bare = await firstRequest(wire, false);
    const laden = await firstRequest(wire, true);
    figures.push(atMost(`${wire}: first request, bytes, all built-in tools`, bare.bytes, mostBare));
    figures.push(
      atMost(`${wire}: the same with ${mcpTools} MCP tools, ${skills} skills and ${rulesBytes} bytes of rules`, laden.bytes, mostLaden),
    );
    if (wire === "responses") figures.push(...laden.parts);
  }
  figures.push(...(await bytesOfSteps(count)));
  figures.push(...(await builderTimes()));
  return { figures, misses };
};

interface First {
  readonly bytes: number;
  readonly parts: readonly Figure[];
}

/** `laden`: with all that can be found or has to be obeyed. Then the tools are listed once, to show that they are there. */
async function firstRequest(wire: WireName, laden: boolean): Promise<First> {
  const place = makePlace(wire);
  const server = await startWireServer((n) =>
    laden && n === 0 ? { calls: [{ name: "search_tools", input: { query: "" } }] } : { text: "Done." },
  );
  try {
    const host = await place.open(laden ? await load(place, wire, server) : providerAt(wire, server.baseUrl));
    try {
      const session = await oneTurn(place, host);
      const bytes = Buffer.byteLength(server.bodies[0] ?? "");
      return { bytes, parts: laden ? await partsOf(host, session) : [] };
    } finally {
      await host.close();
    }
  } finally {
    server.close();
    place.remove();
  }
}

async function oneTurn(place: EvalPlace, host: OpenHost): Promise<string> {
  const session = await place.newSession(host);
  await host.runtime.post(host.ports, session, { type: "input.send", parts: [{ type: "text", text: "Fix the failing test." }] });
  await host.runtime.drive(host.ports, session, { waiting: "return" });
  return session;
}

/** A real server process with its tools, skills as files, rules that a person could have written. */
async function load(place: EvalPlace, wire: WireName, server: WireServer): Promise<Partial<Config>> {
  const rule = (n: number): string =>
    `- Rule ${n}: in "module-${n}" keep functions short, name things after what they are, and test what you change.\n`;
  let rules = "# Rules of this project\n\n";
  for (let n = 0; rules.length + rule(n).length <= rulesBytes; n += 1) rules += rule(n);
  place.write("AGENTS.md", rules.padEnd(rulesBytes, "."));
  for (let n = 0; n < skills; n += 1) {
    const description = `Handles reports of kind ${n}: reads them, checks the figures against the ledger and writes the summary that is asked for.`;
    place.write(
      `.agents/skills/report-${n}/SKILL.md`,
      `---\nname: report-${n}\ndescription: ${description}\n---\n\nRead the report, then write.\n`,
    );
  }
  const program = fileURLToPath(new URL("wires/mcp-server.ts", import.meta.url));
  const overrides = [
    `mcp.many.command=${JSON.stringify(process.execPath)}`,
    `mcp.many.args=${JSON.stringify([program, String(mcpTools)])}`,
  ];
  const { config } = await loadConfig({ home: place.home, project: place.workspace, isTrusted: true, env: {}, overrides });
  return { ...config, ...providerAt(wire, server.baseUrl) };
}

/** The ledger of the first request, and whether all tools are behind it. */
async function partsOf(host: OpenHost, session: string): Promise<Figure[]> {
  const { found } = await requestsOf(host.ports, session, [1, 2]);
  const [first, second] = found;
  if (first === undefined || second === undefined) throw new Error("the session made no two requests");
  const ledger = ledgerOf(first, null);
  const listed = second.items.findLast((item) => item.kind === "tool_result");
  const text = listed?.kind === "tool_result" ? listed.text : "";
  const more = Number(/\[(\d+) more; search with words\]/.exec(text)?.[1] ?? 0);
  const there = text.split("\n").filter((line) => /^\S+: /.test(line)).length + more;
  const ofTools = ledger.parts.filter(({ kind }) => kind === "tools");
  return [
    { name: "tools that a search lists beside those shown", value: there, goal: `≥ ${mcpTools}`, isMet: there >= mcpTools },
    { name: "tokens of the tools in the request", value: ofTools.reduce((sum, { tokens }) => sum + tokens, 0), n: ofTools.length },
    { name: "tokens of the request", value: ledger.tokens },
    ...ledger.parts.map((part): Figure => ({ name: `  ${part.kind} · ${part.id} · ${part.reason}`, value: part.tokens })),
    exactly("parts without a source or a reason", ledger.parts.filter(({ source, reason }) => source === "" || reason === "").length, 0),
    { name: "tokens of all tools, if they were shown", value: tokensOfAll(host) },
  ];
}

function tokensOfAll({ ports }: OpenHost): number {
  return ports.tools.specs.reduce((sum, spec) => sum + estimateTokens(JSON.stringify(spec)), 0);
}

/** One turn of many steps over Responses, the provider keeping answers: what each step sends. */
async function bytesOfSteps(steps: number): Promise<Figure[]> {
  const place = makePlace("responses");
  const number = (n: number): string => String(n).padStart(6, "0");
  const server = await startWireServer((n) => (n < steps ? { calls: [{ name: "look", input: { about: number(n) } }] } : { text: "Done." }));
  const look = plainTool("look", "Looks at one thing", false, (input) => `seen ${JSON.stringify(input)} `.repeat(10));
  const host = await place.open(providerAt("responses", server.baseUrl, { store: true }), [look]);
  await oneTurn(place, host);
  await host.close();
  server.close();
  place.remove();
  const sizes = server.bodies.slice(1).map((body) => Buffer.byteLength(body));
  const part = Math.max(1, Math.floor(sizes.length / 10));
  const mean = (list: readonly number[]): number => list.reduce((sum, size) => sum + size, 0) / list.length;
  const growth = mean(sizes.slice(-part)) / mean(sizes.slice(0, part));
  return [
    { name: "responses, answers kept: bytes a step, on the average", value: mean(sizes), n: sizes.length },
    {
      name: "the last tenth of the steps by the first",
      value: growth,
      goal: `≤ ${mostGrowth}`,
      isMet: growth <= mostGrowth,
      n: sizes.length,
    },
  ];
}

async function builderTimes(): Promise<Figure[]> {
  const place = makePlace("responses");
  const host = await place.open({});
  const figures: Figure[] = [];
  const alone: BuilderTimes[][] = [];
  for (const wire of wireNames) {
    const times = await timeBuilder(wire, host.ports, ages);
    alone.push(times);
    const [young, old] = times;
    if (young === undefined || old === undefined) continue;
    figures.push(atMost(`${wire}: a request and its bytes at ${old.events} events, ms`, old.encoded, mostBuildMs));
    figures.push({ name: `${wire}: the same at ${young.events} events`, value: young.encoded });
  }
  const [young, old] = [0, 1].map((age) => Math.min(...alone.map((times) => times[age]?.built ?? Infinity)));
  figures.push(...flat("the context builder alone", young ?? 0, old ?? Infinity));
  const kept = await timeBuilder("responses", host.ports, ages, true);
  figures.push(...flat("responses, answers kept: a request and its bytes", kept[0]?.encoded ?? 0, kept[1]?.encoded ?? Infinity));
  await host.close();
  place.remove();
  return figures;
}

/** Twice as much at most, above what a clock can tell on a busy machine. */
function flat(name: string, young: number, old: number): Figure[] {
  const isMet = old <= 2 * young + clockNoiseMs;
  return [
    { name: `${name} at ${ages[0]} events, ms`, value: young },
    { name: `${name} at ${ages[1]} events, ms`, value: old, goal: "flat", isMet },
  ];
}

function atMost(name: string, value: number, most: number): Figure {
  return { name, value, goal: `≤ ${most}`, isMet: value <= most };
}

function exactly(name: string, value: number, wanted: number): Figure {
  return { name, value, goal: String(wanted), isMet: value === wanted };
}
