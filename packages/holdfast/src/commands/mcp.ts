import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { add } from "./mcp/add.ts";
import { importServers } from "./mcp/import.ts";
import { list } from "./mcp/list.ts";
import { remove } from "./mcp/remove.ts";
import { test } from "./mcp/test.ts";
import type { McpCall } from "./mcp/call.ts";

const spec: CommandSpec = {
  name: "mcp",
  summary: "Lists, adds, tries, imports or removes MCP servers, whose tools the model can find and call.",
  usage: [
    "holdfast mcp list [--json]",
    "holdfast mcp add NAME [--env KEY=VALUE] [--allow TOOL] -- COMMAND [ARGUMENT…]",
    "holdfast mcp add NAME --url URL [--header KEY=VALUE] [--allow TOOL]",
    "holdfast mcp test [NAME…] [--json]",
    "holdfast mcp import FILE | --from claude|codex",
    "holdfast mcp remove NAME…",
  ],
  flags: {
    url: { kind: "string", value: "URL", help: "with add: a server over streamable HTTP" },
    env: { kind: "list", value: "KEY=VALUE", help: "with add: an environment variable for it; write secrets as ${NAME} (repeatable)" },
    header: { kind: "list", value: "KEY=VALUE", help: "with add: an HTTP header for it; write secrets as ${NAME} (repeatable)" },
    cwd: { kind: "string", value: "DIR", help: "with add: the folder it runs in, instead of the project's" },
    allow: {
      kind: "list",
      value: "TOOL",
      help: "with add: a tool of it that is called without asking; * stands for any text (repeatable)",
    },
    from: { kind: "string", value: "PROGRAM", help: "with import: the servers of this program", oneOf: ["claude", "codex"] },
    json: { kind: "boolean", help: "with list and test: one JSON object a line" },
  },
  words: { min: 0, max: 200, named: "list, add, test, import or remove" },
  notes: [
    "Servers are kept in $HOLDFAST_HOME/config.toml as [mcp.NAME]. They are started when a session first looks for their tools, and end with it.",
    "A project's servers (.holdfast/config.toml, .mcp.json) count once the project is trusted and each was accepted: holdfast trust shows them.",
  ],
  examples: [
    ["holdfast mcp add memory -- npx -y @modelcontextprotocol/server-memory", "a program, started in the project's folder"],
    ["holdfast mcp add tracker --url https://example.com/mcp --header 'Authorization=Bearer ${TRACKER_TOKEN}'", "one over HTTP"],
    ["holdfast mcp test memory", "starts it and shows its tools, and what is wrong with any"],
    ["holdfast mcp import --from claude", "takes over the servers of ~/.claude.json"],
  ],
};

const verbs: Readonly<Record<string, { readonly run: (call: McpCall) => Promise<number>; readonly flags: readonly string[] }>> = {
  list: { run: list, flags: ["json"] },
  add: { run: add, flags: ["url", "env", "header", "cwd", "allow"] },
  test: { run: test, flags: ["json"] },
  import: { run: importServers, flags: ["from"] },
  remove: { run: remove, flags: [] },
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [name = "list", ...words] = given.words;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw usage(spec, `unknown word ${JSON.stringify(name)}`, Object.keys(verbs).join(", "));
  const strange = Object.keys(spec.flags).find((flag) => given.has(flag) && !verb.flags.includes(flag));
  if (strange !== undefined) throw usage(spec, `--${strange} does not belong to ${name}`);
  return verb.run({ given, io, words, wrong: (what, hint) => usage(spec, what, hint) });
}

export const command: Command = { ...spec, run };
