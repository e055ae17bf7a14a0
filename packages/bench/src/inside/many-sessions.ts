/**
 * Many sessions at once in this process, over one store: `node many-sessions.ts FOLDER SESSIONS` with the model at
 * OPENAI_BASE_URL. Prints a JSON line.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultConfig, defaultLimits, openHost } from "holdfast";

const [, , folder = "", sessions = "0"] = process.argv;
const root = join(folder, "workspace");
mkdirSync(root, { recursive: true });
writeFileSync(join(root, "notes.txt"), "a line\n".repeat(40));
const options = {
  home: join(folder, "home"),
  isEphemeral: false,
  config: defaultConfig,
  onWait: () => {},
  onNote: () => {},
  env: process.env,
};
const roots = [{ id: "r1", path: root }];
const host = await openHost(options, { cwd: root, roots });
const { runtime } = host;
let commits = 0;
const log = new Proxy(host.ports.log, {
  get(target, name: keyof typeof host.ports.log) {
    if (name === "commit") commits += 1;
    return target[name].bind(target);
  },
});
const ports = { ...host.ports, log };
const idleMb = process.memoryUsage.rss() / 2 ** 20;
const begun = performance.now();
const ends = await Promise.all(
  Array.from({ length: Number(sessions) }, async (_, n) => {
    const session = await runtime.createSession(ports, {
      roots,
      cwd: root,
      title: `session ${n}`,
      checks: [],
      settings: {
        model: "openai/bench",
        effort: null,
        sandbox: "workspace-write",
        network: "none",
        isTrusted: false,
        approvals: "allow",
        limits: defaultLimits,
        takesBaseline: false,
        acceptCheckChanges: [],
      },
    });
    await runtime.post(ports, session, { type: "input.send", parts: [{ type: "text", text: "go" }] });
    return await runtime.drive(ports, session, { waiting: "return" });
  }),
);
const ms = performance.now() - begun;
await host.close();
const ended = ends.filter(({ standing }) => standing === "unverified" || standing === "verified").length;
process.stdout.write(
  `${JSON.stringify({ ended, ms, commits, mbEach: (process.resourceUsage().maxRSS / 1024 - idleMb) / Number(sessions) })}\n`,
);
process.exit();
