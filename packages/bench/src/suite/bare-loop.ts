import { spawn } from "node:child_process";
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";

/**
 * The floor: a streaming tool loop over the Responses wire with fetch, spawn and file calls, and nothing else. Run as a
 * program; with BENCH_LOG it appends each answer and each result to that file and flushes it, as a durable log must.
 */
const baseUrl = process.env["OPENAI_BASE_URL"] ?? "";
const log = process.env["BENCH_LOG"] === undefined ? null : openSync(process.env["BENCH_LOG"], "a");
/** More than that of a result isn't sent. */
const mostCharacters = 40_000;

const text = { type: "string" };
const tools = [
  toolOf("run_command", { command: text }, ["command"]),
  toolOf("read_file", { path: text, offset: { type: "integer" } }, ["path"]),
  toolOf("edit_file", { path: text, edits: { type: "array", items: { type: "object", properties: { old: text, new: text } } } }, [
    "path",
    "edits",
  ]),
];

interface OutputItem {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
}
interface Input {
  readonly command: string;
  readonly path: string;
  readonly offset?: number;
  readonly edits: readonly { readonly old: string; readonly new: string }[];
}
const input: object[] = [{ role: "user", content: process.argv[2] ?? "go" }];

for (;;) {
  const items = await sample();
  input.push(...items);
  keep(items);
  const calls = items.filter((item) => item.type === "function_call");
  if (calls.length === 0) break;
  const results = await Promise.all(
    calls.map(async (call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: (await carryOut(call.name, JSON.parse(call.arguments ?? "{}") as Input)).slice(0, mostCharacters),
    })),
  );
  input.push(...results);
  keep(results);
}

async function sample(): Promise<OutputItem[]> {
  const response = await fetch(`${baseUrl}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, store: false, instructions: "You are a coding agent.", tools, input }),
  });
  const items: OutputItem[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const data = rest.slice(0, end).split("\ndata: ")[1] ?? "null";
      rest = rest.slice(end + 2);
      const event = JSON.parse(data) as { type: string; item: OutputItem };
      if (event.type === "response.output_item.done") items.push(event.item);
    }
  }
  return items;
}

async function carryOut(name: string | undefined, { command, path, offset = 1, edits }: Input): Promise<string> {
  if (name === "read_file")
    return (await readFile(path, "utf8"))
      .split("\n")
      .slice(offset - 1)
      .join("\n");
  if (name !== "edit_file") return run(command);
  let content = await readFile(path, "utf8");
  for (const edit of edits) content = content.replace(edit.old, edit.new);
  await writeFile(path, content);
  return `${path} was changed`;
}

function run(command: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    const parts: string[] = [];
    let length = 0;
    const add = (data: Buffer): void => {
      if (length < mostCharacters) parts.push(data.toString());
      length += data.length;
    };
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.on("close", (code) => resolve(`exit status ${code}\n${parts.join("")}`));
  });
}

function keep(events: readonly object[]): void {
  if (log === null) return;
  writeSync(log, `${JSON.stringify(events)}\n`);
  fdatasyncSync(log);
}

function toolOf(name: string, properties: object, required: readonly string[]): object {
  return { type: "function", name, description: name, strict: false, parameters: { type: "object", properties, required } };
}
