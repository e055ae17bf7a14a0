// Commands as a user who is not root. Arguments: a folder that is this user's, the folder of the wrapper's scripts.
// Prints one JSON line with what each came to.
import { join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import { runToEnd, specFor } from "./processes-fixture.ts";

const [base = "", scripts = ""] = process.argv.slice(2);
const place = { base, home: join(base, ".holdfast"), workspace: join(base, "project"), userHome: base };
const options = { home: place.home, userHome: base, scripts, resolve: async () => ["127.0.0.1"] };
const processes = createProcesses(options);
const mode = "workspace-write";
const run = async (command: string, more: Parameters<typeof specFor>[2] = {}) =>
  (await runToEnd(processes, specFor(place, command, { ...more, confinement: { mode, ...more.confinement } }))).text;

const problem = await processes.sandboxProblem();
const plain = await run(
  "id -u; touch in && echo in; touch ../out 2>/dev/null || echo refused; cat ../.ssh/key; grep -E '^Cap(Eff|Prm)' /proc/self/status; ls /proc | grep -c '^[0-9]'",
);
const commit = await run(
  "git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m one && git log --oneline | wc -l; echo x > .git/hooks/pre-commit",
);
const kept = await run(
  "mkdir -p .vscode .config/mise; echo evil | tee .vscode/tasks.json >.config/mise/config.toml; chmod 555 .vscode .config/mise .config",
);
const server = await processes.start(
  specFor(place, "socat TCP-LISTEN:8123,bind=127.0.0.1,fork SYSTEM:'echo DEV'", { confinement: { mode } }),
);
const shared = await run("for i in $(seq 100); do socat - TCP:127.0.0.1:8123 </dev/null 2>/dev/null && break; sleep 0.05; done");
await server.stop();
const listed = await run(
  "echo ${HTTP_PROXY%%:*}; printf 'GET http://bad.test/ HTTP/1.0\\r\\n\\r\\n' | socat -,ignoreeof TCP:127.0.0.1:17653 | head -1",
  {
    confinement: { network: ["good.test"] },
  },
);
const stray = await processes.start(
  specFor(place, "trap '' TERM; setsid sleep 300 & echo up; sleep 300", { confinement: { mode }, timeoutMs: 300 }),
);
const { end } = await stray.ended;
const off = await run("setsid sleep 300 >/dev/null 2>&1 & echo off; kill -9 $$", { confinement: { mode: "off" } });
await processes.endSession("session", { forget: true });
console.log(JSON.stringify({ problem, plain, commit, kept, shared, listed, end, off }));
