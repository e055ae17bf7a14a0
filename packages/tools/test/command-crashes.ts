import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import type { ProbeFinding } from "@holdfast/runtime/ports/tool-host";
import { workbench } from "./workbench.ts";

interface Records {
  /** What a new process finds of a command, in words. */
  readonly left: string;
  /** The file of the start record; null for none. `own` is this process, living; `other` boots ago. */
  readonly start: string | null;
  readonly exit: string | null;
  readonly output: string | null;
  /** True where the intent was recorded before the machine was restarted. */
  readonly isRestarted?: true;
  readonly end: string;
}

const run = (who: string, boot: string): string => `run ${who} ${boot} 600.000 no end\n`;
const own = "OWN";
const gone = `${process.pid} 1`;
const here = "BOOT";
const before = "another-boot";
const whole = { exit: "exited 3 end\n", output: "what it said\n" };
const none = { exit: null, output: null };
const again = "not happened: run again";
const doubt = "in doubt";
const told = "settled: failed, exit code 3";

/** Every state in which a process that died, or a machine that lost power, can leave the records of a command. */
const states: readonly Records[] = [
  { left: "no start record", start: null, ...none, end: again },
  { left: "no start record, and the machine has restarted since the intent", start: null, ...none, isRestarted: true, end: doubt },
  { left: "a start record taken as revoked", start: "revoked end\n", ...none, end: again },
  { left: "an empty start record", start: "", ...none, end: doubt },
  { left: "half a start record", start: "run 12 34 bo", ...none, end: doubt },
  { left: "half a start record, and output", start: "run 12 34 bo", exit: null, output: "what it", end: doubt },
  { left: "a start record, its wrapper alive", start: run(own, here), ...none, end: "running: followed" },
  {
    left: "a start record, its wrapper alive, the place of its exit record",
    start: run(own, here),
    exit: "\n",
    output: null,
    end: "running: followed",
  },
  {
    left: "a start record, its wrapper alive, half an exit record",
    start: run(own, here),
    exit: "exited 3 e",
    output: "what it",
    end: "running: followed",
  },
  { left: "a start record, its wrapper gone", start: run(gone, here), ...none, end: doubt },
  {
    left: "a start record, its wrapper gone, the place of its exit record",
    start: run(gone, here),
    exit: "\n",
    output: "what it",
    end: doubt,
  },
  { left: "an empty start record, the place of an exit record", start: "", exit: "\n", output: null, end: doubt },
  { left: "a start record, its wrapper gone, an empty exit record", start: run(gone, here), exit: "", output: "what it", end: doubt },
  {
    left: "a start record, its wrapper gone, half an exit record",
    start: run(gone, here),
    exit: "exited 3 e",
    output: "what it",
    end: doubt,
  },
  { left: "a start record of an earlier boot", start: run(own, before), ...none, isRestarted: true, end: doubt },
  { left: "start and exit record, the output whole", start: run(gone, here), ...whole, end: told },
  { left: "start and exit record, the output gone", start: run(gone, here), exit: whole.exit, output: null, end: told },
  {
    left: "start and exit record of an earlier boot, a part of the output",
    start: run(own, before),
    exit: whole.exit,
    output: "what it",
    isRestarted: true,
    end: `${told}, and that output may be missing`,
  },
  {
    left: "an exit record that says the output could not be stored",
    start: run(gone, here),
    exit: "unspooled end\n",
    output: "what",
    end: "settled: failed",
  },
];

export interface CommandRow {
  readonly left: string;
  readonly found: string;
  /** What a second look found: the first may have revoked a claim. */
  readonly foundAgain: string;
  readonly right: string;
}

/** Lets the tool look at records in each state, twice. */
export async function makeCommandTable(): Promise<CommandRow[]> {
  const home = mkdtempSync(join(tmpdir(), "holdfast-records-"));
  const processes = createProcesses({ home });
  const at = await workbench({ processes });
  const { pid, startTime, bootId } = processes.owner;
  const rows: CommandRow[] = [];
  try {
    for (const { left, start, exit, output, isRestarted, end } of states) {
      const intent = await at.intend("run_command", { command: "echo what it said; exit 3" });
      const folder = join(home, "commands/session_1/runs", intent.callId, "1");
      const files = { start: start?.replace(own, `${pid} ${startTime}`).replace(here, bootId) ?? null, exit, output };
      if (start !== null) mkdirSync(folder, { recursive: true });
      for (const [name, text] of Object.entries(files)) if (text !== null) writeFileSync(join(folder, name), text);
      const prepared = { ...(intent.prepared as object), ...(isRestarted === true ? { bootId: before } : {}) };
      const context = { ...at.context, callId: intent.callId };
      const look = async (): Promise<string> => describe(await at.tool("run_command").probe?.({ ...intent, prepared }, context));
      rows.push({ left, found: await look(), foundAgain: await look(), right: end });
    }
    return rows;
  } finally {
    await at.close();
    // Not by the session's end: one of the records names this very process.
    rmSync(home, { recursive: true, force: true });
  }
}

function describe(finding: ProbeFinding | undefined): string {
  switch (finding?.type) {
    case "not_happened":
      return again;
    case "running":
      return "running: followed";
    case "unknown":
      return finding.look === "" ? "in doubt, without a word on how to look" : doubt;
    case "happened": {
      const { status, exitCode, text } = finding.outcome;
      const code = exitCode == null ? "" : `, exit code ${exitCode}`;
      return `settled: ${status}${code}${text.includes("may be missing") ? ", and that output may be missing" : ""}`;
    }
    default:
      return JSON.stringify(finding);
  }
}

/** The table as Markdown. */
export function renderCommandTable(rows: readonly CommandRow[]): string {
  return ["| what is left | what becomes of the call |", "|---|---|", ...rows.map(({ left, found }) => `| ${left} | ${found} |`)].join(
    "\n",
  );
}
