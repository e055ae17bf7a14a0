import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What the dojo says of one run: where the puppet and the world are, and what the user asks for. */
interface Run {
  readonly prompt: string;
  readonly home: string;
  /** The command line of the world, an MCP server. */
  readonly mcp: readonly [string, ...string[]];
}

/**
 * The dojo reads a default export. How it starts Holdfast: its built program with the world as an MCP server of the user's, nothing allowed beforehand,
 * and nobody there to be asked.
 */
// eslint-disable-next-line import/no-default-export -- the dojo's form
export default {
  command({ prompt, home, mcp: [command, ...args] }: Run) {
    const own = join(home, ".holdfast");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "config.toml"), `[mcp.dojo]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`);
    const program = process.env["DOJO_HOLDFAST"] ?? "holdfast";
    return {
      argv: [program, "exec", "--json", "--approvals", "deny", "--model", "openai/puppet", prompt],
      env: { HOLDFAST_HOME: own, PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` },
    };
  },
};
