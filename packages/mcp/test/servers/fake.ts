/**
 * An MCP server of revision 2025-11-25, written by hand so that it can misbehave. Its one argument is JSON: see `Habits`.
 * A note of each start and call goes to the file named, so that a test can count.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface Habits {
  readonly tools?: readonly object[];
  readonly revision?: string;
  readonly pageSize?: number;
  /** Written to standard output before anything else. */
  readonly noise?: string;
  /** Before `initialize` is answered, ms. */
  readonly startMs?: number;
  /** How often a start fails before one goes well; counted in the notes. */
  readonly failStarts?: number;
  readonly neverAnswersStart?: boolean;
  /** Ends at the first message that is not `initialize`, as some servers do. */
  readonly endsAtProbe?: boolean;
  /** The tools after a change that comes with the answer to `initialize`, and again behind the first list. */
  readonly changesAtStart?: readonly object[];
  readonly ignoresProbe?: boolean;
  readonly ignoresEnd?: boolean;
  /** What each call does, by the tool's name. */
  readonly calls?: Readonly<Record<string, readonly Step[]>>;
  readonly notes?: string;
}

export type Step =
  | { readonly do: "answer"; readonly result: object }
  | { readonly do: "error"; readonly code: number; readonly message: string }
  | { readonly do: "die"; readonly exitCode?: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "hang" }
  | { readonly do: "progress"; readonly every: number; readonly times: number }
  /** Other tools from now on, and `times` notifications of it. */
  | { readonly do: "change"; readonly tools: readonly object[]; readonly times: number }
  | { readonly do: "raw"; readonly text: string }
  /** So many letters without a line end. */
  | { readonly do: "fill"; readonly size: number }
  | { readonly do: "say"; readonly text: string };

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly arguments?: unknown;
    readonly _meta?: { progressToken?: number };
  };
}

const habits = JSON.parse(process.argv[2] ?? "{}") as Habits;
/** A schema with `fill` gets a description of that many letters: an argument of a program has a bound. */
const filled = (tool: object): object =>
  JSON.parse(JSON.stringify(tool), (key, value: unknown) => (key === "fill" ? "x".repeat(value as number) : value)) as object;
let tools: readonly object[] = habits.tools?.map(filled) ?? [{ name: "echo", inputSchema: { type: "object" } }];
const note = (text: string): void => {
  if (habits.notes !== undefined) appendFileSync(habits.notes, `${text}\n`);
};
const write = (text: string): void => void process.stdout.write(text);
const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

note(`start ${process.pid}`);
if (habits.ignoresEnd === true) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 60_000);
}
if (habits.noise !== undefined) write(habits.noise);
if (habits.failStarts !== undefined && starts() <= habits.failStarts) {
  process.stderr.write("no database\n");
  process.exit(3);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void handle(JSON.parse(line) as Request));
lines.on("close", () => {
  if (habits.ignoresEnd !== true) process.exit(0);
});

function starts(): number {
  return readFileSync(habits.notes!, "utf8")
    .split("\n")
    .filter((each) => each.startsWith("start")).length;
}

async function handle({ id, method, params = {} }: Request): Promise<void> {
  switch (method) {
    case "initialize": {
      if (habits.neverAnswersStart === true) return;
      await sleep(habits.startMs ?? 0);
      send({
        id,
        result: {
          protocolVersion: habits.revision ?? "2025-11-25",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "fake", version: "1" },
        },
      });
      if (habits.changesAtStart !== undefined) send({ method: "notifications/tools/list_changed" });
      return;
    }
    case "tools/list": {
      const from = Number(params.cursor ?? 0);
      const to = from + (habits.pageSize ?? tools.length);
      note(`list ${from}`);
      send({ id, result: { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) } });
      if (habits.changesAtStart !== undefined && tools !== habits.changesAtStart) {
        tools = habits.changesAtStart;
        send({ method: "notifications/tools/list_changed" });
      }
      return;
    }
    case "tools/call":
      note(`call ${params.name} ${JSON.stringify(params.arguments)}`);
      for (const step of habits.calls?.[params.name ?? ""] ?? [{ do: "answer", result: text(JSON.stringify(params.arguments)) } as const]) {
        if (!(await take(step, id, params["_meta"]?.progressToken))) return;
      }
      return;
    case "notifications/cancelled":
      note("cancelled");
      return;
    case "notifications/initialized":
      return;
    default:
      if (habits.endsAtProbe === true) process.exit(1);
      if (id !== undefined && habits.ignoresProbe !== true) send({ id, error: { code: -32601, message: "unknown method" } });
  }
}

function text(value: string): object {
  return { content: [{ type: "text", text: value }] };
}

/** False where nothing may follow. */
async function take(step: Step, id: number | undefined, progressToken: number | undefined): Promise<boolean> {
  switch (step.do) {
    case "answer":
      send({ id, result: step.result });
      return true;
    case "error":
      send({ id, error: { code: step.code, message: step.message } });
      return true;
    case "die":
      process.stderr.write("fatal: out of luck\n");
      process.exit(step.exitCode ?? 1);
      return false;
    case "wait":
      await sleep(step.ms);
      return true;
    case "hang":
      return false;
    case "progress":
      for (let at = 1; at <= step.times; at += 1) {
        await sleep(step.every);
        send({ method: "notifications/progress", params: { progressToken, progress: at, total: step.times, message: `part ${at}` } });
      }
      return true;
    case "change":
      ({ tools } = step);
      for (let at = 0; at < step.times; at += 1) send({ method: "notifications/tools/list_changed" });
      return true;
    case "raw":
      write(step.text);
      return true;
    case "fill":
      for (let left = step.size; left > 0; left -= 1_000_000) write("x".repeat(Math.min(left, 1_000_000)));
      return true;
    case "say":
      process.stderr.write(step.text);
      return true;
  }
}
