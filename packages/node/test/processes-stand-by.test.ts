import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { makePlace, processesAt, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

const place = makePlace();
const made: ReturnType<typeof processesAt>[] = [];
const open = () => {
  const processes = processesAt(place);
  made.push(processes);
  return processes;
};
afterEach(async () => {
  for (const processes of made.splice(0)) {
    await processes.endSession("session", { forget: true });
    await processes.close();
  }
});
afterAll(() => rmSync(place.base, { recursive: true, force: true }));

/** The shells that stand by for us. */
function shells(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1] === String(process.pid);
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("stand-by.sh");
      } catch {
        return false;
      }
    });
}

it("one shell wraps all commands, and is gone once it is closed", async () => {
  const processes = open();
  for (let n = 0; n < 3; n += 1) expect((await runToEnd(processes, specFor(place, `echo ${n}`))).text).toBe(`${n}\n`);
  expect(shells()).toHaveLength(1);
  await processes.close();
  expect(shells()).toEqual([]);
  expect((await runToEnd(processes, specFor(place, "echo again"))).text).toBe("again\n");
  await processes.close();
});

it("where it is killed, what runs goes on to its end, and the next command finds another", async () => {
  const processes = open();
  const spec = specFor(place, "echo begun; sleep 0.3; echo done; exit 3");
  const running = await processes.start(spec);
  await untilOutput(processes, running.ref, "begun");
  for (const pid of shells()) process.kill(pid, "SIGKILL");
  expect(await running.ended).toMatchObject({ end: { type: "exited", exitCode: 3 } });
  expect((await runToEnd(processes, specFor(place, "echo next"))).text).toBe("next\n");
  expect(shells()).toHaveLength(1);
});

it("nothing that is written in a shell's language is taken for it", async () => {
  const processes = open();
  const value = "it's $HOME `id` \\ \"quoted\"\n$(id) ';exit 9;'";
  const command = `printf '%s' "$GIVEN"; printf '%s' \\'\n`;
  expect(await runToEnd(processes, specFor(place, command, { env: { GIVEN: value } }))).toMatchObject({ text: `${value}'` });
});

it("a command has the same environment as one that a shell of its own wraps", async () => {
  const processes = open();
  const environmentWith = async (env: Record<string, string>): Promise<string[]> => {
    const { text } = await runToEnd(processes, specFor(place, "env -0", { env }));
    return text
      .split("\0")
      .filter((line) => !/^(HOLDFAST_RUN|_|ODD\.NAME)=/.test(line))
      .toSorted();
  };
  const byItself = await environmentWith({ GIVEN: "1", "ODD.NAME": "no name for a shell" });
  expect(shells()).toEqual([]);
  expect(await environmentWith({ GIVEN: "1" })).toEqual(byItself);
  expect(shells()).toHaveLength(1);
});

it("what the shell was told is not left behind", async () => {
  const processes = open();
  const spec = specFor(place, "true", { env: { GIVEN: "to nobody else" } });
  await runToEnd(processes, spec);
  expect(readdirSync(join(place.home, "commands/session/runs", spec.id, "1")).filter((name) => name.startsWith("request"))).toEqual([]);
});
