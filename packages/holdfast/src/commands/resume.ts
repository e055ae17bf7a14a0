import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { canAsk } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import type { Hosts } from "../runtime-api.ts";
import { readWishes, sessionFlags } from "../session/flags.ts";
import { runLine } from "./line.ts";

const spec: CommandSpec = {
  name: "resume",
  summary: "Opens line mode on a session of before. Without an ID it shows those of this folder to choose from.",
  usage: ["holdfast resume [flags] [ID]", "holdfast resume [flags] --last"],
  flags: { ...sessionFlags, last: { kind: "boolean", help: "the newest session of this folder" } },
  words: { min: 0, max: 1, named: "a session ID" },
  notes: ["Without a terminal to ask at, name the ID, or --last.", 'One turn and no line mode: holdfast exec resume ID "…".'],
  examples: [
    ["holdfast resume", "choose one by its number"],
    ["holdfast resume --last", "the newest"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const [id] = given.words;
  if (id !== undefined && given.has("last")) throw usage(spec, "an ID and --last are both given", "one of them names the session");
  if (id === undefined && !given.has("last") && !canAsk(io)) {
    throw usage(spec, "which session?", "name its ID, or --last for the newest of this folder");
  }
  const resumes = id !== undefined ? { id } : given.has("last") ? { id: null } : "asks";
  return runLine(given, readWishes(spec, given), resumes, io, hosts);
}

export const command: Command = { ...spec, run };
