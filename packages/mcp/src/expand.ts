import { HoldfastError } from "@holdfast/protocol/error";
import type { McpServerConfig, McpTarget } from "./config.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Names of the environment variables that a server is given by its config. */
export function variablesOf({ target }: McpServerConfig): string[] {
  const texts =
    target.type === "stdio"
      ? [target.command, ...target.args, ...Object.values(target.env), target.cwd ?? ""]
      : [target.url, ...Object.values(target.headers)];
  return [...new Set(texts.flatMap((text) => [...text.matchAll(variable)].map((found) => found[1]!)))];
}

/** Puts in the values of environment variables. Throws `config_invalid` for one that isn't set and has no default. */
export function expandTarget({ name, target }: McpServerConfig, environment: Environment): McpTarget {
  const expand = (text: string): string =>
    text.replaceAll(variable, (_, key: string, otherwise: string | undefined) => {
      const value = environment[key] ?? otherwise;
      if (value !== undefined) return value;
      throw new HoldfastError("config_invalid", `the MCP server ${name} needs the environment variable ${key}, which is not set`, {
        hint: `set ${key}, or write \${${key}:-DEFAULT}`,
      });
    });
  const all = (table: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(table).map(([key, value]) => [key, expand(value)]));
  if (target.type === "http") return { type: "http", url: expand(target.url), headers: all(target.headers) };
  const { command, args, env, cwd } = target;
  return {
    type: "stdio",
    command: expand(command),
    args: args.map(expand),
    env: all(env),
    ...(cwd === undefined ? {} : { cwd: expand(cwd) }),
  };
}

/** Variables and headers that hold no key: their values are ordinary words and paths, which texts and commands need. */
const ordinaryVariables = /^(?:HOME|USER|LOGNAME|PATH|PWD|OLDPWD|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|HOSTNAME|XDG_\w+)$/;
const ordinaryHeaders = /^(?:accept(?:-.*)?|content-(?:type|language|encoding)|user-agent|referer|origin|mcp-.*)$/i;

/** The values that must not show in logs and results: of variables put in, and of every header that may hold a key. */
export function secretsOf(config: McpServerConfig, environment: Environment): string[] {
  const named = variablesOf(config).flatMap((name) => (ordinaryVariables.test(name) ? [] : [environment[name] ?? ""]));
  let headers: string[] = [];
  try {
    const target = expandTarget(config, environment);
    if (target.type === "http") {
      const keys = Object.entries(target.headers).filter(([name]) => !ordinaryHeaders.test(name));
      headers = keys.flatMap(([, value]) => [value, value.replace(/^\w+ /, "")]);
    }
  } catch {
    // A variable is missing: there is nothing of it to hide.
  }
  return [...new Set([...named, ...headers])].filter((value) => value.length >= shortestSecret);
}

/** Shorter values would hide ordinary words. */
const shortestSecret = 8;
