import type { McpServer, ServerState } from "@holdfast/mcp";
import { usesColour } from "../../cli/io.ts";
import { fit } from "../../render/layout.ts";
import { jsonLine } from "../../render/json-events.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { createStyle, type Style } from "../../render/style.ts";
import { networkOf } from "../../session/flags.ts";
import type { McpCall } from "./call.ts";
import type { UsableServer } from "../../mcp/servers.ts";
import { serversHere } from "./call.ts";

type Ready = Extract<ServerState, { type: "ready" }>;

/** Starts servers, shows what each offers and what is wrong with it, and ends them. Exit status 1 where one doesn't run. */
export async function test({ given, io, words, wrong }: McpCall): Promise<number> {
  const { usable, unaccepted, setup, workspace } = await serversHere(io);
  const named = (name: string): UsableServer => {
    const found = usable.find(({ config }) => config.name === name);
    if (found !== undefined) return found;
    const isProjects = unaccepted.some((one) => one.name === `mcp.${name}`);
    throw isProjects
      ? wrong(`${name} is the project's and not accepted`, "holdfast trust shows it")
      : wrong(`there is no server ${JSON.stringify(name)}`, "holdfast mcp list");
  };
  const chosen = words.length > 0 ? words.map(named) : usable.filter(({ config }) => config.isEnabled);
  if (chosen.length === 0) {
    io.stderr.write("no MCP servers: holdfast mcp add, or holdfast mcp import\n");
    return 0;
  }
  const { openServers } = await import("../../host/mcp.ts");
  const place = {
    userHome: setup.env["HOME"] ?? "",
    cwd: workspace.cwd,
    roots: [workspace.root],
    isTrusted: setup.request.isTrusted,
    network: networkOf(setup.config.sandbox.allowNet),
  };
  const tried = chosen.map((server) => ({ ...server, config: { ...server.config, isEnabled: true } }));
  const source = await openServers(tried, setup, place);
  const quit = new AbortController();
  const stop = io.onStop(() => quit.abort());
  try {
    source.start();
    await source.settled(Number.POSITIVE_INFINITY, quit.signal);
    const style = createStyle(usesColour(io.stdout, io.env));
    for (const server of source.servers) {
      const lines = given.has("json") ? [jsonLine(describe(server)).trimEnd()] : show(server, style, io.stdout.columns);
      io.stdout.write(`${lines.join("\n")}\n`);
    }
    return source.servers.every((server) => server.state().type === "ready") ? 0 : 1;
  } finally {
    stop();
    await source.close();
  }
}

function show(server: McpServer, style: Style, width: number): string[] {
  const state = server.state();
  const { name } = server.config;
  if (state.type !== "ready") return [`${sanitizeLine(name)}  ${style.bad(sanitizeLine(whyNot(state)))}`];
  const count = `${state.tools.length} ${state.tools.length === 1 ? "tool" : "tools"}`;
  return [
    `${sanitizeLine(name)}  ${style.good(`${count}, MCP ${sanitizeLine(state.revision)}`)}`,
    ...state.tools.flatMap((tool) => [
      fit(`  ${sanitizeLine(tool.name)}  ${sanitizeLine(tool.description.split("\n")[0] ?? "")}`, width),
      ...tool.notes.map((note) => `    ${style.care(sanitizeLine(note))}`),
    ]),
    ...state.dropped.map(({ tool, reason }) => `  ${style.bad(sanitizeLine(`${JSON.stringify(tool)} is not used: ${reason}`))}`),
  ];
}

function whyNot(state: Exclude<ServerState, Ready>): string {
  return state.type === "failed" ? state.reason : state.type === "starting" ? "it did not start in time" : state.type;
}

function describe(server: McpServer) {
  const state = server.state();
  const about = { type: "mcp_server", name: server.config.name, state: state.type };
  if (state.type !== "ready") return { ...about, reason: whyNot(state) };
  const tools = state.tools.map(({ name, tool, description, notes }) => ({ name, tool, description, notes }));
  return { ...about, revision: state.revision, tools, dropped: state.dropped };
}
