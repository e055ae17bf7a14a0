import type { Usage } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import type { ModelFacts } from "@holdfast/models/catalog/facts";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import type { Config } from "../config/config.ts";
import { parseCount } from "../config/limits.ts";
import { endpointOf } from "../config/model-choice.ts";
import { type CostParts, renderContext, renderDifference } from "../render/context.ts";
import { jsonLine } from "../render/json-events.ts";
import type { Hosts } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";
import { warnOfDamage } from "../session/warn-of-damage.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "context",
  summary:
    "Shows what a request to the model was made of: every part with its source, label, tokens and reason, and what each kind may take.",
  usage: ["holdfast context SESSION [--step N] [--json]", "holdfast context SESSION --diff A B [--json]"],
  flags: {
    step: { kind: "string", value: "N", help: "the session's Nth request; without it the last one" },
    diff: { kind: "string", value: "A B", help: "what request B has that A hasn't, and the other way round" },
    json: { kind: "boolean", help: "one JSON object" },
  },
  words: { min: 1, max: 2, named: "one session ID" },
  notes: [
    "Derived from the session's log; nothing is asked of a provider. Tokens are what it counted, shared out by an estimate of each part.",
  ],
  examples: [
    ["holdfast context ses_01J", "the last request"],
    ["holdfast context ses_01J --diff 3 4", "what one step added"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const { id, numbers } = wanted(given);
  const [{ requestsOf }, { compareLedgers, ledgerOf }] = await Promise.all([
    import("@holdfast/runtime/session/requests"),
    import("@holdfast/harness/context/ledger"),
  ]);
  const setup = await openSetup(io);
  const host = await hosts.openHost(setup, { cwd: io.cwd, roots: [] });
  try {
    const row = await sessionById(host.ports, id);
    const { session } = row;
    const { count, found } = await requestsOf(host.ports, session, numbers);
    await warnOfDamage(io, host.ports, row);
    const shown = await Promise.all(
      found.map(async (request) => {
        const facts = await factsOf(request.model, setup.config, io);
        const window = facts?.contextWindow ?? null;
        return {
          request,
          window,
          ledger: ledgerOf(request, window),
          cost: request.usage === null ? null : await costParts(facts, request.usage),
        };
      }),
    );
    const [first, second] = shown;
    if (first === undefined) return 0;
    if (second !== undefined) {
      const difference = compareLedgers(first.ledger, second.ledger);
      const [a, b] = [first.request.number, second.request.number];
      if (given.has("json")) io.stdout.write(jsonLine({ type: "context.compared", session, a, b, ...difference }));
      else io.stdout.write(`${renderDifference(difference).join("\n")}\n`);
      return 0;
    }
    const { request, ledger, window, cost } = first;
    if (!given.has("json")) {
      io.stdout.write(`${renderContext(request, count, ledger, window, cost).join("\n")}\n`);
      return 0;
    }
    const { number, turn, step, seq, at, model, status } = request;
    io.stdout.write(
      jsonLine({
        type: "context",
        session,
        request: { number, of: count, turn, step, seq, at, model, status },
        window,
        usage: request.usage,
        cost: { total: request.cost, ...cost },
        ...ledger,
      }),
    );
    return 0;
  } finally {
    await host.close();
  }
}

/** `--diff 3 4` comes as a flag's value and one more word, in whatever order the words are. */
function wanted(given: Arguments): { readonly id: string; readonly numbers: number[] } {
  const [step, from] = [given.value("step"), given.value("diff")];
  if (step !== undefined && from !== undefined) throw usage(spec, "--step goes without --diff");
  const to = from === undefined ? undefined : given.words.find((word) => /^\d+$/.test(word));
  const ids = given.words.filter((word) => word !== to);
  if (ids.length !== 1)
    throw usage(spec, from === undefined ? "it takes one session ID" : "--diff takes two numbers of requests, beside one session ID");
  if (from !== undefined && to === undefined) throw usage(spec, "--diff takes two numbers of requests");
  const numbers = [step, from, to].flatMap((text) => {
    if (text === undefined) return [];
    const number = parseCount(text);
    if (number === null) throw usage(spec, `${JSON.stringify(text)} is not a whole number above 0`);
    return [number];
  });
  return { id: ids[0] ?? "", numbers };
}

/** What is known of a model without asking anyone; null for one that isn't known here any more. A window that is only assumed is none. */
async function factsOf(model: string, config: Config, io: Io): Promise<ModelFacts | null> {
  const [{ resolveFacts }, { queryOf }] = await Promise.all([import("@holdfast/models/catalog/find"), import("../host/model.ts")]);
  try {
    const facts = resolveFacts(queryOf(endpointOf(model, config, io.env), config, null));
    return facts.windowFrom === "assumed" ? { ...facts, contextWindow: null } : facts;
  } catch {
    return null;
  }
}

async function costParts(facts: ModelFacts | null, used: Usage): Promise<CostParts | null> {
  if (facts === null || facts.prices === null) return null;
  const { costOf } = await import("@holdfast/models/catalog/facts");
  const written = used.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, used.inputTokens - used.cachedInputTokens - written);
  const prices = facts.longPrompt !== null && used.inputTokens > facts.longPrompt.above ? facts.longPrompt.prices : facts.prices;
  const share = (part: Partial<Usage>): number => costOf({ ...facts, prices, longPrompt: null }, { ...noUsage, ...part }) ?? 0;
  return {
    uncached: share({ inputTokens: fresh, cacheWriteTokens: 0 }),
    cached: share({ inputTokens: used.cachedInputTokens, cachedInputTokens: used.cachedInputTokens }),
    written: share({ inputTokens: written, cacheWriteTokens: written }),
    output: share({ outputTokens: used.outputTokens }),
  };
}

export const command: Command = { ...spec, run };
