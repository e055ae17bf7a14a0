import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { parseCount } from "../config/limits.ts";
import { showCompaction } from "../render/compaction.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { sessionById } from "../session/find-session.ts";
import { warnOfDamage } from "../session/warn-of-damage.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "compactions",
  summary: "Shows how a session's conversation was shortened: what was kept, what left the window, and how to get it back.",
  usage: ["holdfast compactions SESSION [--diff N] [--json]"],
  flags: {
    diff: { kind: "string", value: "N", help: "what the Nth has and the one before it hasn't, and the other way round" },
    json: { kind: "boolean", help: "one JSON object a line, with all entries" },
  },
  words: { min: 1, max: 1, named: "one session ID" },
  notes: ["The log keeps everything: a compaction changes what the model is shown, and nothing else."],
  examples: [["holdfast compactions ses_01J --diff 2", "what the second shortening changed in the state that the model sees"]],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const wanted = given.value("diff");
  const number = wanted === undefined ? null : parseCount(wanted);
  if (wanted !== undefined && number === null) throw usage(spec, `--diff ${JSON.stringify(wanted)} is not a whole number above 0`);
  const { compactionsOf, compareCompactions } = await import("@holdfast/runtime/session/compactions");
  const host = await hosts.openHost(await openSetup(io), { cwd: io.cwd, roots: [] });
  try {
    const row = await sessionById(host.ports, given.words[0] ?? "");
    const { session } = row;
    const found = await compactionsOf(host.ports, session);
    await warnOfDamage(io, host.ports, row);
    if (number === null) {
      for (const one of found)
        io.stdout.write(given.has("json") ? jsonLine({ type: "compaction", session, ...one }) : `${showCompaction(one).join("\n")}\n`);
      if (found.length === 0 && !given.has("json")) io.stdout.write("its conversation was never shortened\n");
      return 0;
    }
    const later = found[number - 1];
    if (later === undefined) throw usage(spec, `there are ${found.length} compactions of ${session}`);
    const { added, gone } = compareCompactions(found[number - 2], later);
    if (given.has("json")) io.stdout.write(jsonLine({ type: "compaction.compared", session, number, added, gone }));
    else
      io.stdout.write([...gone.map((text) => `- ${sanitizeLine(text)}\n`), ...added.map((text) => `+ ${sanitizeLine(text)}\n`)].join(""));
    return 0;
  } finally {
    await host.close();
  }
}

export const command: Command = { ...spec, run };
