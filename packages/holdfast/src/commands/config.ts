import { stat } from "node:fs/promises";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { homeFolder } from "../config/home.ts";
import type { ConfigRequest } from "../config/load.ts";
import { top } from "../config/build.ts";
import { configPath, gatherConfig, projectConfigPath } from "../config/load.ts";
import type { Problem } from "../config/settings.ts";
import { problemText, whereOf } from "../config/settings.ts";
import type { ShownSetting } from "../config/show.ts";
import { shownSettings } from "../config/show.ts";
import { isTrusted } from "../config/trust-store.ts";
import { unusable } from "../config/unusable.ts";
import { findWorkspace } from "../config/workspace.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import { configFlags } from "../session/flags.ts";

const spec: CommandSpec = {
  name: "config",
  summary: "Shows what the config is and where each value comes from; finds mistakes in it.",
  usage: ["holdfast config show [KEY] [--json]", "holdfast config check", "holdfast config path", "holdfast config schema"],
  flags: {
    ...configFlags,
    cd: { kind: "string", short: "C", value: "DIR", help: "for the project around this folder" },
    json: { kind: "boolean", help: "with show: one JSON object a line" },
  },
  words: { min: 0, max: 2, named: "show, check, path or schema" },
  notes: [
    "Layers, each over the ones before: built-in, $HOLDFAST_HOME/config.toml, .holdfast/config.toml of a trusted project, the profile, the environment, --config, other flags. docs/config.md names every key.",
    "Keys and headers are hidden. check exits with 2 where something is wrong.",
  ],
  examples: [
    ["holdfast config show limits", "the limits that hold here, and who set each"],
    ["holdfast config show -p careful --config limits.max_steps=20", "what a run with these flags would have"],
    ["holdfast config schema > ~/.holdfast/config.schema.json", "for editors: #:schema ./config.schema.json as the first line of a config"],
  ],
};

const usageStatus = 2;

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb = "show", prefix, ...more] = given.words;
  if (prefix !== undefined && (verb !== "show" || more.length > 0)) throw usage(spec, `unexpected word ${JSON.stringify(prefix)}`);
  if (verb === "schema") {
    const { configSchema } = await import("../config/schema.ts");
    io.stdout.write(`${JSON.stringify(configSchema(), null, 2)}\n`);
    return 0;
  }
  const home = homeFolder(io.env, io.cwd);
  const { root } = await findWorkspace(given.value("cd") ?? ".", io.cwd, io.env);
  const trusted = await isTrusted(home, root);
  const request: ConfigRequest = {
    home,
    project: root,
    isTrusted: trusted,
    env: io.env,
    profile: given.value("profile"),
    overrides: given.values("config"),
  };
  switch (verb) {
    case "show":
      return show(request, prefix, given.has("json"), io);
    case "check":
      return check(request, io);
    case "path":
      await tellPath(configPath(home), "yours", io);
      await tellPath(projectConfigPath(root), trusted ? "the project's" : "the project's, not trusted: ignored", io);
      return 0;
    default:
      throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "show, check, path or schema");
  }
}

async function show(request: ConfigRequest, prefix: string | undefined, isJson: boolean, io: Io): Promise<number> {
  const { config, settings, problems } = await gatherConfig(request);
  const all = await shownSettings(settings, config);
  const wanted = prefix === undefined ? [] : [prefix, ...shortFor(prefix)];
  const isWanted = (key: string): boolean => wanted.some((name) => key === name || key.startsWith(`${name}.`));
  const shown = prefix === undefined ? all : all.filter(({ key }) => isWanted(key));
  tellProblems(problems, io);
  if (shown.length === 0 && prefix !== undefined)
    throw usage(spec, `nothing is set at ${JSON.stringify(prefix)}`, "holdfast config show names all keys that are");
  io.stdout.write(shown.map((setting) => `${isJson ? jsonOf(setting) : lineOf(setting)}\n`).join(""));
  return config === null ? usageStatus : 0;
}

/** What a short name stands for: `model` for `models.main`. */
function shortFor(name: string): string[] {
  const node = Object.entries(top.keys).find(([key]) => key === name)?.[1].node;
  return node?.is === "either" ? [node.shortFor.join(".")] : [];
}

function lineOf({ key, value, source }: ShownSetting): string {
  const from = source === null ? "built-in" : whereOf(source);
  const profile = source?.profile ? ` (profile ${source.profile})` : "";
  return sanitizeLine(`${key} = ${value === null ? "…" : JSON.stringify(value)}  # ${from}${profile}`);
}

function jsonOf({ key, value, source }: ShownSetting): string {
  const { layer, name, line, profile } = source ?? { layer: "built-in", name: null, line: null, profile: null };
  return JSON.stringify({ type: "setting", key, ...(value === null ? { hidden: true } : { value }), layer, from: name, line, profile });
}

/** Of the config as it is chosen, and where no profile is chosen of each profile too. */
async function check(request: ConfigRequest, io: Io): Promise<number> {
  const chosen = await gatherConfig(request);
  const others = request.profile === undefined ? chosen.profiles : [];
  const all = [chosen, ...(await Promise.all(others.map((profile) => gatherConfig({ ...request, profile }))))];
  const problems = all.flatMap((one) => [
    ...one.problems,
    ...(one.config === null ? [] : unusable(one.config, one.settings, io.env, io.cwd)),
  ]);
  tellProblems([...new Map(problems.map((problem) => [problemText(problem), problem])).values()], io);
  if (problems.some(({ severity }) => severity === "error")) return usageStatus;
  const count = chosen.settings.filter(({ kind }) => kind === "value").length;
  io.stderr.write(`the config is good: ${count === 1 ? "1 value is" : `${count} values are`} set\n`);
  return 0;
}

function tellProblems(problems: readonly Problem[], io: Io): void {
  for (const problem of problems) io.stderr.write(`${problem.severity}: ${sanitize(problemText(problem))}\n`);
}

async function tellPath(path: string, whose: string, io: Io): Promise<void> {
  const found = await stat(path).catch(() => null);
  io.stdout.write(`${sanitizeLine(path)}  # ${whose}${found === null ? ", not there" : ""}\n`);
}

export const command: Command = { ...spec, run };
