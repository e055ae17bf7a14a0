import type { CallOutcome, CallPlan, Json, TrustLabel } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import type { CallRefusal, Embedder, Tool, ToolSource, ToolSpec } from "@holdfast/runtime";
import { fieldsOf } from "./fields.ts";
import type { Ranking } from "./ranking.ts";

/** Tools shown with their schema, and the characters that all of them may take. */
const mostShown = 5;
const shownChars = 24_000;
const mostListed = 100;
/** Names that stand below those shown. */
const mostOthers = 15;
const descriptionChars = 1_000;
const lineChars = 160;
/** How long a search waits for what is still starting, ms. */
const waitMs = 10_000;

interface Found {
  readonly spec: ToolSpec;
  readonly trust: TrustLabel;
}

/** Finds deferred tools by words. An empty query lists them all. */
export function searchTools(deferred: readonly Tool[], sources: readonly ToolSource[], embedder?: Embedder): Tool {
  let ranking: Ranking | undefined;
  return {
    spec: {
      name: "search_tools",
      description: `Find more tools than these${namesOf(deferred)}. Gives the best matches with their input schemas; an empty query lists all.`,
      schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    async plan(input) {
      const query = queryOf(input);
      return typeof query === "string" ? planOf(query) : query;
    },
    async run({ plan }, _, signal): Promise<CallOutcome> {
      for (const source of sources) source.start();
      await Promise.all(sources.map((source) => source.settled(waitMs, signal)));
      if (signal.aborted) throw signal.reason;
      const found: Found[] = [
        ...deferred.map(({ spec }) => ({ spec, trust: "system" as const })),
        ...sources.flatMap((source) => source.specs.map((spec) => ({ spec, trust: source.trust }))),
      ];
      const absent = sources.flatMap((source) => source.absent());
      const query = queryOf(plan.input) as string;
      // Loaded when something is searched for: its word lists are no part of a start.
      ranking ??= (await import("./ranking.ts")).createRanking(embedder);
      const { text, shown, loaded } = query.trim() === "" ? list(found) : await matches(query, found, ranking, signal);
      return {
        status: "completed",
        text: [text, ...absent].join("\n"),
        ...(loaded.length === 0 ? {} : { tools: loaded.map(({ name, description, schema }) => ({ name, description, schema })) }),
        // Why a server isn't there can quote the server.
        trust: lowestTrust(...shown.map(({ trust }) => trust), ...(absent.length === 0 ? [] : sources.map(({ trust }) => trust))),
      };
    },
  };
}

/** The built-in ones are few and always the same. */
function namesOf(deferred: readonly Tool[]): string {
  const named = deferred.filter(({ isUnnamed }) => isUnnamed !== true);
  return named.length === 0 ? "" : ` (${named.map(({ spec }) => spec.name).join(", ")}, …)`;
}

function queryOf(input: Json): string | CallRefusal {
  const query = fieldsOf(input)["query"] ?? "";
  return typeof query === "string" ? query : { type: "refused", text: "search_tools takes {query}: a few words about what is needed." };
}

function planOf(query: string): CallPlan {
  const summary = query.trim() === "" ? "List more tools" : `Find tools: ${query}`;
  return { input: { query }, summary, reads: [], writes: [], workspace: "none", replay: "safe", changesWorkspace: false };
}

interface Answer {
  readonly text: string;
  readonly shown: readonly Found[];
  /** Shown with their schema. */
  readonly loaded: readonly ToolSpec[];
}

function list(found: readonly Found[]): Answer {
  const shown = found.slice(0, mostListed);
  const rest = found.length > shown.length ? [`[${found.length - shown.length} more; search with words]`] : [];
  const lines = shown.map(({ spec }) => `${spec.name}: ${lineOf(spec)}`);
  return { text: found.length === 0 ? "There are no more tools." : [...lines, ...rest].join("\n"), shown, loaded: [] };
}

async function matches(query: string, found: readonly Found[], ranking: Ranking, signal: AbortSignal): Promise<Answer> {
  const specs = found.map(({ spec }) => spec);
  const ranked = await ranking.rank(query, specs, mostShown + mostOthers, signal);
  if (ranked.length === 0) return { text: `No tool matches; an empty query lists all ${found.length}.`, shown: [], loaded: [] };
  let left = shownChars;
  const loaded: ToolSpec[] = [];
  const blocks = ranked.slice(0, mostShown).map((spec, index) => {
    // Which draft it is written in is no help to a model.
    const schema = JSON.stringify(spec.schema, (key, value: Json) => (key === "$schema" ? undefined : value));
    const whole = `${spec.name}: ${cut(spec.description, descriptionChars)}\ninput: ${schema}`;
    // The best match is always shown whole: its schema was bounded when it was taken in.
    if (index > 0 && whole.length > left) return `${spec.name}: ${lineOf(spec)}\n[search for its name to see its schema]`;
    left -= whole.length;
    loaded.push({ ...spec, description: cut(spec.description, descriptionChars) });
    return whole;
  });
  const others = ranked.slice(mostShown).map((spec) => spec.name);
  const text = [...blocks, ...(others.length === 0 ? [] : [`Others: ${others.join(", ")}`]), "Call them with use_tool."].join("\n\n");
  return { text, shown: found.filter(({ spec }) => ranked.includes(spec)), loaded };
}

function lineOf(spec: ToolSpec): string {
  return cut(spec.description.replaceAll(/\s+/g, " ").trim(), lineChars);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}
