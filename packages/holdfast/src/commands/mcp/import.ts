import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { readBoundedFile } from "../../cli/bounded.ts";
import { homeFolder } from "../../config/home.ts";
import { findWorkspace } from "../../config/workspace.ts";
import { readForeign } from "../../mcp/formats.ts";
import { addServers, readUserFile } from "../../mcp/user-file.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import type { McpCall } from "./call.ts";

const ownFiles = { claude: ".claude.json", codex: ".codex/config.toml" } as const;

/** Takes over the servers of another program's file into the user's config. Names that are there already stay as they are. */
export async function importServers({ given, io, words, wrong }: McpCall): Promise<number> {
  const from = given.value("from") as keyof typeof ownFiles | undefined;
  if (words.length + (from === undefined ? 0 : 1) !== 1) throw wrong("import takes a file, or --from claude or --from codex");
  const path = from === undefined ? resolve(io.cwd, words[0] ?? "") : join(io.env["HOME"] || homedir(), ownFiles[from]);
  const { root } = await findWorkspace(".", io.cwd, io.env);
  const { servers, skipped } = readForeign(await readTree(path), root);
  const home = homeFolder(io.env, io.cwd);
  const known = new Set(Object.keys((await readUserFile(home)).servers));
  const fresh = servers.filter(({ name }) => !known.has(name));
  if (fresh.length > 0) await addServers(home, fresh);
  for (const { name } of fresh) io.stderr.write(`imported: ${sanitizeLine(name)}\n`);
  for (const { name } of servers)
    if (known.has(name)) io.stderr.write(`not imported: ${sanitizeLine(name)}: you have a server of this name\n`);
  for (const { name, why } of skipped) io.stderr.write(`not imported: ${sanitizeLine(name)}: ${sanitizeLine(why)}\n`);
  if (servers.length + skipped.length === 0) io.stderr.write(`${sanitizeLine(path)} names no MCP servers\n`);
  return 0;
}

/** Programs keep much beside their servers in such a file. */
const largestFile = 64 * 1024 * 1024;

/** Throws `usage`. The text is never repeated: it may hold keys. */
async function readTree(path: string): Promise<unknown> {
  let bytes: Buffer | null;
  try {
    bytes = await readBoundedFile(path, largestFile);
  } catch (error) {
    throw new HoldfastError("usage", `can't read ${path}`, { hint: "name a file of MCP servers, such as .mcp.json", cause: error });
  }
  if (bytes === null) throw new HoldfastError("usage", `${path} has more than ${largestFile / 1024 / 1024} MB`);
  const text = bytes.toString("utf8");
  try {
    return path.endsWith(".toml") ? (await import("smol-toml")).parse(text) : (JSON.parse(text.replace(/^\uFEFF/, "")) as unknown);
  } catch {
    throw new HoldfastError("usage", `${path} is not valid ${path.endsWith(".toml") ? "TOML" : "JSON"}`);
  }
}
