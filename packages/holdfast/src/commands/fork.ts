import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import type { Hosts } from "../runtime-api.ts";
import { openSetup } from "../session/start.ts";
import { pointForm } from "../undo/point.ts";
import { fork, restoresNothing } from "./sessions/fork.ts";

const spec: CommandSpec = {
  name: "fork",
  summary: "Makes a session of its own that shares another's history up to a step; with --restore the files are again as they were there.",
  usage: ["holdfast fork ID [--at STEP [--restore]] [--title TEXT] [--json]"],
  flags: {
    at: {
      kind: "string",
      value: "STEP",
      help: "begin before this step: 2.3 is the third of the second turn; or after the last step that had ended by an event's number",
    },
    restore: { kind: "boolean", help: "make the session's files what they were there, also where an undo has gone further back" },
    title: { kind: "string", value: "TEXT", help: "its title (default: that of the session it is made of)" },
    json: { kind: "boolean", help: "one JSON object" },
  },
  words: { min: 1, max: 1, named: "session ID" },
  notes: ["Where a file was changed by something else since, nothing is restored, no fork is made, and the file is named."],
  examples: [
    ["holdfast fork ses_01J", 'prints the new session; holdfast exec resume NEW "…" goes on there'],
    ["holdfast fork ses_01J --at 2.3 --restore", "another try from before the third step of the second turn"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const at = given.value("at");
  if (at !== undefined && !pointForm.test(at))
    throw usage(spec, `--at ${JSON.stringify(at)} is no step`, "2.3 is the third step of the second turn");
  if (restoresNothing(given)) throw usage(spec, "--restore needs --at STEP");
  return fork({ given, io, hosts, setup: await openSetup(io) }, given.words);
}

export const command: Command = { ...spec, run };
