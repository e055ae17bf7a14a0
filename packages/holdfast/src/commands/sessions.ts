import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import type { Hosts } from "../runtime-api.ts";
import { openSetup } from "../session/start.ts";
import { pointForm } from "../undo/point.ts";
import type { Call } from "./sessions/call.ts";

type Verb = (call: Call, words: readonly string[]) => Promise<number>;

/** What each verb takes: its words as they are named, at least and at most, and its flags. Its file is loaded when it is asked for. */
const verbs: Readonly<
  Record<
    string,
    { readonly words: readonly [string, number, number]; readonly flags: readonly string[]; readonly load: () => Promise<Verb> }
  >
> = {
  list: { words: ["no word", 0, 0], flags: ["all", "json"], load: async () => (await import("./sessions/list.ts")).list },
  show: { words: ["one session ID", 1, 1], flags: ["items", "json"], load: async () => (await import("./sessions/show.ts")).show },
  search: {
    words: ["what to look for", 1, 100],
    flags: ["all", "limit", "json"],
    load: async () => (await import("./sessions/search.ts")).search,
  },
  rename: {
    words: ["a session ID and a title in quotes", 2, 2],
    flags: [],
    load: async () => (await import("./sessions/rename.ts")).rename,
  },
  export: {
    words: ["one session ID", 1, 1],
    flags: ["format", "output", "force", "no-outputs"],
    load: async () => (await import("./sessions/export.ts")).exportTo,
  },
  fork: {
    words: ["one session ID", 1, 1],
    flags: ["at", "restore", "title", "json"],
    load: async () => (await import("./sessions/fork.ts")).fork,
  },
  verify: { words: ["at least one session ID", 1, 100], flags: ["json"], load: async () => (await import("./sessions/verify.ts")).verify },
  erase: { words: ["a session ID and an item's", 2, 2], flags: [], load: async () => (await import("./sessions/erase.ts")).erase },
  delete: {
    words: ["at least one session ID", 1, 100],
    flags: [],
    load: async () => (await import("./sessions/delete.ts")).deleteSessions,
  },
  prune: {
    words: ["at most one folder", 0, 1],
    flags: ["older-than", "max-size", "dry-run", "all", "json"],
    load: async () => (await import("./sessions/prune.ts")).prune,
  },
};
const names = Object.keys(verbs);
const named = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;

const spec: CommandSpec = {
  name: "sessions",
  summary: "Lists, finds, shows, exports, forks and verifies sessions, erases what is in them, and removes those that are done with.",
  usage: [
    "holdfast sessions list [--all] [--json]",
    "holdfast sessions show ID [--items] [--json]",
    "holdfast sessions search TEXT… [--all] [--limit N] [--json]",
    "holdfast sessions rename ID TITLE",
    "holdfast sessions export ID [--format md|json] [-o FILE [--force]] [--no-outputs]",
    "holdfast sessions fork ID [--at STEP [--restore]] [--title TEXT] [--json]",
    "holdfast sessions verify ID… [--json]",
    "holdfast sessions erase ID ITEM",
    "holdfast sessions delete ID…",
    "holdfast sessions prune [--older-than AGE] [--max-size SIZE] [--all|FOLDER] [--dry-run] [--json]",
  ],
  flags: {
    all: { kind: "boolean", help: "with list, search and prune: the sessions of every folder" },
    items: { kind: "boolean", help: "with show: the items it consists of, with their IDs" },
    limit: { kind: "string", value: "N", help: "with search: most hits (20)" },
    format: { kind: "string", value: "FORMAT", help: "with export: md (default) or json", oneOf: ["md", "json"] },
    output: { kind: "string", short: "o", value: "FILE", help: "with export: write to this file instead of stdout" },
    force: { kind: "boolean", help: "with export: replace the file where it is there already" },
    "no-outputs": { kind: "boolean", help: "with export: leave out what tools brought back" },
    at: {
      kind: "string",
      value: "STEP",
      help: "with fork: begin before step 2.3 (turn 2, step 3), or after the last step that had ended by an event's number",
    },
    restore: { kind: "boolean", help: "with fork --at: take back what was changed in files from there on" },
    title: { kind: "string", value: "TEXT", help: "with fork: its title (default: that of the session it is made of)" },
    "older-than": { kind: "string", value: "AGE", help: "with prune: sessions without a change for so long, such as 30d, 2w, 12h" },
    "max-size": { kind: "string", value: "SIZE", help: "with prune: the oldest until the rest takes no more, such as 500MB" },
    "dry-run": { kind: "boolean", help: "with prune: only say what would go, and how much that frees" },
    json: { kind: "boolean", help: "one JSON object a line" },
  },
  words: { min: 0, max: 101, named },
  notes: [
    "An ID may be cut short where its beginning names only one session.",
    'Search takes words and "quoted phrases", which must all occur in one prompt, answer, call, result or title. What forks share is found once, in the session that changed last.',
    "An export has no known secrets, and can't be resumed; it says what else it leaves out.",
    "A fork shares the history up to where it begins and goes its own way from there, in the same folder. Deleting the session it was made of keeps what it shares.",
    "Verify reads a whole log and checks its hash chain and the signatures at the ends of turns.",
    "Erase takes one item's content away for good, also from forks; show --items names the items.",
    "Prune leaves alone what is in use: an open turn, a question to a person, a process at work. Without flags it does what [sessions] in your config says, which exec and line mode do by themselves once a day, at their end.",
  ],
  examples: [
    ["holdfast sessions list", "newest first"],
    ["holdfast sessions show ses_01J", "its turns, outcomes, open approvals and cost"],
    [`holdfast sessions search '"connection reset" retry' --all`, "where that was said, done or read"],
    ["holdfast sessions export ses_01J -o session.md", "to hand to somebody"],
    ["holdfast sessions fork ses_01J", 'prints the new session; holdfast exec resume NEW "…" goes on there'],
    ["holdfast sessions prune --older-than 30d --dry-run", "what would go"],
    ["holdfast sessions delete ses_01J", "its events, outputs and images; edits of your files stay"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const [name = "list", ...words] = given.words;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw usage(spec, `unknown word ${JSON.stringify(name)}`, names.join(", "));
  const [takes, least, most] = verb.words;
  if (words.length < least || words.length > most) throw usage(spec, `${name} takes ${takes}`);
  const stray = Object.keys(spec.flags).find((flag) => given.has(flag) && !verb.flags.includes(flag));
  if (stray !== undefined) throw usage(spec, `--${stray} doesn't belong to ${name}`);
  const at = given.value("at");
  if (at !== undefined && !pointForm.test(at))
    throw usage(spec, `--at ${JSON.stringify(at)} is neither a step such as 2.3 nor the number of an event`);
  if (given.has("restore") && at === undefined) throw usage(spec, "--restore needs --at STEP");
  const run = await verb.load();
  return run({ spec, given, io, hosts, setup: await openSetup(io) }, words);
}

export const command: Command = { ...spec, run };
