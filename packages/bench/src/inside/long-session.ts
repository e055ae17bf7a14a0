/**
 * A session of a given age: `node long-session.ts make FOLDER EVENTS WINDOW` writes one whose window are the last WINDOW
 * events; `node long-session.ts open FOLDER` opens it and decides, and prints a JSON line with the ms that took. Process
 * start and the loading of code are not in it.
 */
import { join } from "node:path";
import type { SessionEvent } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol";
import { decide } from "@holdfast/runtime";
import { openDriver } from "@holdfast/runtime/drive/open";
import { flush, stage } from "@holdfast/runtime/drive/driver";
import { defaultConfig, defaultLimits, openHost } from "holdfast";

const [, , mode, folder = "", events = "0", window = "0"] = process.argv;
const root = join(folder, "workspace");
const options = { home: join(folder, "home"), isEphemeral: false, config: defaultConfig, onWait: tell, onNote: tell, env: process.env };
const host = await openHost(options, { cwd: root, roots: [{ id: "r1", path: root }] });
if (mode === "make") await make(Number(events), Number(window));
else await open();
await host.close();

async function make(count: number, windowEvents: number): Promise<void> {
  const session = await host.runtime.createSession(host.ports, {
    roots: [{ id: "r1", path: root }],
    cwd: root,
    title: "long",
    checks: [],
    settings: {
      model: "openai/bench",
      effort: null,
      sandbox: "off",
      network: "none",
      isTrusted: false,
      approvals: "allow",
      limits: defaultLimits,
      takesBaseline: false,
      acceptCheckChanges: [],
    },
  });
  const driver = await openDriver(host.ports, session, { waiting: "return" });
  const message = { kind: "user_message" as const, id: "m1", trust: "user" as const, parts: [{ type: "text" as const, text: "go on" }] };
  stage(driver, [{ type: "turn.started", payload: { turnId: "t1", message } }]);
  await flush(driver);
  while (driver.head.seq < count) {
    // Commits of a hundred events: writing them is not what is measured.
    for (let left = Math.min(100, count - driver.head.seq); left > 0; left -= 2) stage(driver, sampling(driver.head.seq + left));
    if (driver.head.windowStart === 1 && driver.head.seq >= count - windowEvents) {
      driver.head = { ...driver.head, windowStart: driver.head.seq + 1 };
    }
    await flush(driver);
  }
}

/** An answer of a usual size. */
function sampling(n: number): SessionEvent[] {
  const samplingId = `smp_${n}`;
  const text = `answer ${n} `.repeat(40);
  return [
    { type: "sampling.intended", payload: { samplingId, step: n } },
    {
      type: "sampling.settled",
      payload: { samplingId, items: [{ kind: "assistant_message", id: `m${n}`, text }], usage: noUsage, cost: null, finish: "stop" },
    },
  ];
}

async function open(): Promise<void> {
  const [row] = await host.ports.log.list({ limit: 1 });
  const begun = performance.now();
  const driver = await openDriver(host.ports, row?.session ?? "", { waiting: "return" });
  decide(driver, host.ports.clock.now());
  process.stdout.write(`${JSON.stringify({ ms: performance.now() - begun, events: driver.head.seq })}\n`);
}

function tell(message: string): void {
  process.stderr.write(`${message}\n`);
}
