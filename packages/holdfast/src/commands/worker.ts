import { isHoldfastError } from "@holdfast/protocol/error";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { parseCount } from "../config/limits.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts } from "../runtime-api.ts";
import { driveTurn } from "../session/drive-turn.ts";
import { letGo } from "../session/let-go.ts";
import type { Setup } from "../session/start.ts";
import { openSetup, resumeSession } from "../session/start.ts";

const spec: CommandSpec = {
  name: "worker",
  summary:
    "Goes on with sessions that nobody drives: the process that drove them died, an answer or text came for them, or a deadline passed.",
  usage: ["holdfast worker [--once] [--at-once N] [--json]"],
  flags: {
    once: { kind: "boolean", help: "do what is due now, then exit" },
    "at-once": { kind: "string", value: "N", help: "sessions that are worked on together at most (2)" },
    json: { kind: "boolean", help: "one JSON object a line" },
  },
  words: { min: 0, max: 0, named: "nothing" },
  notes: [
    "Each session keeps its own settings: model, sandbox, approvals, limits. What waits for a person goes on waiting.",
    "Several workers may run; each session has one driver at a time.",
  ],
  examples: [
    ["holdfast worker", "until it is interrupted"],
    ["holdfast worker --once", "from a timer, or after a crash"],
  ],
};

const shown = { taken: "taken up", ended: "stands as ", left: "left: ", failed: "failed: " } as const;

/** For a resume that changes nothing. */
const asItIs = {
  limits: {},
  takesBaseline: true,
  acceptCheckChanges: [],
  checks: [],
  trustsProject: false,
  folder: ".",
  addedFolders: [],
} as const;

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const atOnce = parseCount(given.value("at-once") ?? "2");
  if (atOnce === null) throw usage(spec, `--at-once ${JSON.stringify(given.value("at-once"))} is not a whole number above 0`);
  const setup = await openSetup(io);
  const stopped = new AbortController();
  const release = io.onStop(() => stopped.abort());
  const store = await hosts.openStore(setup);
  let hasFailed = false;
  const tell = (session: string, what: keyof typeof shown, detail: string): void => {
    if (given.has("json")) io.stdout.write(jsonLine({ type: `worker.${what}`, session, detail }));
    else io.stderr.write(`${session} ${shown[what]}${sanitizeLine(detail)}\n`);
  };
  try {
    await store.ports.wakeups.serve({
      due: () => store.runtime.dueSessions(store.ports),
      work: async (session) => {
        tell(session, "taken", "");
        try {
          tell(session, "ended", await goOn(io, hosts, setup, session));
        } catch (error) {
          const isElsewhere = isHoldfastError(error, "session_busy") || isHoldfastError(error, "stale_driver");
          if (isElsewhere) return tell(session, "left", "another process drives it");
          hasFailed = true;
          tell(session, "failed", error instanceof Error ? error.message : String(error));
          throw error;
        }
      },
      atOnce,
      untilIdle: given.has("once"),
      signal: stopped.signal,
    });
  } finally {
    release();
    await store.close();
  }
  return given.has("once") && hasFailed ? 1 : 0;
}

/** Drives a session until it rests; returns how it stands. A stop interrupts its turn, as in `exec`. */
async function goOn(io: Io, hosts: Hosts, setup: Setup, session: string): Promise<string> {
  const { host } = await resumeSession(io, hosts, setup, asItIs, session);
  try {
    const end = await driveTurn(host, session, {
      waiting: "return",
      onWait: setup.onWait,
      onStop: (handler) => io.onStop(handler),
      onStopping: () => undefined,
    });
    // Nobody is left to look after what runs in the background.
    await letGo(io, host, session);
    return end.standing;
  } finally {
    await host.close();
  }
}

export const command: Command = { ...spec, run };
