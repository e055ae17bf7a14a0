import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** When things happened, in milliseconds of this process's monotonic clock. */
export interface Exchange {
  readonly received: number;
  answered: number;
  readonly bytes: number;
}

export interface ScriptedServer {
  readonly baseUrl: string;
  readonly exchanges: readonly Exchange[];
  close(): void;
}

/**
 * A model on loopback over the Responses wire: asks for `command(n)` as often as `steps` says, then ends. It looks for the
 * caller's shell tool by its parameter, so that any harness can be its client.
 */
export async function startScriptedServer(steps: number, command: (n: number) => string): Promise<ScriptedServer> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = Buffer.concat(chunks);
    const exchange: Exchange = { received: performance.now(), answered: 0, bytes: body.length };
    const n = exchanges.push(exchange) - 1;
    const { tools = [] } =
      n === 0 ? (JSON.parse(body.toString("utf8")) as { tools?: { name: string; parameters?: { properties?: object } }[] }) : {};
    if (n === 0) shell = tools.find((tool) => "command" in (tool.parameters?.properties ?? {}))?.name ?? "shell";
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(answer(n, steps, shell, command));
    response.end(() => (exchange.answered = performance.now()));
  });
  let shell = "shell";
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    exchanges,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(n: number, steps: number, shell: string, command: (n: number) => string): string {
  const item =
    n < steps
      ? {
          id: `fc_${n}`,
          type: "function_call",
          status: "completed",
          call_id: `call_${n}`,
          name: shell,
          arguments: JSON.stringify({ command: command(n) }),
        }
      : {
          id: `msg_${n}`,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Done.", annotations: [] }],
        };
  const response = {
    id: `resp_${n}`,
    object: "response",
    status: "completed",
    output: [item],
    usage: { input_tokens: 10, output_tokens: 10, total_tokens: 20 },
  };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", ...(n < steps ? { arguments: "" } : { content: [] }) },
    },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  return events.map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`).join("");
}
