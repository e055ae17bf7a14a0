import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Explained, Ranked } from "@holdfast/harness/discovery/rank";
import type { SearchableTool, ToolIndex } from "@holdfast/harness/discovery/tool-index";
import type { Json } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import { networkOf } from "../session/flags.ts";
import { serversHere } from "./mcp/call.ts";

const defaultLimit = 10;
const batchLimit = 50;
/** Bytes of stdin: some hundred thousand queries. */
const largestBatch = 64 * 1024 * 1024;
/** Words of a query that are shown for each tool found. */
const mostReasons = 6;

const spec: CommandSpec = {
  name: "tools",
  summary: "Searches the tools of the configured MCP servers, or of a file, as the model's search_tools does, and says why each is found.",
  usage: [
    "holdfast tools search QUERY… [--tools FILE] [--limit N] [--json]",
    "holdfast tools search --batch --tools FILE [--limit N]   reads JSON lines {id, text}, writes {id, names}",
  ],
  flags: {
    tools: { kind: "string", value: "FILE", help: "search these tools: a JSON array of {name, server, description, inputSchema}" },
    batch: { kind: "boolean", help: "rank for each line of standard input" },
    limit: { kind: "string", value: "N", help: `how many to give: ${defaultLimit}, with --batch ${batchLimit}` },
    json: { kind: "boolean", help: "one JSON object a tool: its name, score, and what each word of the query added in which field" },
  },
  words: { min: 0, max: 200, named: "search" },
  notes: ["The ranking is deterministic and asks nobody. Without --tools the configured servers are started, and end with the command."],
  examples: [
    ["holdfast tools search open an issue", "which tools a model would be shown for these words"],
    ["holdfast tools search --batch --tools tools.json < queries.jsonl", "ranks for many queries"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb, ...words] = given.words;
  if (verb !== "search") throw usage(spec, verb === undefined ? "what should be done?" : `unknown word ${JSON.stringify(verb)}`, "search");
  const isBatch = given.has("batch");
  if (isBatch === words.length > 0) {
    throw usage(
      spec,
      isBatch ? "--batch takes its queries from standard input" : "search for what?",
      "holdfast tools search open an issue",
    );
  }
  const limit = Number(given.value("limit") ?? (isBatch ? batchLimit : defaultLimit));
  if (!Number.isInteger(limit) || limit < 1) throw usage(spec, "--limit takes a whole number of at least 1");
  const [{ indexTools }, { rankTools, explain }] = await Promise.all([
    import("@holdfast/harness/discovery/tool-index"),
    import("@holdfast/harness/discovery/rank"),
  ]);
  const file = given.value("tools");
  const index = indexTools(file === undefined ? await configured(io) : readTools(resolve(io.cwd, file)));
  if (isBatch) {
    for (const { id, text } of readQueries(await io.stdin.readAll(largestBatch))) {
      const names = rankTools(index, text, limit).map(({ tool }) => tool.name);
      io.stdout.write(`${JSON.stringify({ id, names })}\n`);
    }
    return 0;
  }
  const query = words.join(" ");
  const ranked = rankTools(index, query, limit).map((found) => ({ ...found, reasons: explain(index, query, found.tool) }));
  if (given.has("json")) for (const found of ranked) io.stdout.write(jsonLine(describe(found)));
  else io.stdout.write(show(ranked, index, io));
  return 0;
}

interface Found extends Ranked {
  readonly reasons: readonly Explained[];
}

function show(ranked: readonly Found[], index: ToolIndex, io: Io): string {
  if (ranked.length === 0) return `none of ${index.tools.length} tools matches\n`;
  const style = createStyle(usesColour(io.stdout, io.env));
  const lines = ranked.flatMap(({ tool, score, reasons }) => [
    `${style.strong(sanitizeLine(tool.name))}  ${Number.isFinite(score) ? score.toFixed(2) : "asked for by its name"}`,
    ...reasons.slice(0, mostReasons).map(({ word, by, fields }) => {
      const where = Object.entries(fields).map(([field, part]) => `${field} ${part.toFixed(2)}`);
      return `  ${sanitizeLine(word === by ? word : `${word} by ${by}`)}: ${where.join(", ")}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

function describe({ tool, score, reasons }: Found) {
  return { type: "tool_found", name: tool.name, server: tool.server, score: Number.isFinite(score) ? score : null, reasons };
}

async function configured(io: Io): Promise<SearchableTool[]> {
  const { usable, setup, workspace } = await serversHere(io);
  const enabled = usable.filter(({ config }) => config.isEnabled);
  if (enabled.length === 0) return [];
  const [{ openServers }, { searchable }] = await Promise.all([import("../host/mcp.ts"), import("@holdfast/harness/discovery/ranking")]);
  const source = await openServers(enabled, setup, {
    userHome: setup.env["HOME"] ?? "",
    cwd: workspace.cwd,
    roots: [workspace.root],
    isTrusted: setup.request.isTrusted,
    network: networkOf(setup.config.sandbox.allowNet),
  });
  const quit = new AbortController();
  const stop = io.onStop(() => quit.abort());
  try {
    source.start();
    await source.settled(Number.POSITIVE_INFINITY, quit.signal);
    for (const line of source.absent()) io.stderr.write(`${sanitizeLine(line)}\n`);
    return source.specs.map(searchable);
  } finally {
    stop();
    await source.close();
  }
}

function readTools(path: string): SearchableTool[] {
  const rows = parse(read(path), path);
  if (!Array.isArray(rows)) throw wrongFile(path, "it is no array");
  return rows.map((row: unknown, number) => {
    const { name, server, description, inputSchema } = (row ?? {}) as Record<string, Json | undefined>;
    if (typeof name !== "string" || name === "") throw wrongFile(path, `entry ${number} has no name`);
    return {
      name,
      server: typeof server === "string" ? server : "",
      description: typeof description === "string" ? description : "",
      schema: inputSchema ?? {},
    };
  });
}

function readQueries(text: string): { readonly id: Json; readonly text: string }[] {
  return text
    .split("\n")
    .map((line, number) => ({ line: line.trim(), number: number + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => {
      const row = parse(line, `line ${number}`) as { readonly id?: Json; readonly text?: unknown } | null;
      if (typeof row?.text !== "string")
        throw usage(spec, `line ${number} of standard input has no text`, '{"id": "q1", "text": "open an issue"}');
      return { id: row.id ?? null, text: row.text };
    });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw wrongFile(path, error instanceof Error ? error.message : String(error));
  }
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw wrongFile(where, "it is no JSON");
  }
}

function wrongFile(where: string, what: string): HoldfastError {
  return new HoldfastError("usage", `${where}: ${what}`, { hint: "tools are a JSON array of {name, server, description, inputSchema}" });
}

export const command: Command = { ...spec, run };
