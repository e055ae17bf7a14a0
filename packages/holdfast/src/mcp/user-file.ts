import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "@holdfast/protocol/error";
import { changeHome } from "../config/change.ts";
import { writeAtomically } from "../config/home.ts";
import { configPath, fileTop } from "../config/load.ts";
import { problemText, readSettings } from "../config/settings.ts";
import { parseToml, readConfigText } from "../config/toml-file.ts";
import type { WrittenEntry } from "./formats.ts";

type Tree = Readonly<Record<string, unknown>>;

/** The user's config as text and as a tree. */
export interface UserFile {
  readonly path: string;
  readonly text: string;
  readonly tree: Tree;
  readonly servers: Tree;
}

export async function readUserFile(home: string): Promise<UserFile> {
  const path = configPath(home);
  const text = (await readConfigText(path)) ?? "";
  const { tree } = await parseToml(text, path);
  return { path, text, tree, servers: serversIn(tree) };
}

type NamedEntry = { readonly name: string; readonly entry: WrittenEntry };

/**
 * Writes servers behind what is there; nothing else of the file changes. Throws `config_invalid` for an entry that is wrong,
 * and `usage` for a name that is there already.
 */
export function addServers(home: string, entries: readonly NamedEntry[]): Promise<void> {
  return changeHome(home, () => add(home, entries));
}

async function add(home: string, entries: readonly NamedEntry[]): Promise<void> {
  const file = await readUserFile(home);
  const known = entries.find(({ name }) => Object.hasOwn(file.servers, name));
  if (known !== undefined) throw new HoldfastError("usage", `there is a server ${known.name} already`);
  for (const { name, entry } of entries) checkEntry(name, entry);
  const { stringify } = await import("smol-toml");
  const blocks = entries.map(({ name, entry }) =>
    stringify({ mcp: { [name]: entry } })
      .replace(/^\[mcp\]\n+/, "")
      .trimEnd(),
  );
  const gap = file.text === "" || file.text.endsWith("\n") ? "" : "\n";
  const text = `${file.text}${gap}${file.text.trim() === "" ? "" : "\n"}${blocks.join("\n\n")}\n`;
  await write(file, text, { ...file.servers, ...Object.fromEntries(entries.map(({ name, entry }) => [name, entry])) });
}

/** Takes a server's tables out. Throws `config_invalid` where it is written in a way that only a person should undo. */
export function removeServer(home: string, name: string): Promise<void> {
  return changeHome(home, () => remove(home, name));
}

async function remove(home: string, name: string): Promise<void> {
  const file = await readUserFile(home);
  const { [name]: _, ...rest } = file.servers;
  const kept: string[] = [];
  let isIn = false;
  for (const line of file.text.split("\n")) {
    const header = /^\s*\[\[?\s*(.+?)\s*\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
    if (header !== undefined) isIn = isOf(header, name);
    if (!isIn) kept.push(line);
  }
  await write(file, kept.join("\n").replaceAll(/\n{3,}/g, "\n\n"), rest);
}

/** Whether a table's header is `mcp.NAME`, or of something in it. */
function isOf(header: string, name: string): boolean {
  const parts = (header.match(/"[^"]*"|'[^']*'|[^.\s]+/g) ?? []).map((part) => part.replace(/^["']|["']$/g, ""));
  return parts[0] === "mcp" && parts[1] === name;
}

/** What was written is read again before it takes the file's place: it must say what was meant, and nothing else new. */
async function write(file: UserFile, text: string, servers: Tree): Promise<void> {
  const { mcp: _, ...others } = file.tree;
  const wanted = Object.keys(servers).length === 0 ? others : { ...others, mcp: servers };
  const byHand = new HoldfastError("config_invalid", `${file.path} can't be changed safely`, { hint: "edit it by hand" });
  let found: Tree;
  try {
    ({ tree: found } = await parseToml(text, file.path));
  } catch {
    throw byHand;
  }
  const { mcp, ...rest } = found;
  const same = isDeepStrictEqual(plain({ ...rest, ...(Object.keys(serversIn(found)).length === 0 ? {} : { mcp }) }), plain(wanted));
  if (!same) throw byHand;
  await writeAtomically(file.path, text, 0o600);
}

function checkEntry(name: string, entry: WrittenEntry): void {
  const source = { layer: "user", name: `[mcp.${name}]`, line: null, profile: null } as const;
  const { problems } = readSettings({ mcp: { [name]: entry } }, fileTop, () => source);
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong !== undefined) throw new HoldfastError("config_invalid", problemText(wrong));
}

function serversIn(tree: Tree): Tree {
  const { mcp } = tree;
  return typeof mcp === "object" && mcp !== null ? (mcp as Tree) : {};
}

/** The parser's tables have no prototype. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
