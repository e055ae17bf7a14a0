import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { findProgram } from "@holdfast/node/sandbox/programs";
import { makePlace, ownEnvironment, processesAt, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

const place = makePlace();
let processes: Processes;
let server: Server;
let port = 0;
/** Host header and path of each request that reached the server on the machine's own loopback. */
const reached: string[] = [];

const node = `'${process.execPath}'`;
const fetchScript = (url: string) =>
  `${node} -e 'fetch("${url}").then(async (r) => console.log(r.status, (await r.text()).trim()), (e) => console.log("failed", e.cause?.code ?? e.message))'`;
const run = (command: string, options: Parameters<typeof specFor>[2] = {}) =>
  runToEnd(processes, specFor(place, command, { ...options, confinement: { mode: "workspace-write", ...options.confinement } }));

/** For shell lines that talk to the proxy themselves: the command's own pass as a header, and bytes sent as they are. */
const auth = `Proxy-Authorization: Basic '"$AUTH"'\\r\\n`;
const readPass = `AUTH=$(printf '%s' "$HTTP_PROXY" | sed 's,http://,,; s,@.*,,' | tr -d '\\n' | base64 -w0)`;
const raw = (bytes: string) => `printf '${bytes}' | timeout 5 socat -,ignoreeof TCP:127.0.0.1:17653 2>&1 | head -c 300; echo`;

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

beforeAll(async () => {
  // Both names lead to this machine: only the list tells them apart.
  processes = processesAt(place, { resolve: async () => ["127.0.0.1"] });
  server = createServer((request, response) => {
    reached.push(`${request.headers.host} ${request.url}`);
    response.end("SERVED");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await processes.endSession("session", { forget: true });
  server.closeAllConnections();
  server.close();
  rmSync(place.base, { recursive: true, force: true });
});

describe("without a network", () => {
  it("nothing outside is reached, loopback of the machine included (B04)", async () => {
    const { text } = await run(
      `${fetchScript(`http://127.0.0.1:${port}/`)}; (exec 9<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo OPEN; tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/route | wc -l`,
    );
    expect(text).toMatch(/^failed ECONNREFUSED\n *lo\n1\n$/);
    expect(reached).toEqual([]);
  });

  it("commands of one session reach each other, a check is alone", async () => {
    const script = `${node} -e 'require("http").createServer((q, s) => s.end("DEV")).listen(8123, "127.0.0.1", () => console.log("up"))'`;
    const dev = await processes.start(specFor(place, script, { confinement: { mode: "workspace-write" } }));
    await untilOutput(processes, dev.ref, "up");
    expect((await run(fetchScript("http://127.0.0.1:8123/"))).text).toBe("200 DEV\n");
    expect((await run(fetchScript("http://127.0.0.1:8123/"), { confinement: { purpose: "check" } })).text).toBe("failed ECONNREFUSED\n");
    expect((await run(fetchScript("http://127.0.0.1:8123/"), { session: "another" })).text).toBe("failed ECONNREFUSED\n");
    await processes.endSession("another", { forget: true });
    await dev.stop();
  });

  it("a bridge ends with its holder, and a holder whose record is gone goes by itself", { timeout: 30_000 }, async () => {
    const folder = join(place.home, "commands/lost/network");
    const running = await processes.start(
      specFor(place, "sleep 0.1", { session: "lost", confinement: { mode: "workspace-write", network: ["example.org"] } }),
    );
    await running.ended;
    const pids = ["holder", "bridge"].map((name) => Number(readFileSync(join(folder, name), "utf8").split(" ")[0]));
    for (const pid of pids) expect(existsSync(`/proc/${pid}`)).toBe(true);
    rmSync(join(place.home, "commands/lost"), { recursive: true });
    for (let look = 0; look < 2_000 && pids.some((pid) => existsSync(`/proc/${pid}`)); look += 1) await sleep(20);
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  it("a holder whose starter is killed before bubblewrap has begun leaves no process", { timeout: 60_000 }, async () => {
    const folder = join(place.base, "killed-starter");
    // Bubblewrap begins when its starter is dead.
    const alone = [findProgram("bash", process.env["PATH"]), "-c", 'while kill -0 "$0" 2>/dev/null; do sleep 0.01; done; exec "$@"'];
    const programs = { bwrap: findProgram("bwrap", process.env["PATH"]), nsenter: "nsenter", socat: null };
    const source = `
      import { joinNamespace } from ${JSON.stringify(fileURLToPath(new URL("../src/sandbox/namespace.ts", import.meta.url)))};
      const alone = [...${JSON.stringify(alone)}, String(process.pid)];
      void joinNamespace(${JSON.stringify(folder)}, ${JSON.stringify(place.base)}, { ...${JSON.stringify(programs)}, alone }, null);
      setTimeout(() => process.kill(process.pid, "SIGKILL"), 100);`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "ignore" });
    await once(starter, "close");
    expect(starter.signalCode).toBe("SIGKILL");
    const left = () =>
      readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid) && commandLine(pid).includes(folder));
    expect(left()).not.toEqual([]);
    for (let look = 0; look < 1_000 && left().length > 0; look += 1) await sleep(20);
    expect(left().map(commandLine)).toEqual([]);
  });

  it("a holder goes by itself where who used the session is dead and nothing of it runs", { timeout: 60_000 }, async () => {
    const dead = { pid: 4_000_000, startTime: "1", bootId: "gone" };
    const confinement = { mode: "workspace-write" } as const;
    const holderOf = (session: string) =>
      Number(readFileSync(join(place.home, "commands", session, "network/holder"), "utf8").split(" ")[0]);
    for (const session of ["idle", "busy", "orphaned"]) await runToEnd(processes, specFor(place, "true", { session, confinement }));
    const busy = await processes.start(specFor(place, "sleep 300", { session: "busy", confinement, timeoutMs: 300_000 }));
    const [idle, orphaned, kept] = [holderOf("idle"), holderOf("orphaned"), holderOf("busy")];
    for (const session of ["orphaned", "busy"]) writeFileSync(join(place.home, "commands", session, "owner"), JSON.stringify(dead));
    const gone = async (pid: number) => {
      for (let look = 0; look < 2_000 && existsSync(`/proc/${pid}`); look += 1) await sleep(20);
      return !existsSync(`/proc/${pid}`);
    };
    expect(await gone(orphaned)).toBe(true);
    // They are older than the one that went: each has looked at least once.
    expect([idle, kept].map((pid) => existsSync(`/proc/${pid}`))).toEqual([true, true]);
    await busy.stop();
    await busy.ended;
    expect(await gone(kept)).toBe(true);
    expect(existsSync(`/proc/${idle}`)).toBe(true);
    await processes.endSession("idle", { forget: true });
  });

  it("a session whose namespace holder is gone gets a new one", async () => {
    const holder = join(place.home, "commands/session/network/holder");
    await run("true");
    process.kill(Number(readFileSync(holder, "utf8").split(" ")[0]), "SIGKILL");
    for (let look = 0; look < 100 && existsSync(`/proc/${readFileSync(holder, "utf8").split(" ")[0]}`); look += 1)
      await run("sleep 0.01", { confinement: { purpose: "check" } });
    expect((await run("echo on")).text).toBe("on\n");
  });
});

describe("a holder that ends between the look at it and the start", () => {
  it("is replaced: the command runs, or where its wrapper joins by itself, the next one", async () => {
    const bin = join(place.base, "bin");
    mkdirSync(bin);
    // Kills once whom it is to join, so that it comes too late.
    const kill = `[ -e ${bin}/done ] || { : >${bin}/done; pid=\${1#--net=/proc/} pid=\${pid%%/*}; kill -9 "$pid"; while [ -e /proc/$pid ] && ! grep -q ' Z ' /proc/$pid/stat; do :; done; }`;
    writeFileSync(join(bin, "nsenter"), `#!/bin/bash\n${kill}\nexec ${findProgram("nsenter", process.env["PATH"] ?? "")} "$@"\n`, {
      mode: 0o755,
    });
    const own = processesAt(place, { environment: { ...ownEnvironment, PATH: `${bin}:${process.env["PATH"]}` } });
    const spec = () => specFor(place, "echo it ran", { session: "replaced", confinement: { mode: "workspace-write" } });
    const first = await runToEnd(own, spec());
    const isRoot = process.getuid?.() === 0;
    expect((isRoot ? first : await runToEnd(own, spec())).text).toBe("it ran\n");
    await own.endSession("replaced", { forget: true });
    await own.close();
  });
});

describe("with a list of hosts", () => {
  const allowed = ["good.test", "127.0.0.1:1"];
  const confinement = { network: allowed };

  it("a named host is reached through the proxy, any other is not, whatever way it is asked (B03)", async () => {
    // Loopback stands for the internet here, so it must be an entry itself, for this server's port.
    const list = { network: [`good.test:${port}`, `127.0.0.1:${port}`] };
    reached.length = 0;
    expect((await run(fetchScript(`http://good.test:${port}/one`), { confinement: list })).text).toBe("200 SERVED\n");
    expect((await run(fetchScript(`http://good.test:${port}/two`), { confinement: { ...list, purpose: "check" } })).text).toBe(
      "200 SERVED\n",
    );
    expect(reached).toEqual([`good.test:${port} /one`, `good.test:${port} /two`]);
    reached.length = 0;
    const { text } = await run(
      `${readPass}
      ${raw(`GET http://bad.test:${port}/?CANARY HTTP/1.1\\r\\nHost: good.test\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}
      ${raw(`CONNECT bad.test:${port} HTTP/1.1\\r\\nHost: good.test\\r\\n${auth}\\r\\n`)}
      ${raw(`GET http://BAD.test.:${port}/ HTTP/1.1\\r\\nHost: BAD.test.\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}
      ${raw(`GET /relative HTTP/1.1\\r\\nHost: good.test\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}
      ${raw(`\\005\\001\\000`)}
      ${raw(`GET http://good.test:${port}/nopass HTTP/1.1\\r\\nHost: good.test\\r\\nConnection: close\\r\\n\\r\\n`)}
      ${raw(`GET http://good.test:${port}/kept HTTP/1.1\\r\\nHost: bad.test\\r\\n${auth}\\r\\nGET http://bad.test:${port}/second HTTP/1.1\\r\\nHost: good.test\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}`,
      { confinement: list },
    );
    expect(reached).toEqual([`good.test:${port} /kept`]);
    expect(text.match(/HTTP\/1.1 403/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it("a tunnel reaches a named host, and who ignores the proxy reaches nothing (B04)", async () => {
    const list = { network: [`good.test:${port}`, `127.0.0.1:${port}`] };
    reached.length = 0;
    const tunnel = `${readPass}
      (printf 'CONNECT good.test:${port} HTTP/1.1\\r\\nHost: x\\r\\nProxy-Authorization: Basic '"$AUTH"'\\r\\n\\r\\n'; sleep 0.1; printf 'GET /tunnel HTTP/1.0\\r\\n\\r\\n') | timeout 5 socat -,ignoreeof TCP:127.0.0.1:17653`;
    expect((await run(tunnel, { confinement: list })).text).toMatch(/200 Connection established[^]*SERVED$/);
    const direct = await run(
      `unset HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY NODE_USE_ENV_PROXY; ${fetchScript(`http://127.0.0.1:${port}/direct`)}`,
      { confinement: list },
    );
    expect(direct.text).toBe("failed ECONNREFUSED\n");
    expect(reached.map((line) => line.split(" ")[1])).toEqual(["/tunnel"]);
  });

  it("a host that leads inside is refused although it is named", async () => {
    reached.length = 0;
    const { text } = await run(
      `${readPass}\n${raw(`GET http://good.test:${port}/ HTTP/1.1\\r\\nHost: x\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}`,
      { confinement },
    );
    expect(text).toMatch(/403 Forbidden[^]*holdfast: good.test leads to an address inside/);
    expect(reached).toEqual([]);
  });

  it("a command that outlives its starter reaches its hosts again through whoever attaches", async () => {
    const list = [`good.test:${port}`, `127.0.0.1:${port}`];
    const script = `${readPass}; echo up; until (${raw(`GET http://good.test:${port}/later HTTP/1.1\\r\\nHost: x\\r\\n${auth}Connection: close\\r\\n\\r\\n`)}) | grep SERVED; do sleep 0.05; done`;
    const spec = specFor(place, script, { session: "outlives", confinement: { mode: "workspace-write", network: list } });
    const starter = fileURLToPath(new URL("./processes-starter.ts", import.meta.url));
    // It resolves by DNS, where there is no such name: only the one that attaches can reach it.
    const child = spawn(process.execPath, [starter, JSON.stringify({ home: place.home, userHome: place.userHome }), JSON.stringify(spec)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((done) => child.stdout.once("data", done));
    await untilOutput(processes, `outlives/${spec.id}/1`, "up");
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
    const running = await processes.attach("outlives", spec.id, 1);
    expect((await running.ended).end).toEqual({ type: "exited", exitCode: 0 });
    expect(await untilOutput(processes, running.ref, "SERVED")).toContain("SERVED");
    await processes.endSession("outlives", { forget: true });
  });

  it("an approval adds its hosts to that command alone", async () => {
    const scope = { network: [`good.test:${port}`, `127.0.0.1:${port}`] };
    const wide = await run(`${fetchScript(`http://good.test:${port}/`)}`, { confinement: { scope } });
    expect(wide.text).toBe("200 SERVED\n");
    const plain = await run(`echo "[$HTTP_PROXY]"; ${fetchScript(`http://good.test:${port}/`)}`);
    expect(plain.text).toMatch(/^\[\]\nfailed /);
  });
});

describe("with all of the network", () => {
  it("every host is reached through the proxy, but none inside: the machine's loopback and its metadata only where they are named", async () => {
    const get = (host: string): string => `curl -sS http://${host}:${port}/ 2>&1; echo; `;
    reached.length = 0;
    const open = await run(`${get("127.0.0.1")}${get("any.test")}${get("169.254.169.254")}${get("2130706433")}`, {
      confinement: { network: "all" },
    });
    expect(open.text).toMatch(/^curl: .*Failed to connect.*\n\n(?:holdfast: .* leads to an address inside .*\n\n){2}curl: .*Failed/);
    expect(reached).toEqual([]);
    const named = await run(get("any.test"), { confinement: { network: ["all", `127.0.0.1:${port}`] } });
    expect(named.text).toBe("SERVED\n");
    const approved = await run(get("any.test"), { confinement: { network: [`127.0.0.1:${port}`], scope: { network: "all" } } });
    expect(approved.text).toBe("SERVED\n");
  });
});

describe("a machine that can't confine commands", () => {
  it("says what to install, refuses to run them confined, and runs them unconfined", async () => {
    const programs = join(place.base, "programs");
    mkdirSync(programs);
    for (const name of ["bash", "cat", "sleep", "grep"]) symlinkSync(findProgram(name) ?? "", join(programs, name));
    const bare = processesAt(place, { environment: { ...process.env, PATH: programs } });
    expect(await bare.sandboxProblem()).toMatch(/bubblewrap is not installed.*apt-get install bubblewrap/);
    await expect(bare.start(specFor(place, "echo hi", { confinement: { mode: "read-only" } }))).rejects.toMatchObject({
      code: "sandbox_unavailable",
    });
    expect((await runToEnd(bare, specFor(place, "echo hi"))).text).toBe("hi\n");
  });
});

it("a proxy that can't be opened is tried again by the next command, and keeps no session from being ended", async () => {
  const own = makePlace();
  const there = processesAt(own);
  try {
    const folder = join(own.home, "commands", "session", "network");
    const socket = join(own.home, "commands", "sockets", `${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.sock`);
    const wanted = { confinement: { mode: "workspace-write" as const, network: ["example.org"] } };
    mkdirSync(socket, { recursive: true });
    await expect(there.start(specFor(own, "true", wanted))).rejects.toThrow();
    await there.endSession("session", { forget: false });
    await expect(there.start(specFor(own, "true", wanted))).rejects.toThrow();
    rmSync(socket, { recursive: true });
    expect((await runToEnd(there, specFor(own, "echo fine", wanted))).text).toBe("fine\n");
  } finally {
    await there.endSession("session", { forget: true });
    rmSync(own.base, { recursive: true, force: true });
  }
});
