import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { nearest } from "../cli/nearest.ts";
import { buildConfig, top } from "./build.ts";
import type { Config } from "./keys.ts";
import { key, named, table } from "./kinds.ts";
import type { Table } from "./kinds.ts";
import type { Merged } from "./layers.ts";
import { lay } from "./layers.ts";
import type { WrittenLimits } from "./limits.ts";
import { readMcpJson } from "./mcp-json.ts";
import { parseOverride } from "./override.ts";
import { judgeLimits, refusedSettings } from "./project-rules.ts";
import type { Problem, Setting, Source } from "./settings.ts";
import { dotted, readSettings } from "./settings.ts";
import { parseToml, readConfigText } from "./toml-file.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface ConfigRequest {
  readonly home: string;
  /** The project's folder; null where no project is concerned. */
  readonly project: string | null;
  readonly isTrusted: boolean;
  readonly env: Env;
  /** `-p NAME`. */
  readonly profile?: string | undefined;
  /** What `--config` was given, each `KEY=VALUE`. */
  readonly overrides?: readonly string[];
}

export interface LoadedConfig {
  readonly config: Config;
  /** Where each value comes from, by its dotted key; what isn't in it is built in. */
  readonly sources: ReadonlyMap<string, Source>;
  /** Worth knowing; none of it stops the run. */
  readonly problems: readonly Problem[];
}

export interface GatheredConfig {
  /** Null where a problem is an error. */
  readonly config: Config | null;
  readonly settings: readonly Setting[];
  readonly problems: readonly Problem[];
  /** Names of the profiles there are. */
  readonly profiles: readonly string[];
}

/** The top of a file: all keys, and profiles of them. */
export const fileTop: Table = table({
  ...top.keys,
  profiles: key(
    named(top, { pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", wanted: "letters, digits, - and _, at most 64" }),
    "sets of any of the other keys; -p NAME chooses one",
  ),
});

export function configPath(home: string): string {
  return join(home, "config.toml");
}

export function projectConfigPath(project: string): string {
  return join(project, ".holdfast", "config.toml");
}

/** With nothing set anywhere. */
export const defaultConfig: Config = buildConfig(new Map()).config;

/**
 * The config of a run: built-in, then the user's file, the trusted project's, the chosen profile, the environment, and
 * `--config`, each over the ones before. Throws `config_invalid` with file, line and what to do for the first error.
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const { config, settings, problems } = await gatherConfig(request);
  const errors = problems.filter((problem) => problem.severity === "error");
  const [first] = errors;
  if (first !== undefined || config === null) {
    const more = errors.length > 1 ? `${errors.length - 1} more: holdfast config check` : undefined;
    const hint = [first?.hint, more].filter((one) => one !== undefined).join("; ");
    const message = first === undefined ? "the config can't be used" : `${first.where === null ? "" : `${first.where}: `}${first.message}`;
    throw new HoldfastError("config_invalid", message, hint === "" ? {} : { hint });
  }
  return { config, problems, sources: new Map(settings.map((setting) => [dotted(setting.path), setting.source])) };
}

/** The same with all problems at once, errors too. */
export async function gatherConfig(request: ConfigRequest): Promise<GatheredConfig> {
  const problems: Problem[] = [];
  const userFile = configPath(request.home);
  const user = await readFile(userFile, "user", problems);
  const project = await readProject(request, problems);
  problems.push(...refusedSettings(project, userFile));
  const { flags, environment, profile } = await readRun(request, problems);

  let merged: Merged = new Map();
  const over = (settings: readonly Setting[]): void => {
    const layer = lay(merged, settings, top);
    merged = layer.merged;
    problems.push(...layer.problems);
  };
  const overTightly = async (settings: readonly Setting[]): Promise<void> => {
    const { problems: loose, replaced } = await judgeLimits(settings, limitsOf(merged));
    problems.push(...loose);
    const kept = new Map(merged);
    for (const name of replaced) kept.delete(JSON.stringify(["limits", name]));
    merged = kept;
    over(settings);
  };
  over(outsideProfiles(user));
  await overTightly(outsideProfiles(project));
  const profiles = [...new Set([...user, ...project, ...flags].flatMap(({ path }) => (path[0] === "profiles" ? (path[1] ?? []) : [])))];
  if (profile !== null) {
    if (!profiles.includes(profile.name)) problems.push(unknownProfile(profile, profiles));
    await overTightly(ofProfile(project, profile.name));
    over(ofProfile(user, profile.name));
    over(ofProfile(flags, profile.name));
  }
  over(environment);
  over(outsideProfiles(flags));
  const settings = [...merged.values()];
  if (problems.some(({ severity }) => severity === "error")) return { config: null, settings, problems, profiles };
  const built = buildConfig(merged);
  const config = built.problems.length > 0 ? null : built.config;
  return { config, settings, problems: [...problems, ...built.problems], profiles };
}

async function readFile(path: string, layer: "user" | "project", problems: Problem[], inside?: string): Promise<readonly Setting[]> {
  try {
    const text = await readConfigText(path, inside);
    if (text === null) return [];
    const { tree, lineOf } = await parseToml(text, path);
    const read = readSettings(tree, fileTop, (at) => ({ layer, name: path, line: lineOf(at), profile: null }));
    problems.push(...read.problems);
    return read.settings;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    problems.push({ severity: "error", where: null, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    return [];
  }
}

/** A file that belongs to no trusted project isn't opened. */
async function readProject({ home, project, isTrusted }: ConfigRequest, problems: Problem[]): Promise<readonly Setting[]> {
  if (project === null) return [];
  const path = projectConfigPath(project);
  const found = await stat(path).catch(() => null);
  // In the home folder, .holdfast is Holdfast's own, and its config the user's.
  if (found !== null && (await isSame(path, configPath(home)))) return [];
  if (isTrusted) {
    const own = await readFile(path, "project", problems, project);
    const names = new Set(own.flatMap(({ path: at }) => (at[0] === "mcp" && at[1] !== undefined ? [at[1]] : [])));
    return [...own, ...(await readMcpJson(project, names, fileTop, problems))];
  }
  if (found !== null) {
    problems.push({ severity: "note", where: path, message: "ignored: this project is not trusted", hint: "holdfast trust" });
  }
  return [];
}

async function isSame(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => null)));
  return a !== null && a === b;
}

interface ChosenProfile {
  readonly name: string;
  readonly by: string;
}

/** What holds for this run alone. */
async function readRun({ env, profile, overrides = [] }: ConfigRequest, problems: Problem[]) {
  const environment: Setting[] = [];
  const flags: Setting[] = [];
  const take = (into: Setting[], tree: unknown, source: Omit<Source, "line" | "profile">): void => {
    const read = readSettings(tree, fileTop, () => ({ ...source, line: null, profile: null }));
    into.push(...read.settings);
    problems.push(...read.problems);
  };
  for (const [path, variable] of variables) {
    const value = env[variable];
    if (!value) continue;
    const tree = path.toReversed().reduce<unknown>((inner, part) => ({ [part]: inner }), value);
    take(environment, tree, { layer: "environment", name: variable });
  }
  for (const override of overrides) {
    const { path, tree } = await parseOverride(override);
    take(flags, tree, { layer: "flag", name: `--config ${dotted(path)}` });
  }
  const fromEnv = env["HOLDFAST_PROFILE"];
  const chosen: ChosenProfile | null =
    profile !== undefined ? { name: profile, by: `--profile ${profile}` } : fromEnv ? { name: fromEnv, by: "HOLDFAST_PROFILE" } : null;
  return { environment, flags, profile: chosen };
}

/** Environment variables of keys, by the key's path. */
export const variables: readonly (readonly [path: readonly string[], variable: string])[] = Object.entries((top as Table).keys).flatMap(
  ([name, { node, env }]): (readonly [readonly string[], string])[] => [
    ...(env === undefined ? [] : [[[name], env] as const]),
    ...(node.is === "table"
      ? Object.entries(node.keys).flatMap(([inner, more]) => (more.env === undefined ? [] : [[[name, inner], more.env] as const]))
      : []),
  ],
);

function outsideProfiles(settings: readonly Setting[]): Setting[] {
  return settings.filter(({ path }) => path[0] !== "profiles");
}

function ofProfile(settings: readonly Setting[], name: string): Setting[] {
  return settings
    .filter(({ path }) => path[0] === "profiles" && path[1] === name && path.length > 2)
    .map((setting) => ({ ...setting, path: setting.path.slice(2), source: { ...setting.source, profile: name } }));
}

function unknownProfile({ name, by }: ChosenProfile, known: readonly string[]): Problem {
  const close = nearest(name, known);
  const hint =
    close !== null ? `did you mean ${close}?` : known.length === 0 ? "there are none: write [profiles.NAME]" : `known: ${known.join(", ")}`;
  return { severity: "error", where: by, message: `there is no profile ${JSON.stringify(name)}`, hint };
}

function limitsOf(merged: Merged): WrittenLimits {
  const only = [...merged].filter(([, { path }]) => path[0] === "limits");
  return buildConfig(new Map(only)).config.limits;
}
