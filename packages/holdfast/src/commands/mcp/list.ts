import type { ConfiguredServer } from "@holdfast/mcp/config";
import { redact } from "@holdfast/runtime/redact";
import { showUrls } from "@holdfast/runtime/show-url";
import { pad } from "../../render/layout.ts";
import { jsonLine } from "../../render/json-events.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import type { McpCall } from "./call.ts";
import { serversHere } from "./call.ts";

/** What is configured here. Nothing is started; values of variables and headers are never shown. */
export async function list({ given, io, words, wrong }: McpCall): Promise<number> {
  if (words.length > 0) throw wrong(`unexpected word ${JSON.stringify(words[0])}`);
  const { usable, unaccepted } = await serversHere(io);
  if (given.has("json")) {
    for (const server of usable) io.stdout.write(jsonLine(describe(server)));
    for (const { name, hash } of unaccepted)
      io.stdout.write(jsonLine({ type: "mcp_server", name: name.slice("mcp.".length), state: "not_accepted", hash }));
    return 0;
  }
  const rows = usable.map((server) => [sanitizeLine(server.config.name), whereOf(server), targetOf(server)] as const);
  const width = (column: 0 | 1): number => Math.max(0, ...rows.map((row) => row[column].length)) + 2;
  for (const [name, where, target] of rows) io.stdout.write(`${pad(name, width(0))}${pad(where, width(1))}${sanitizeLine(target)}\n`);
  for (const { name } of unaccepted) {
    io.stdout.write(`${sanitizeLine(name.slice("mcp.".length))}  the project's, not accepted: holdfast trust shows it\n`);
  }
  if (usable.length + unaccepted.length === 0) io.stderr.write("no MCP servers: holdfast mcp add, or holdfast mcp import\n");
  return 0;
}

function whereOf({ config, isConfined }: ConfiguredServer): string {
  const whose = isConfined ? "the project's" : "yours";
  return config.isEnabled ? whose : `${whose}, disabled`;
}

function targetOf({ config: { target } }: ConfiguredServer): string {
  return target.type === "http" ? showUrls(target.url) : [target.command, ...target.args].map(shownWord).join(" ");
}

/** Keys among a program's arguments go as well, where they are known as such. */
function shownWord(word: string): string {
  return redact(showUrls(word), []);
}

function describe(server: ConfiguredServer) {
  const { name, target, isEnabled, allow } = server.config;
  const reached =
    target.type === "http"
      ? { url: showUrls(target.url), headers: Object.keys(target.headers) }
      : { command: target.command, args: target.args.map(shownWord), env: Object.keys(target.env) };
  return {
    type: "mcp_server",
    name,
    state: isEnabled ? "enabled" : "disabled",
    origin: server.isConfined ? "project" : "user",
    ...reached,
    allow,
  };
}
