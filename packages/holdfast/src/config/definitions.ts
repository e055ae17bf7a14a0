import { dirname, join } from "node:path";
import type { Json } from "@holdfast/protocol";
import type { DefinitionKind } from "./accept-store.ts";
import { definitionHash } from "./accept-store.ts";
import type { Config, HookConfig, McpServerConfig } from "./keys.ts";
import { namedFiles } from "./named-files.ts";

/** Something of a project's config that runs only after a person accepted it. */
export interface Definition {
  readonly kind: DefinitionKind;
  /** As it stands in the file: `mcp.docs`, `hooks.before_tool`. */
  readonly name: string;
  /** What is hashed, and shown to the person: all that decides what would run. */
  readonly definition: Json;
  readonly hash: string;
}

/**
 * An MCP server's definition: what runs, with the project's files that it names, and which of its tools there are. How long
 * it may take changes nothing of that.
 */
export async function mcpDefinition(name: string, server: McpServerConfig, root: string): Promise<Definition> {
  const { command, args, env, cwd, url, headers, tools, disabledTools } = server;
  const files = await filesOf(root, wordsOf(server));
  return define("mcp", `mcp.${name}`, { name, command, args, env, cwd, url, headers, tools, disabledTools, files });
}

export async function hookDefinition(event: string, { command, matcher }: HookConfig, root: string): Promise<Definition> {
  const snake = snakeOf(event);
  return define("hook", `hooks.${snake}`, { event: snake, command, matcher, files: await filesOf(root, [command]) });
}

/** An event's name as it stands in the file. */
export function snakeOf(event: string): string {
  return event.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What is relative to the folder that it runs in comes as it would be below the project's, too. */
function wordsOf({ command, args = [], cwd }: McpServerConfig): string[] {
  const words = command === undefined ? [] : [command, ...args];
  return cwd === undefined ? words : [...words, ...words.map((word) => `${cwd}/${word}`)];
}

async function filesOf(root: string, texts: readonly string[]): Promise<Readonly<Record<string, string>> | undefined> {
  const files = await namedFiles(root, texts);
  return files.length === 0 ? undefined : Object.fromEntries(files.map(({ path, content }) => [path, content]));
}

/**
 * Real paths of the programs of a project that anybody's hook or MCP server names: what they hold runs, the user's outside the
 * sandbox. Where a link leads to one, its folder, too: a link itself can be replaced, whatever it leads to.
 */
export async function programsOf({ hooks, mcp }: Config, root: string): Promise<string[]> {
  const lines = Object.values(hooks).flatMap((list) => (list ?? []).map(({ command }) => command));
  const files = await namedFiles(root, [...lines, ...Object.values(mcp).flatMap(wordsOf)]);
  const paths = files
    .filter(({ isProgram }) => isProgram)
    .flatMap(({ path, real }) => {
      const folder = dirname(join(root, path));
      return join(root, path) === real || folder === root ? [real] : [real, folder];
    });
  return [...new Set(paths)];
}

function define(kind: DefinitionKind, name: string, what: Readonly<Record<string, unknown>>): Definition {
  // Plain data that came out of TOML; fields that are not set are left out.
  const definition = JSON.parse(JSON.stringify(what)) as Json;
  return { kind, name, definition, hash: definitionHash(kind, definition) };
}

/** All that the project's own file defines, in the order of the file. `root` is the project's folder. */
export async function projectDefinitions(config: Config, root: string): Promise<Definition[]> {
  const servers = Object.entries(config.mcp).filter(([, server]) => server.origin === "project");
  const hooks = Object.entries(config.hooks).flatMap(([event, list = []]) =>
    list.filter((hook) => hook.origin === "project").map((hook) => [event, hook] as const),
  );
  return Promise.all([
    ...servers.map(([name, server]) => mcpDefinition(name, server, root)),
    ...hooks.map(([event, hook]) => hookDefinition(event, hook, root)),
  ]);
}
