import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { findWorkspace } from "../config/workspace.ts";
import { jsonLine } from "../render/json-events.ts";
import { fit, table } from "../render/layout.ts";
import { moment } from "../render/numbers.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { renderSession } from "../render/session.ts";
import type { HostOptions, Hosts, OpenStore } from "../runtime-api.ts";
import { assertFree, sessionById } from "../session/find-session.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "sessions",
  summary: "Lists the sessions of this folder, shows one, or deletes some with all that was recorded of them.",
  usage: ["holdfast sessions list [--all] [--json]", "holdfast sessions show ID [--json]", "holdfast sessions delete ID…"],
  flags: {
    all: { kind: "boolean", help: "with list: the sessions of every folder" },
    json: { kind: "boolean", help: "one JSON object a line" },
  },
  words: { min: 0, max: 100, named: "list, show or delete" },
  notes: ["An ID may be cut short where its beginning names only one session."],
  examples: [
    ["holdfast sessions list", "newest first"],
    ["holdfast sessions show ses_01J", "its turns, outcomes, open approvals and cost"],
    ["holdfast sessions delete ses_01J", "its events, outputs and images; edits of your files stay"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const [verb = "list", ...ids] = given.words;
  const setup = await openSetup(io);
  switch (verb) {
    case "list":
      if (ids.length > 0) throw usage(spec, `unexpected word ${JSON.stringify(ids[0])}`);
      return withStore(hosts, setup, (store) => list(given, io, store));
    case "show":
      if (ids.length !== 1) throw usage(spec, "show takes one session ID");
      return withStore(hosts, setup, (store) => show(given, io, store, ids[0] ?? ""));
    case "delete":
      if (ids.length === 0) throw usage(spec, "delete takes at least one session ID");
      return remove(io, hosts, setup, ids);
    default:
      throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "list, show or delete");
  }
}

async function withStore(hosts: Hosts, setup: HostOptions, use: (store: OpenStore) => Promise<number>): Promise<number> {
  const store = await hosts.openStore(setup);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function list(given: Arguments, io: Io, store: OpenStore): Promise<number> {
  const { cwd, root } = await findWorkspace(".", io.cwd, io.env);
  const all = await store.ports.log.list({});
  const rows = given.has("all") ? all : all.filter((row) => row.workspace === cwd || row.workspace === root);
  if (given.has("json")) {
    for (const row of rows) io.stdout.write(jsonLine({ type: "session", ...row }));
    return 0;
  }
  if (rows.length === 0) {
    const elsewhere = given.has("all") || all.length === 0 ? "" : `; ${all.length} in other folders (--all)`;
    io.stderr.write(`no sessions in ${sanitizeLine(cwd)}${elsewhere}\n`);
    return 0;
  }
  const width = io.stdout.columns;
  const lines = table(
    [
      ["session", "status", "last change", given.has("all") ? "folder · title" : "title"],
      ...rows.map((row) => [
        row.session,
        row.status,
        moment(row.updatedAt),
        fit(sanitizeLine([...(given.has("all") ? [row.workspace ?? "no folder"] : []), row.title].join(" · ")), 60),
      ]),
    ],
    Math.max(width, 80),
  );
  io.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}

async function show(given: Arguments, io: Io, store: OpenStore, id: string): Promise<number> {
  const { session } = await sessionById(store.ports, id);
  const view = await store.runtime.readSession(store.ports, session);
  io.stdout.write(given.has("json") ? jsonLine({ type: "session", ...view }) : `${renderSession(view, io.stdout.columns).join("\n")}\n`);
  return 0;
}

async function remove(io: Io, hosts: Hosts, setup: HostOptions, ids: readonly string[]): Promise<number> {
  const host = await hosts.openHost(setup, { cwd: io.cwd, roots: [] });
  try {
    const rows = await Promise.all(ids.map((id) => sessionById(host.ports, id)));
    for (const { session } of rows) await assertFree(host.ports, session);
    for (const { session } of rows) {
      await host.ports.processes.endSession(session, { forget: true });
      await host.ports.log.delete(session);
      io.stderr.write(`deleted ${session}\n`);
    }
    await host.ports.blobs.collect(await host.ports.log.referencedBlobs(), blobGraceMs);
    return 0;
  } finally {
    await host.close();
  }
}

/** A blob is written before the commit that refers to it; younger ones may belong to a commit that is under way. */
const blobGraceMs = 60 * 60 * 1000;

export const command: Command = { ...spec, run };
