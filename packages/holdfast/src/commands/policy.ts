import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";

const spec: CommandSpec = {
  name: "policy",
  summary: "Says what the policy decides, and why; shows its rules, and tries their examples.",
  usage: [
    "holdfast policy check [flags] COMMAND",
    "holdfast policy check [flags] --tool NAME [--path PATH | --host HOST [--method METHOD]]",
    "holdfast policy check [flags] --mcp SERVER/TOOL",
    "holdfast policy check --batch < LINES",
    "holdfast policy test",
    "holdfast policy show [--mode MODE] [--json]",
    "holdfast policy schema",
  ],
  flags: {
    mode: {
      kind: "string",
      value: "MODE",
      help: "as in a session of this mode: read-only, workspace (default), full or plan",
      oneOf: ["read-only", "workspace", "full", "plan"],
    },
    "allow-net": { kind: "list", value: "HOST", help: "as in a session that may reach this host, or all (repeatable)" },
    "untrusted-content": { kind: "boolean", help: "as in a session that has taken in content that nobody vouches for" },
    "trust-project": { kind: "boolean", help: "as if the project of this folder were trusted" },
    cd: { kind: "string", short: "C", value: "DIR", help: "in this folder" },
    tool: { kind: "string", value: "NAME", help: "a call of this tool instead of a command" },
    path: { kind: "string", value: "PATH", help: "with --tool: the file of the call" },
    host: { kind: "string", value: "HOST:PORT", help: "with --tool: the host of the call" },
    method: { kind: "string", value: "METHOD", help: "with --host: GET where nothing is said" },
    mcp: { kind: "string", value: "SERVER/TOOL", help: "a call of this tool of an MCP server" },
    batch: {
      kind: "boolean",
      help: "judge commands from stdin, a JSON object a line, in a usual project, so that nothing depends on this machine",
    },
    json: { kind: "boolean", help: "as JSON" },
  },
  words: { min: 1, max: 2, named: "check, test, show or schema" },
  notes: [
    "Rules are in /etc/holdfast/policy.toml (the organisation's; HOLDFAST_POLICY names one more file), in *.toml of $HOLDFAST_HOME/policy (yours) and in .holdfast/policy.toml of a trusted project: docs/policy.md says how they are written.",
    'A line of --batch is {"id", "command", "mode"?, "rules"?}, and gives {"id", "decision", "rule", "reason"}. With "rules", a list of {"rule", "match"} or of whole rules, nothing is allowed but by them.',
    "test exits with 1 where an example fails, and with 2 where a file is wrong.",
  ],
  examples: [
    ["holdfast policy check 'npm test && git push'", "every command of the line, what is true of it, and which rule decides"],
    ["holdfast policy check --tool write_file --path .git/hooks/pre-commit", "the same for a file tool"],
    ["holdfast policy show --json", "the rules that hold here, each with its file and line"],
    ["holdfast policy schema > rules.schema.json", "for editors: #:schema ./rules.schema.json as the first line of a rule file"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb, word] = given.words;
  switch (verb) {
    case "check":
      if (given.has("batch")) {
        if (word !== undefined) throw usage(spec, "--batch takes its commands from stdin");
        return (await import("../policy/batch.ts")).runBatch(given, io);
      }
      return (await import("../policy/check.ts")).runCheck(spec, given, word, io);
    case "test":
    case "show":
      if (word !== undefined) throw usage(spec, `unexpected word ${JSON.stringify(word)}`, `holdfast policy ${verb}`);
      return verb === "test"
        ? (await import("../policy/test.ts")).runTest(given, io)
        : (await import("../policy/show.ts")).runShow(given, io);
    case "schema": {
      if (word !== undefined) throw usage(spec, `unexpected word ${JSON.stringify(word)}`, "holdfast policy schema");
      const { ruleFileSchema } = await import("@holdfast/policy/rules/schema");
      io.stdout.write(`${JSON.stringify(ruleFileSchema(), null, 2)}\n`);
      return 0;
    }
    default:
      throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "check, test, show or schema");
  }
}

export const command: Command = { ...spec, run };
