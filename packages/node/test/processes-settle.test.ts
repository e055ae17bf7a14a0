import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { markOf } from "@holdfast/node/processes/folders";
import { carriers, makePlace, processesAt, resultOf, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

const place = makePlace();
const secret = "a secret of many letters";
const processes = processesAt(place, { secrets: () => [secret] });
const confinement = { mode: "workspace-write" } as const;
afterAll(async () => {
  await processes.endSession("session", { forget: true });
  await processes.close();
  rmSync(place.base, { recursive: true, force: true });
});

describe("how a run ended", () => {
  it.each(["here", "elsewhere"])(
    "is what its exit record says, and its secrets go, whatever fails after it (followed from %s)",
    async (from) => {
      const spec = specFor(place, `echo '${secret}'; until [ -e ${from} ]; do sleep 0.05; done; exit 3`, { confinement });
      const started = await processes.start(spec);
      await untilOutput(processes, started.ref, secret);
      // What it was to be looked at for can't be read any more.
      writeFileSync(join(place.home, "commands/session/runs", spec.id, "1/links"), "{");
      const other = processesAt(place, { secrets: () => [secret] });
      const running = from === "here" ? started : await other.attach("session", spec.id, 1);
      writeFileSync(join(place.workspace, from), "");
      const { end, text } = await resultOf(processes, running.ref, await running.ended);
      expect(end).toEqual({ type: "exited", exitCode: 3 });
      expect(text).not.toContain(secret);
      expect(text).toMatch(/^\*+\nholdfast: could not look at the repositories that it named to git: /);
      await started.ended;
      await other.close();
    },
  );

  it.each(["SIGKILL", "SIGTERM"] as const)("says that output is missing where what stores it was ended by %s", async (signal) => {
    const spec = specFor(place, "echo words; sleep 60", { confinement });
    const running = await processes.start(spec);
    const isReader = (pid: number): boolean => readFileSync(`/proc/${pid}/comm`, "utf8") === "cat\n";
    let reader: number | undefined;
    while (reader === undefined) reader = (await carriers("HOLDFAST_WRAPPER", markOf(place.home, running.ref))).find(isReader);
    process.kill(reader, signal);
    expect(await resultOf(processes, running.ref, await running.ended)).toMatchObject({ end: { type: "unspooled" }, text: "words\n" });
  });

  it("is said by a note of a limit only where that is whole", async () => {
    const folder = join(place.home, "commands/session/runs/planted/1");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "start"), "run 1 1 boot 5.000 yes end\n");
    writeFileSync(join(folder, "exit"), "signalled 9 end\n");
    const recorded = async () => processes.record("session", "planted", 1);
    for (const text of ["", '{"limit":"dis', "null", "{}"]) {
      writeFileSync(join(folder, "limited"), text);
      expect(await recorded()).toMatchObject({ type: "ended", end: { type: "signalled", signal: "SIGKILL" } });
    }
    writeFileSync(join(folder, "limited"), '{"limit":"disk","max":1,"seen":0}');
    expect(await recorded()).toMatchObject({ type: "ended", end: { type: "limited", limit: "disk" } });
  });
});

it("a pipe where git's index was keeps neither that command nor the next from its end", async () => {
  execFileSync("git", ["init", "-q", place.workspace]);
  const first = await runToEnd(processes, specFor(place, `rm -f .git/index; mkfifo .git/index; echo '${secret}'`, { confinement }));
  expect([first.end, first.text]).toEqual([{ type: "exited", exitCode: 0 }, `${"*".repeat(secret.length)}\n`]);
  expect((await runToEnd(processes, specFor(place, "echo fine", { confinement }))).text).toBe("fine\n");
  expect(readFileSync(join(place.workspace, ".git/HEAD"), "utf8")).toMatch(/^ref: /);
});

describe("a secret that a command was given by a process that is gone", () => {
  it("is known to the one that takes the run over, and goes from its output; nothing of it is kept", async () => {
    const [token, plain] = ["a fresh token of many letters", "a value of many letters"];
    const env = { TOKEN: token, PLAIN: plain };
    const spec = specFor(place, 'echo "$TOKEN, $PLAIN"; until [ -e over ]; do sleep 0.05; done', { confinement, env });
    const options = { home: place.home, workspaceRoots: [place.workspace], userHome: place.userHome, secrets: [token] };
    const starter = fileURLToPath(new URL("./processes-starter.ts", import.meta.url));
    const elsewhere = spawn(process.execPath, [starter, JSON.stringify(options), JSON.stringify(spec)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(elsewhere.stdout, "data");
    elsewhere.kill("SIGKILL");
    await once(elsewhere, "exit");
    const told: string[] = [];
    const later = processesAt(place, { onSecret: (value) => told.push(value) });
    const running = await later.attach("session", spec.id, 1);
    expect(told).toEqual([token]);
    await untilOutput(later, running.ref, plain);
    writeFileSync(join(place.workspace, "over"), "");
    const { text } = await resultOf(later, running.ref, await running.ended);
    expect(text).toBe(`${"*".repeat(token.length)}, ${plain}\n`);
    const folder = join(place.home, "commands/session/runs", spec.id, "1");
    for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), "latin1")).not.toContain(token);
    await later.close();
  });
});

it("the secrets of a run that never started go with its claim", async () => {
  const folder = join(place.home, "commands/session/runs/unstarted/1");
  mkdirSync(folder, { recursive: true });
  for (const name of ["given", "request.1.1"]) writeFileSync(join(folder, name), secret);
  expect(await processes.revoke("session", "unstarted", 1)).toEqual({ taken: [] });
  expect(readdirSync(folder)).toEqual(["start"]);
});

describe("what a command made that would run later", () => {
  const made = join(place.workspace, ".envrc");
  const fileIn = (text: string): string => /moved \S+ out of the workspace, to (\S+): /.exec(text)?.[1] ?? "nowhere";

  it("is moved to where it can be found, and stays there when the session goes", async () => {
    const session = "another";
    const { text } = await runToEnd(processes, specFor(place, "echo 'perhaps mine' > .envrc", { confinement, session }));
    expect(existsSync(made)).toBe(false);
    expect(readFileSync(fileIn(text), "utf8")).toBe("perhaps mine\n");
    await processes.endSession(session, { forget: true });
    expect(existsSync(join(place.home, "commands", session))).toBe(false);
    expect(readFileSync(fileIn(text), "utf8")).toBe("perhaps mine\n");
  });

  it("goes also where the wrapper that was to see to it was ended by force, once", async () => {
    const spec = specFor(place, "mkdir .vscode; echo {} > .vscode/tasks.json; ln -s /etc .husky; echo made; sleep 60", { confinement });
    const running = await processes.start(spec);
    await untilOutput(processes, running.ref, "made");
    process.kill(running.owner.pid, "SIGKILL");
    const { end, text } = await resultOf(processes, running.ref, await running.ended);
    expect(end).toEqual({ type: "lost" });
    expect([".vscode", ".husky"].filter((name) => lstatSync(join(place.workspace, name), { throwIfNoEntry: false }))).toEqual([]);
    expect(text.match(/^holdfast: moved /gm)).toHaveLength(2);
    const [first = ""] = readdirSync(join(place.home, "removed", ...running.ref.split("/").toSpliced(1, 0, "runs")));
    expect(["1-.vscode", "1-.husky"]).toContain(first);
    mkdirSync(join(place.workspace, ".vscode"));
    await running.stop();
    await (
      await processesAt(place).attach("session", spec.id, 1)
    ).ended;
    expect(existsSync(join(place.workspace, ".vscode"))).toBe(true);
  });
});

describe("a session called like something of ours", () => {
  it("has a folder of its own, and its end takes nothing else away", async () => {
    for (const session of ["bin", "blank"]) {
      const { text } = await runToEnd(processes, specFor(place, "echo fine", { confinement, session }));
      expect(text).toBe("fine\n");
      expect((await processes.remains(session)).bytes).toBeGreaterThan(0);
      await processes.endSession(session, { forget: true });
      expect(statSync(join(place.home, "commands/blank")).isFile()).toBe(true);
    }
  });
});

it("a check that can't be started leaves no network behind", async () => {
  const spec = specFor(place, "echo fine", { confinement: { ...confinement, network: ["localhost"], purpose: "check" } });
  const folder = join(place.home, "commands/session/runs", spec.id, "1");
  // Where the repositories are noted there is a folder.
  mkdirSync(join(folder, "links"), { recursive: true });
  await expect(processes.start(spec)).rejects.toMatchObject({ code: "EISDIR" });
  expect(existsSync(join(folder, "network"))).toBe(true);
  expect(readdirSync(join(folder, "network"))).toEqual([]);
});
