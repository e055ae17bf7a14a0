import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import type { HostOptions, Hosts } from "../runtime-api.ts";
import { openSetup } from "../session/start.ts";
import { deleteSessions } from "./sessions/delete.ts";
import { fork } from "./sessions/fork.ts";
import { list } from "./sessions/list.ts";
import { show } from "./sessions/show.ts";
import { verify } from "./sessions/verify.ts";

const spec: CommandSpec = {
  name: "sessions",
  summary: "Lists the sessions of this folder, shows, forks or verifies one, or deletes some with all that was recorded of them.",
  usage: [
    "holdfast sessions list [--all] [--json]",
    "holdfast sessions show ID [--json]",
    "holdfast sessions fork ID [--at N] [--title TEXT] [--json]",
    "holdfast sessions verify ID… [--json]",
    "holdfast sessions delete ID…",
  ],
  flags: {
    all: { kind: "boolean", help: "with list: the sessions of every folder" },
    at: { kind: "string", value: "N", help: "with fork: begin after the last step that had ended by event N (default: the newest)" },
    title: { kind: "string", value: "TEXT", help: "with fork: its title (default: that of the session it is made of)" },
    json: { kind: "boolean", help: "one JSON object a line" },
  },
  words: { min: 0, max: 100, named: "list, show, fork, verify or delete" },
  notes: [
    "An ID may be cut short where its beginning names only one session.",
    "A fork shares the history up to where it begins and goes its own way from there, in the same folder. Deleting the session it was made of keeps what it shares.",
    "Verify reads a whole log and checks its hash chain and the signatures at the ends of turns.",
  ],
  examples: [
    ["holdfast sessions list", "newest first"],
    ["holdfast sessions show ses_01J", "its turns, outcomes, open approvals and cost"],
    ["holdfast sessions fork ses_01J", 'prints the new session; holdfast exec resume NEW "…" goes on there'],
    ["holdfast sessions verify ses_01J", "whether its log is whole and unchanged"],
    ["holdfast sessions delete ses_01J", "its events, outputs and images; edits of your files stay"],
  ],
};

type Verb = (
  call: { readonly given: Arguments; readonly io: Io; readonly hosts: Hosts; readonly setup: HostOptions },
  ids: readonly string[],
) => Promise<number>;

const verbs: Readonly<Record<string, { readonly run: Verb; readonly takes: "none" | "one" | "some" }>> = {
  list: { run: list, takes: "none" },
  show: { run: show, takes: "one" },
  fork: { run: fork, takes: "one" },
  verify: { run: verify, takes: "some" },
  delete: { run: deleteSessions, takes: "some" },
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const [name = "list", ...ids] = given.words;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw usage(spec, `unknown word ${JSON.stringify(name)}`, Object.keys(verbs).join(", "));
  if (verb.takes === "none" && ids.length > 0) throw usage(spec, `unexpected word ${JSON.stringify(ids[0])}`);
  if (verb.takes === "one" && ids.length !== 1) throw usage(spec, `${name} takes one session ID`);
  if (verb.takes === "some" && ids.length === 0) throw usage(spec, `${name} takes at least one session ID`);
  const at = given.value("at");
  if (at !== undefined && !/^[1-9]\d{0,14}$/.test(at)) throw usage(spec, `--at ${JSON.stringify(at)} is not the number of an event`);
  return verb.run({ given, io, hosts, setup: await openSetup(io) }, ids);
}

export const command: Command = { ...spec, run };
