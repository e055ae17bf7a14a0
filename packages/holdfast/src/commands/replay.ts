import type { ReplayReport } from "@holdfast/runtime";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { jsonLine } from "../render/json-events.ts";
import { plural } from "../render/numbers.ts";
import { unlessCorrupt } from "../render/corrupt.ts";
import { sanitize } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "replay",
  summary: "Derives a session again from its log and says whether all of it comes out as it was. Runs nothing, asks no model.",
  usage: ["holdfast replay SESSION… [--json]"],
  flags: { json: { kind: "boolean", help: "one JSON object a line" } },
  words: { min: 1, max: 100, named: "at least one session ID" },
  notes: [
    "Control state, plans and requests follow from the log alone: each is derived again and compared with what was recorded, the requests to the bytes of their bodies. The first departure is named by its event.",
    "A request to which a hook added words, or one recorded by an older version, is counted and not compared. What is erased can't be derived; there it begins at the snapshot behind it.",
    "Exit status 1 where something departs. To run a recorded session again, with its tools: --model replay:SESSION.",
  ],
  examples: [["holdfast replay ses_01J", "after an update, or when somebody asks how a request came about"]],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const host = await hosts.openHost(await openSetup(io), { cwd: io.cwd, roots: [] });
  try {
    const [{ createBodyDigest }, { replaySession }] = await Promise.all([
      import("@holdfast/models/body-digest"),
      import("@holdfast/runtime/session/replay"),
    ]);
    const ports = { ...host.ports, bodyDigest: createBodyDigest() };
    let status = 0;
    for (const id of given.words) {
      const { session } = await sessionById(host.ports, id);
      const report = await unlessCorrupt(io, session, () => replaySession(ports, session));
      if (report === null) {
        status = 1;
        continue;
      }
      if (report.departure !== null) status = 1;
      if (given.has("json"))
        io.stdout.write(jsonLine({ type: "session.replayed", session, isEqual: report.departure === null, ...report }));
      else io.stdout.write(`${session}: ${sanitize(describe(report))}\n`);
    }
    return status;
  } finally {
    await host.close();
  }
}

function describe({ departure, after, events, requests, bodies, unrecorded, digest }: ReplayReport): string {
  if (departure !== null) return `DEPARTS at event ${departure.seq} (${departure.what}): ${departure.detail}`;
  return [
    `comes out as it was, ${plural(events, "event")}${after === 0 ? "" : ` after ${after}`}`,
    `${plural(requests, "request")}, ${bodies} of them to the byte`,
    ...(unrecorded === 0 ? [] : [`${plural(unrecorded, "request")} of which nothing is recorded`]),
    `digest ${digest.slice(0, 16)}`,
  ].join(", ");
}

export const command: Command = { ...spec, run };
