import { homeFolder } from "../../config/home.ts";
import { readUserFile, removeServer } from "../../mcp/user-file.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import type { McpCall } from "./call.ts";

/** Removes servers from the user's config. */
export async function remove({ io, words, wrong }: McpCall): Promise<number> {
  if (words.length === 0) throw wrong("remove takes the name of a server");
  const home = homeFolder(io.env, io.cwd);
  const { servers, path } = await readUserFile(home);
  const unknown = words.find((name) => !Object.hasOwn(servers, name));
  if (unknown !== undefined) {
    const names = Object.keys(servers);
    throw wrong(`${path} has no server ${JSON.stringify(unknown)}`, names.length === 0 ? "it has none" : `it has ${names.join(", ")}`);
  }
  for (const name of words) {
    await removeServer(home, name);
    io.stderr.write(`removed: ${sanitizeLine(name)}\n`);
  }
  return 0;
}
