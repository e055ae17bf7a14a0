import { isHoldfastError } from "@holdfast/protocol/error";
import type { Command } from "./cli/command.ts";
import { commandHelp, frontPage } from "./cli/help.ts";
import type { Io } from "./cli/io.ts";
import { nearest } from "./cli/nearest.ts";
import { parseFlags } from "./cli/parse.ts";
import { spread } from "./render/layout.ts";
import { sanitize } from "./render/sanitize.ts";
import type { Hosts } from "./runtime-api.ts";
import { withKeptSecrets } from "./secrets/kept.ts";
import { version } from "./version.ts";

type Load = () => Promise<{ readonly command: Command }>;

/** Every command, in the order of the help. A command's file is loaded only when it is asked for. */
const commands: Readonly<Record<string, { readonly summary: string; readonly load: Load }>> = {
  exec: {
    summary: "run one turn and exit with how it ended; exec resume goes on with a session",
    load: () => import("./commands/exec.ts"),
  },
  review: { summary: "review changes, and show what of them was read", load: () => import("./commands/review.ts") },
  resume: {
    summary: "open line mode on a session of before; choose from those of this folder",
    load: () => import("./commands/resume.ts"),
  },
  sessions: { summary: "list, search, export, fork, prune … sessions", load: () => import("./commands/sessions.ts") },
  replay: { summary: "derive a session again from its log, and say where it departs", load: () => import("./commands/replay.ts") },
  inspect: { summary: "show what a session did and why, or who last changed a file or line", load: () => import("./commands/inspect.ts") },
  attest: { summary: "sign what a verified turn showed, for others to verify", load: () => import("./commands/attest.ts") },
  verify: { summary: "say whether an attestation holds, here and for these files", load: () => import("./commands/verify.ts") },
  keys: { summary: "show or replace the key that signs here, and keep those of others", load: () => import("./commands/keys.ts") },
  context: { summary: "show what a request to the model was made of, and why", load: () => import("./commands/context.ts") },
  compactions: { summary: "show how a session's conversation was shortened", load: () => import("./commands/compactions.ts") },
  approvals: { summary: "list, show or answer what waits for a person", load: () => import("./commands/approvals.ts") },
  answer: { summary: "show or answer what a session asks a person", load: () => import("./commands/answer.ts") },
  worker: { summary: "go on with sessions that nobody drives", load: () => import("./commands/worker.ts") },
  models: { summary: "say which models can be used here, and what they cost", load: () => import("./commands/models.ts") },
  prompts: { summary: "list the reusable prompts that can be used here", load: () => import("./commands/prompts.ts") },
  skills: { summary: "list, show or check the skills that can be used here", load: () => import("./commands/skills.ts") },
  documents: { summary: "search the documents that the model can search", load: () => import("./commands/documents.ts") },
  mcp: { summary: "list, add, try, import or remove MCP servers", load: () => import("./commands/mcp.ts") },
  tools: { summary: "search tools by words, and say why each is found", load: () => import("./commands/tools.ts") },
  policy: { summary: "say what the policy decides, and why; show its rules and try them", load: () => import("./commands/policy.ts") },
  secrets: { summary: "keep keys and tokens in the keyring or a file", load: () => import("./commands/secrets.ts") },
  trust: { summary: "trust a project, so that its instructions are obeyed", load: () => import("./commands/trust.ts") },
  config: { summary: "show the config and where each value comes from; check it", load: () => import("./commands/config.ts") },
  undo: { summary: "take back what a session changed in files, or from a step on", load: () => import("./commands/undo.ts") },
  fork: {
    summary: "begin a session of its own at a step of another, with its files as they were",
    load: () => import("./commands/fork.ts"),
  },
  demo: { summary: "fix a real bug in a small repository made for it, without a key", load: () => import("./commands/demo.ts") },
  doctor: { summary: "look at this machine and say what is missing", load: () => import("./commands/doctor.ts") },
};
const lineMode: Load = () => import("./commands/line.ts");

/** The hosts of this machine, loaded when the first port is needed. */
const nodeHosts: Hosts = {
  openStore: async (options) => (await import("./host/node-hosts.ts")).openStore(options),
  openHost: async (options, workspace) => (await import("./host/node-hosts.ts")).openHost(options, workspace),
};

/** Exit statuses of errors: what was asked for was wrong, or it went wrong. */
const usageStatus = 2;
const failureStatus = 1;
const usageCodes: readonly string[] = [
  "usage",
  "config_invalid",
  "policy_invalid",
  "no_model",
  "session_busy",
  "session_not_found",
  "session_newer",
  "item_not_found",
  "file_exists",
  "workspace_invalid",
  "approval_not_found",
  "approval_closed",
  "approval_elsewhere",
  "approval_expired",
  "approval_changed",
  "approval_not_offered",
  "depth_reached",
  "question_not_found",
  "question_closed",
  "not_attestable",
  "key_invalid",
];

/** Runs the program and returns its exit status; never throws. */
export async function main(argv: readonly string[], io: Io, hosts: Hosts = nodeHosts): Promise<number> {
  try {
    return await dispatch(argv, io, hosts);
  } catch (error) {
    return tell(error, io);
  }
}

async function dispatch(argv: readonly string[], io: Io, hosts: Hosts): Promise<number> {
  const [first, ...rest] = argv;
  const width = Math.min(io.stdout.columns, 100);
  if (first === "--version" || first === "-V") {
    io.stdout.write(`holdfast ${version}\n`);
    return 0;
  }
  const isHelp = first === "help";
  const name = isHelp ? rest[0] : first;
  if (name === undefined ? isHelp : name === "--help" || name === "-h") {
    io.stdout.write(
      frontPage(
        Object.entries(commands).map(([command, { summary }]) => [command, summary]),
        width,
      ),
    );
    return 0;
  }
  const known =
    name === undefined || name.startsWith("-") ? { load: lineMode } : Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (known === undefined) {
    const close = nearest(name ?? "", Object.keys(commands));
    const what = close === null ? `to give a prompt: holdfast exec ${JSON.stringify(argv.join(" "))}` : `did you mean holdfast ${close}?`;
    io.stderr.write(`holdfast: unknown command ${sanitize(JSON.stringify(name))} (usage)\n${sanitize(what)}; see holdfast --help\n`);
    return usageStatus;
  }
  const { command } = await known.load();
  const words = known.load === lineMode ? argv : rest;
  const given = isHelp ? "help" : parseFlags(command, name === "exec" ? await execWords(command, words, io) : words);
  if (given === "help") {
    io.stdout.write(commandHelp(command, width));
    return 0;
  }
  // The secrets themselves are managed without being read.
  return command.run(given, name === "secrets" ? io : await withKeptSecrets(io), hosts);
}

/** Started as `@openai/codex-sdk` starts Codex, `exec` is asked in Codex's words. */
async function execWords(command: Command, words: readonly string[], io: Io): Promise<readonly string[]> {
  if (!words.includes("--experimental-json")) return words;
  const { fromCodex } = await import("./codex/translate.ts");
  const { argv, notes } = await fromCodex(command, words, io.env);
  for (const note of notes) io.stderr.write(`holdfast: ${sanitize(note)}\n`);
  return argv;
}

/** Says an error to the person, without secrets and control characters. Returns the exit status. */
export function tell(error: unknown, io: Io): number {
  if (!isHoldfastError(error)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr.write(`holdfast: this should not have happened (internal)\n${sanitize(text)}\n`);
    return failureStatus;
  }
  const lines = [
    `holdfast: ${error.message.replace(/^holdfast:? /, "")} (${error.code})`,
    ...(error.hint === undefined ? [] : [error.hint]),
  ];
  io.stderr.write(`${spread(sanitize(lines.join("\n")), io.stderr)}\n`);
  return usageCodes.includes(error.code) ? usageStatus : failureStatus;
}
