/** An MCP server over standard input and output with as many tools as its argument says, in the manner of real ones. */
import { createInterface } from "node:readline";

const count = Number(process.argv[2] ?? "500");
const subjects = ["issue", "branch", "invoice", "calendar event", "document", "deployment", "customer", "alert", "message", "dataset"];
const verbs = ["create", "list", "update", "delete", "search", "archive", "export", "assign", "approve", "compare"];

const tools = Array.from({ length: count }, (_, n) => {
  const [verb, subject] = [verbs[n % verbs.length], subjects[Math.floor(n / verbs.length) % subjects.length]];
  return {
    name: `${verb}_${subject?.replace(" ", "_")}_${n}`,
    description: `${verb} one ${subject} or several of the workspace ${n}. Use it when the user asks to ${verb} a ${subject}; it returns what was changed, with ids.`,
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: `The id of the ${subject}` },
        fields: { type: "array", items: { type: "string" }, description: "The fields to return; all of them where it is left out" },
        limit: { type: "integer", minimum: 1, maximum: 500, description: "The most that are returned" },
      },
      required: ["id"],
    },
  };
});

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: { protocolVersion?: string } };
  if (id === undefined) return;
  const answer = (body: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  if (method === "initialize") {
    const protocolVersion = params?.protocolVersion ?? "2025-11-25";
    answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } } });
  } else if (method === "tools/list") answer({ result: { tools } });
  else if (method === "ping") answer({ result: {} });
  else answer({ error: { code: -32601, message: `there is no ${method}` } });
});
