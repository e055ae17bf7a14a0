import { spawn } from "node:child_process";

/** The floor: a streaming tool loop over the Responses wire with fetch and spawn, and nothing else. Run as a program. */
const baseUrl = process.env["OPENAI_BASE_URL"] ?? "";
const tools = [
  {
    type: "function",
    name: "shell",
    description: "Run a command.",
    strict: false,
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
];
interface OutputItem {
  readonly type: string;
  readonly call_id?: string;
  readonly arguments?: string;
}
const input: object[] = [{ role: "user", content: process.argv[2] ?? "go" }];

for (;;) {
  const items = await sample();
  input.push(...items);
  const calls = items.filter((item) => item.type === "function_call");
  if (calls.length === 0) break;
  const results = await Promise.all(
    calls.map(async (call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: await run((JSON.parse(call.arguments ?? "{}") as { command: string }).command),
    })),
  );
  input.push(...results);
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

function run(command: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const add = (data: Buffer): void => void (output += data.toString());
    child.stdout.on("data", add);
    child.stderr.on("data", add);
    child.on("close", (code) => resolve(`exit status ${code}\n${output}`));
  });
}
