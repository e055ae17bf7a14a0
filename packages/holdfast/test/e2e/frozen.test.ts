import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultLimits, isHoldfastError } from "@holdfast/protocol";
import type { Settings } from "@holdfast/protocol";
import { findChainFault } from "@holdfast/runtime";
import { loadConfig } from "../../src/config/config.ts";
import { openHost } from "../../src/host/node-hosts.ts";
import type { OpenHost } from "../../src/runtime-api.ts";

const steps = [
  { calls: [{ name: "run_command", input: { command: "echo first >> ledger" } }] },
  { calls: [{ name: "edit_file", input: { path: "state.txt", edits: [{ old: "n = 0", new: "n = 1" }] } }] },
  { calls: [{ name: "edit_file", input: { path: "state.txt", edits: [{ old: "n = 1", new: "n = 0" }] } }] },
  { text: "Done." },
];

/** Drives until stop `n`, stays there while another driver brings the session to its end, and goes on then. */
async function freezeAt(n: number): Promise<{ readonly isPast: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-frozen-"));
  const [home, workspace, script] = [join(folder, "home"), join(folder, "workspace"), join(folder, "script.json")];
  mkdirSync(workspace);
  writeFileSync(join(workspace, "state.txt"), "n = 0\n");
  writeFileSync(script, JSON.stringify(steps));
  const roots = [{ id: "root", path: workspace }];
  const options = {
    home,
    isEphemeral: false,
    config: (await loadConfig({ home, project: null, isTrusted: false, env: {} })).config,
    onWait: () => undefined,
    onNote: () => undefined,
    env: { PATH: process.env["PATH"], HOME: folder },
  };
  const open = (): Promise<OpenHost> =>
    openHost(options, { cwd: workspace, roots, reach: { sandbox: "off", network: "none", isTrusted: false } });
  const [frozen, other] = [await open(), await open()];
  const settings: Settings = {
    model: `script:${script}`,
    effort: null,
    sandbox: "off",
    network: "none",
    approvals: "allow",
    isTrusted: false,
    limits: defaultLimits,
    takesBaseline: true,
    acceptCheckChanges: [],
  };
  try {
    const session = await frozen.runtime.createSession(frozen.ports, { roots, cwd: workspace, settings, title: "", checks: [] });
    await frozen.runtime.post(frozen.ports, session, { type: "input.send", parts: [{ type: "text", text: "go" }] });
    let count = 0;
    let thaw = (): void => undefined;
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (wake = resolve));
    const stops = async (): Promise<void> => {
      count += 1;
      if (count !== n) return;
      wake();
      await new Promise<void>((resolve) => (thaw = resolve));
    };
    const driven = frozen.runtime.drive(frozen.ports, session, { waiting: "return", stops }).then(
      () => "ended",
      (error: unknown) => (isHoldfastError(error) ? error.code : String(error)),
    );
    if ((await Promise.race([asleep.then(() => "asleep"), driven])) !== "asleep") return { isPast: true };
    // To the other driver this process is one that has died: so it looks where a frozen machine comes back.
    const processes = { ...other.ports.processes, isAlive: () => false };
    const end = await other.runtime.drive({ ...other.ports, processes }, session, { waiting: "return" });
    thaw();
    const fate = await driven;
    const stored = await other.ports.log.read(session, 1);
    const events = (await other.runtime.readSession(other.ports, session)).events;
    const doubts = events.filter((event) => event.type === "call.settled" && event.payload.outcome.status !== "completed");
    expect(
      {
        fate,
        doubts,
        fault: findChainFault(stored),
        ledger: readFileSync(join(workspace, "ledger"), "utf8"),
        state: readFileSync(join(workspace, "state.txt"), "utf8"),
      },
      `frozen at stop ${n}`,
    ).toEqual({
      // Idle: the frozen driver had committed the end of the turn itself.
      fate: end.standing === "idle" ? "ended" : expect.stringMatching(/^(stale_driver|claim_lost)$/),
      doubts: [],
      fault: null,
      ledger: "first\n",
      state: "n = 0\n",
    });
    return { isPast: false };
  } finally {
    await frozen.close();
    await other.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a driver frozen at any stop, for so long that another ends the session, does nothing more when it thaws", async () => {
  let n = 1;
  while (!(await freezeAt(n)).isPast) n += 1;
  expect(n).toBeGreaterThan(30);
}, 60_000);
