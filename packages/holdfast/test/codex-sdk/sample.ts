import { Codex } from "@openai/codex-sdk";

const codex = new Codex({ codexPathOverride: "holdfast" });
const thread = codex.startThread({ model: "gpt-5.1-codex", sandboxMode: "workspace-write", approvalPolicy: "never" });

const { events } = await thread.runStreamed("Make greet() say hello in French");
for await (const event of events) {
  if (event.type !== "item.completed") continue;
  const { item } = event;
  if (item.type === "command_execution") console.log(`$ ${item.command} → ${item.exit_code}`);
  if (item.type === "file_change") console.log(item.changes.map(({ kind, path }) => `${kind} ${path}`).join("\n"));
  if (item.type === "agent_message") console.log(item.text);
}

const { finalResponse, usage } = await thread.run("Which files did you change?", {
  outputSchema: {
    type: "object",
    properties: { files: { type: "array", items: { type: "string" } } },
    required: ["files"],
    additionalProperties: false,
  },
});
console.log(JSON.parse(finalResponse).files, usage?.output_tokens);
