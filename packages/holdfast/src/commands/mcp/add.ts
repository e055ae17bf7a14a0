import { homeFolder } from "../../config/home.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { addServers, readUserFile } from "../../mcp/user-file.ts";
import type { McpCall } from "./call.ts";

/** Adds a server to the user's config. */
export async function add({ given, io, words, wrong }: McpCall): Promise<number> {
  const [name, command, ...args] = words;
  const url = given.value("url");
  if (name === undefined) throw wrong("add takes a name", "holdfast mcp add NAME -- COMMAND, or --url URL");
  if ((command === undefined) === (url === undefined)) {
    throw wrong(
      `add ${JSON.stringify(name)} takes a program behind --, or --url`,
      "for instance holdfast mcp add memory -- npx -y @modelcontextprotocol/server-memory",
    );
  }
  if (url === undefined ? given.has("header") : given.has("env") || given.has("cwd")) {
    throw wrong(url === undefined ? "--header belongs to --url" : "--env and --cwd belong to a program");
  }
  const home = homeFolder(io.env, io.cwd);
  if (Object.hasOwn((await readUserFile(home)).servers, name))
    throw wrong(`there is a server ${name} already`, `holdfast mcp remove ${name}`);
  const pairs = (flag: "env" | "header"): Record<string, string> | undefined => {
    const entries = given.values(flag).map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw wrong(`--${flag} ${JSON.stringify(pair.slice(0, 40))} is not KEY=VALUE`);
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    });
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const cwd = given.value("cwd");
  const all = {
    ...(url === undefined
      ? { command, ...(args.length === 0 ? {} : { args }), env: pairs("env"), cwd }
      : { url, headers: pairs("header") }),
    ...(given.has("allow") ? { allow: given.values("allow") } : {}),
  };
  await addServers(home, [{ name, entry: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) }]);
  io.stderr.write(`added: ${sanitizeLine(name)}\ntry it with holdfast mcp test ${sanitizeLine(name)}\n`);
  return 0;
}
