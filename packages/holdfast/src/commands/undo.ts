import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { findWorkspace } from "../config/workspace.ts";
import { table } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { renderUndone } from "../render/undo.ts";
import { unfinishedUndos } from "@holdfast/node/checkpoints/restore-note";
import type { Hosts, OpenHost } from "../runtime-api.ts";
import { assertFree, newestSession, sessionById } from "../session/find-session.ts";
import { warnOfDamage } from "../session/warn-of-damage.ts";
import { openSetup } from "../session/start.ts";
import { undoSession, type UndoReach } from "../session/undo.ts";
import { changedSteps } from "../undo/changed-steps.ts";
import { eventAt, pointForm } from "../undo/point.ts";

const spec: CommandSpec = {
  name: "undo",
  summary: "Takes back what a session's edits and commands changed in files: shows the difference, then restores what was there before.",
  usage: ["holdfast undo [SESSION] [--to STEP | --all] [--dry-run]", "holdfast undo [SESSION] --steps"],
  flags: {
    to: {
      kind: "string",
      value: "STEP",
      help: "back to before this step: 2.3 is the third of the second turn, 2. the whole turn; or an event's number",
    },
    all: { kind: "boolean", help: "back to before the session" },
    steps: { kind: "boolean", help: "only list the steps that may have changed files" },
    "dry-run": { kind: "boolean", help: "only say what would be done" },
  },
  words: { min: 0, max: 1, named: "session ID" },
  notes: [
    "Without a SESSION: the one whose undo was cut off in this folder, or else the newest of it. Without --to or --all: its last turn that changed something.",
    "All files or none: where one was changed since, nothing is undone and the file is named. What an undo leaves as it is (git's refs and index, ignored files, what happened elsewhere) it lists.",
  ],
  examples: [
    ["holdfast undo", "what the last turn changed"],
    ["holdfast undo --steps", "which step changed how many files"],
    ["holdfast undo --to 2.3", "what was changed from the third step of the second turn on"],
    ["holdfast undo --all --dry-run", "what undoing the whole session would restore"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const to = given.value("to");
  if (to !== undefined && !pointForm.test(to))
    throw usage(spec, `--to ${JSON.stringify(to)} is no step`, "2.3 is the third step of the second turn");
  if (to !== undefined && given.has("all")) throw usage(spec, "--to and --all don't go together");
  const setup = await openSetup(io);
  const [id] = given.words;
  const store = await hosts.openStore(setup);
  let view;
  let begun: string | undefined;
  try {
    const workspace = id === undefined ? await findWorkspace(".", io.cwd, io.env) : null;
    if (workspace !== null && !given.has("steps")) begun = unfinishedUndos(setup.home, [workspace.root])[0]?.session;
    const named = begun ?? id ?? "";
    const row =
      workspace !== null && begun === undefined ? await newestSession(store.ports, workspace) : await sessionById(store.ports, named);
    view = await store.runtime.readSession(store.ports, row.session);
    await warnOfDamage(io, store.ports, row);
  } finally {
    await store.close();
  }
  const { session } = view.row;
  const host = await hosts.openHost(setup, { cwd: view.cwd ?? view.roots[0]?.path ?? io.cwd, roots: view.roots });
  try {
    await assertFree(host.ports, session);
    if (given.has("steps")) await listSteps(host, session, io);
    else {
      const events = to === undefined || begun !== undefined ? [] : await host.ports.log.read(session, 1);
      const reach: UndoReach =
        begun !== undefined ? "begun" : to === undefined ? (given.has("all") ? "all" : "last") : { before: eventAt(events, session, to) };
      const isDry = given.has("dry-run");
      const undone = await undoSession(host, session, { reach, isDry, onWait: (message) => void io.stderr.write(`${message}\n`) });
      if (begun !== undefined) io.stderr.write(`first the undo of ${session} that was cut off; undo again to go on\n`);
      if (undone.files.length === 0) io.stderr.write(`nothing to undo in ${session}\n`);
      const { lines, notes } = renderUndone(undone, isDry);
      for (const line of lines) io.stdout.write(`${line}\n`);
      for (const note of notes) io.stderr.write(`${note}\n`);
    }
    return 0;
  } finally {
    await host.close();
  }
}

async function listSteps({ ports }: OpenHost, session: string, io: Io): Promise<void> {
  const steps = ports.checkpoints === undefined ? [] : await changedSteps(await ports.log.read(session, 1), ports.checkpoints);
  if (steps.length === 0) io.stderr.write(`no step of ${session} may have changed files\n`);
  const rows = steps.map(({ point, files, summary }) => [
    point,
    `${files} file${files === 1 ? "" : "s"}`,
    sanitizeLine(summary.split("\n", 1)[0] ?? ""),
  ]);
  for (const line of table(rows, io.stdout.columns ?? 100)) io.stdout.write(`${line}\n`);
}

export const command: Command = { ...spec, run };
