import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { findWorkspace } from "../config/workspace.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { assertFree, newestSession, sessionById } from "../session/find-session.ts";
import { openSetup } from "../session/start.ts";
import { undoEdits } from "../session/undo-edits.ts";

const spec: CommandSpec = {
  name: "undo",
  summary: "Takes back the files that the edit tools changed in a session's last turn, from what they were before.",
  usage: ["holdfast undo [SESSION] [--all] [--dry-run]"],
  flags: {
    all: { kind: "boolean", help: "the edits of the whole session" },
    "dry-run": { kind: "boolean", help: "only say what would be done" },
  },
  words: { min: 0, max: 1, named: "session ID" },
  notes: [
    "Without a SESSION: the newest of this folder. All files or none: where one was changed since, nothing is undone and the file is named. What commands wrote is not undone.",
  ],
  examples: [
    ["holdfast undo", "the last turn's edits"],
    ["holdfast undo --all --dry-run", "what undoing the whole session would restore"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const setup = await openSetup(io);
  const [id] = given.words;
  const store = await hosts.openStore(setup);
  let view;
  try {
    const row =
      id === undefined ? await newestSession(store.ports, await findWorkspace(".", io.cwd, io.env)) : await sessionById(store.ports, id);
    view = await store.runtime.readSession(store.ports, row.session);
  } finally {
    await store.close();
  }
  const { session } = view.row;
  const host = await hosts.openHost(setup, { cwd: view.cwd ?? view.roots[0]?.path ?? io.cwd, roots: view.roots });
  try {
    await assertFree(host.ports, session);
    const isDry = given.has("dry-run");
    const { files, callIds } = await undoEdits(host, session, given.has("all") ? "all" : "last", isDry);
    if (callIds.length === 0) io.stderr.write(`no edits to undo in ${session}\n`);
    for (const file of files) io.stdout.write(`${isDry ? "would be " : ""}${file.change}  ${sanitizeLine(file.path)}\n`);
    return 0;
  } finally {
    await host.close();
  }
}

export const command: Command = { ...spec, run };
