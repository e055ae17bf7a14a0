import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { homeFolder } from "../config/home.ts";
import { distrust, readTrust, trust } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { sanitizeLine } from "../render/sanitize.ts";

const spec: CommandSpec = {
  name: "trust",
  summary: "Trusts a project: its AGENTS.md (or CLAUDE.md) is obeyed, and its own rules count where they are stricter.",
  usage: ["holdfast trust [PATH]", "holdfast trust --remove [PATH]", "holdfast trust --list"],
  flags: {
    list: { kind: "boolean", help: "name the trusted projects" },
    remove: { kind: "boolean", help: "trust the project no longer" },
  },
  words: { min: 0, max: 1, named: "project folder" },
  notes: [
    "Without a PATH: the project around this folder. Trust is kept in $HOLDFAST_HOME/trust.json, never in the project; it counts for exactly this project, not for projects inside it, and for sessions started from now on.",
  ],
  examples: [
    ["holdfast trust", "the project around this folder"],
    ["holdfast trust --remove ~/code/site", "no longer"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const home = homeFolder(io.env, io.cwd);
  if (given.has("list")) {
    if (given.words.length > 0 || given.has("remove")) throw usage(spec, "--list goes alone");
    for (const [path, at] of Object.entries(await readTrust(home)).toSorted())
      io.stdout.write(`${sanitizeLine(path)}  since ${sanitizeLine(at.slice(0, 10))}\n`);
    return 0;
  }
  const [path] = given.words;
  if (given.has("remove")) {
    const folder = path ?? (await findWorkspace(".", io.cwd, io.env)).root;
    const was = await distrust(home, resolve(io.cwd, folder));
    io.stderr.write(was ? `no longer trusted: ${sanitizeLine(folder)}\n` : `was not trusted: ${sanitizeLine(folder)}\n`);
    return 0;
  }
  const folder = path === undefined ? (await findWorkspace(".", io.cwd, io.env)).root : (await findWorkspace(path, io.cwd, io.env)).cwd;
  const real = await trust(home, folder, new Date());
  io.stderr.write(`trusted: ${sanitizeLine(real)}\n`);
  for (const name of ["AGENTS.md", "CLAUDE.md"]) {
    if (await stat(join(real, name)).catch(() => null)) io.stderr.write(`  obeyed from now on: ${name}\n`);
  }
  return 0;
}

export const command: Command = { ...spec, run };
