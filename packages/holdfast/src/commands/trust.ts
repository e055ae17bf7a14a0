import { lstat, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { accept, forgetAccepted, isAccepted } from "../config/accept-store.ts";
import type { Definition } from "../config/definitions.ts";
import { projectDefinitions } from "../config/definitions.ts";
import { homeFolder } from "../config/home.ts";
import { loadConfig, projectConfigPath } from "../config/load.ts";
import { mcpJsonNotes, mcpJsonPath } from "../config/mcp-json.ts";
import { distrust, isTrusted, readTrust, trust } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { projectPolicyPath } from "../policy/load.ts";
import { wrap } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";

const spec: CommandSpec = {
  name: "trust",
  summary:
    "Trusts a project: its AGENTS.md (or CLAUDE.md) is obeyed, and its config counts, as far as a project's may. What it would run, each hook and MCP server, runs only after you accepted it.",
  usage: [
    "holdfast trust [PATH]",
    "holdfast trust --accept HASH [PATH]",
    "holdfast trust --all [PATH]",
    "holdfast trust --remove [PATH]",
    "holdfast trust --list",
  ],
  flags: {
    profile: { kind: "string", short: "p", value: "NAME", help: "show and accept what this profile of the project would run" },
    accept: { kind: "list", value: "HASH", help: "let the hook or MCP server of this hash run (repeatable)" },
    all: { kind: "boolean", help: "let every hook and MCP server of the project run, as they are now" },
    list: { kind: "boolean", help: "name the trusted projects" },
    remove: { kind: "boolean", help: "trust the project no longer" },
  },
  words: { min: 0, max: 1, named: "project folder" },
  notes: [
    "Without a PATH: the project around this folder. Trust is kept in $HOLDFAST_HOME/trust.json, never in the project; it counts for exactly this project, not for projects inside it, and for sessions started from now on; --remove ends it for those that go on, too.",
    "A hook or MCP server is accepted exactly as it is shown, by the hash of its definition; changed, it has to be accepted again. They run in the sandbox.",
  ],
  examples: [
    ["holdfast trust", "the project around this folder"],
    ["holdfast trust --accept 3f2a9c1b", "one of the hooks and MCP servers that it showed"],
    ["holdfast trust --remove ~/code/site", "no longer"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const home = homeFolder(io.env, io.cwd);
  const accepts = given.has("accept") || given.has("all");
  if (given.has("remove") && accepts) throw usage(spec, "--remove goes without --accept and --all");
  if (given.has("list")) {
    if (given.words.length > 0 || given.has("remove") || accepts) throw usage(spec, "--list goes alone");
    const trusted = Object.entries(await readTrust(home)).toSorted();
    if (trusted.length === 0) io.stderr.write("no project is trusted\n");
    for (const [path, at] of trusted) io.stdout.write(`${sanitizeLine(path)}  since ${sanitizeLine(at.slice(0, 10))}\n`);
    return 0;
  }
  const [path] = given.words;
  if (given.has("remove")) {
    const folder = path ?? (await findWorkspace(".", io.cwd, io.env)).root;
    const was = await distrust(home, resolve(io.cwd, folder), new Date());
    await forgetAccepted(home, resolve(io.cwd, folder));
    io.stderr.write(was ? `no longer trusted: ${sanitizeLine(folder)}\n` : `was not trusted: ${sanitizeLine(folder)}\n`);
    return 0;
  }
  const folder = path === undefined ? (await findWorkspace(".", io.cwd, io.env)).root : (await findWorkspace(path, io.cwd, io.env)).cwd;
  if (accepts) return acceptSome(given, io, home, folder);
  const real = await trust(home, folder, new Date());
  io.stderr.write(`trusted: ${sanitizeLine(real)}\n`);
  await tellInstructions(given, real, io, home);
  if (await stat(join(real, ".holdfast/prompts")).catch(() => null)) {
    io.stderr.write("  can be used from now on: the prompts in .holdfast/prompts (holdfast prompts)\n");
  }
  if (await stat(join(real, ".agents/skills")).catch(() => null)) {
    io.stderr.write("  can be loaded from now on, by the model too: the skills in .agents/skills (holdfast skills)\n");
  }
  if (await stat(projectPolicyPath(real)).catch(() => null)) {
    io.stderr.write("  used from now on: .holdfast/policy.toml (its rules can only be stricter: holdfast policy show)\n");
  }
  const used = [projectConfigPath(real), mcpJsonPath(real)];
  const there = await Promise.all(used.map((file) => stat(file).catch(() => null)));
  for (const [index, name] of [".holdfast/config.toml", ".mcp.json"].entries()) {
    if (there[index]) io.stderr.write(`  used from now on: ${name}\n`);
  }
  if (there.every((file) => file === null)) return 0;
  try {
    await tellChecks(given, real, io, home);
    await showDefinitions(await definitionsOf(given, io, home, real), io, home, real);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    io.stderr.write(`  but it is wrong: ${sanitizeLine(error.message)}\n`);
  }
  return 0;
}

/** What is obeyed is what a session would read, by the same rules. */
async function tellInstructions(given: Arguments, project: string, io: Io, home: string): Promise<void> {
  const { projectInstructions, usualInstructions } = await import("@holdfast/node/observer/instructions");
  const asked = { home, project, isTrusted: true, env: io.env, profile: given.value("profile") };
  // A config with mistakes is told of below.
  const rules = await loadConfig(asked).then(
    ({ config }) => config.instructions,
    () => usualInstructions,
  );
  const sections = projectInstructions(project, project, true, rules);
  let first: string | null = null;
  for (const name of rules.files) {
    if ((await lstat(join(project, name)).catch(() => null)) === null) continue;
    const section = sections.find(({ id }) => id === `instructions:${name}`);
    const why =
      first === null ? (section === undefined ? "it is empty" : section.text.replace(/^.* was not read: |\.$/g, "")) : `${first} is there`;
    const isObeyed = first === null && section?.trust === "project";
    io.stderr.write(
      isObeyed ? `  obeyed from now on: ${sanitizeLine(name)}\n` : `  not obeyed: ${sanitizeLine(name)} (${sanitizeLine(why)})\n`,
    );
    first ??= name;
  }
}

/** Commands that a turn ends with, without a question, as they are the project's. */
async function tellChecks(given: Arguments, project: string, io: Io, home: string): Promise<void> {
  const asked = { home, project, env: io.env, profile: given.value("profile") };
  const linesOf = async (isTrusted: boolean): Promise<string[]> => {
    const { commands, named } = (await loadConfig({ ...asked, isTrusted })).config.checks;
    return [...(commands ?? []), ...Object.values(named).flatMap(({ command }) => command ?? [])];
  };
  const own = new Set(await linesOf(false));
  for (const line of new Set(await linesOf(true))) {
    if (!own.has(line)) io.stderr.write(`  runs as a check from now on, without a question: ${sanitizeLine(plainJson(line))}\n`);
  }
}

/** What the project would run. What its `.mcp.json` names and would never run is told. */
async function definitionsOf(given: Arguments, io: Io, home: string, project: string): Promise<Definition[]> {
  const { config, problems } = await loadConfig({ home, project, isTrusted: true, env: io.env, profile: given.value("profile") });
  for (const note of mcpJsonNotes(problems, project)) io.stderr.write(`  ${sanitizeLine(note)}\n`);
  return projectDefinitions(config, project);
}

/** Each with all that would run, as the person has to judge it. */
async function showDefinitions(definitions: readonly Definition[], io: Io, home: string, root: string): Promise<void> {
  if (definitions.length === 0) return;
  const width = Math.max(40, io.stderr.columns) - 4;
  const lines: string[] = [];
  let open = 0;
  for (const { kind, name, definition, hash } of definitions) {
    const isKnown = await isAccepted(home, kind, root, definition);
    if (!isKnown) open += 1;
    lines.push(`  ${hash.slice(0, shownHash)}  ${sanitizeLine(name)}  ${isKnown ? "accepted" : "not accepted: it doesn't run"}`);
    lines.push(...wrap(sanitizeLine(plainJson(definition)), width).map((line) => `    ${line}`));
  }
  if (open > 0) lines.push("accept one with holdfast trust --accept HASH, or all as they are shown here with holdfast trust --all");
  io.stderr.write(`${lines.join("\n")}\n`);
}

/** JSON in which every control character shows as an escape: nothing that would run is hidden from who judges it. */
function plainJson(value: Definition["definition"]): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Digits of a hash that are shown; at least so many have to be typed. */
const shownHash = 16;
const typedHash = 8;

async function acceptSome(given: Arguments, io: Io, home: string, folder: string): Promise<number> {
  if (!(await isTrusted(home, folder))) throw usage(spec, `${folder} is not trusted yet`, "read what it holds, then holdfast trust");
  const definitions = await definitionsOf(given, io, home, folder);
  const chosen = given.has("all") ? definitions : given.values("accept").map((hash) => definitionOf(hash, definitions));
  for (const { kind, definition } of chosen) await accept(home, kind, folder, definition, new Date());
  if (chosen.length === 0) io.stderr.write("it defines no hooks and no MCP servers\n");
  await showDefinitions(chosen, io, home, folder);
  return 0;
}

function definitionOf(hash: string, definitions: readonly Definition[]): Definition {
  const found = hash.length < typedHash ? [] : definitions.filter((one) => one.hash.startsWith(hash.toLowerCase()));
  const [first] = found;
  if (first !== undefined && found.every((one) => one.hash === first.hash)) return first;
  throw usage(spec, `--accept ${JSON.stringify(hash)} names none of the project's hooks and MCP servers`, "holdfast trust shows them");
}

export const command: Command = { ...spec, run };
