import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { isUnclear } from "../src/session/clarify.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";
import { fakeTerminal } from "./fake-terminal.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-clarify-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const terminal = () => fakeTerminal(folder);
const piped = (input: string) => fakeIo({ cwd: folder, home: join(folder, "home"), env: { OPENAI_API_KEY: "k" }, input });
const model = ["--model", "openai/x"];

describe("a new session's words that leave open what is to be done", () => {
  const saidTo = async (hosts: ReturnType<typeof fakeHosts>) => {
    const [row] = await hosts.log.list({});
    return (await hosts.log.read(row?.session ?? "", 1)).flatMap(
      ({ payload }) => payload?.match(/(?<="type":"text","text":)"[^"]*"/g)?.map((text) => JSON.parse(text) as string) ?? [],
    );
  };

  test("are asked about once, before any work, in line mode and by exec with --approvals ask", async () => {
    for (const isExec of [false, true]) {
      const { io: all, type, until } = terminal();
      const io = { ...all, stderr: { ...all.stdout, write: all.stdout.write } };
      const hosts = fakeHosts({ script: [{ text: "done", repeat: 9 }] });
      const ended = main(isExec ? ["exec", ...model, "--approvals", "ask", "Please fix it."] : model, io, hosts);
      if (!isExec) {
        await until("› ");
        type("Please fix it.\r");
      }
      await until("What exactly");
      await until("? ");
      type("the login takes no capitals\r");
      await until("done");
      if (!isExec) {
        await until("› ");
        type("make it better\r");
        await until("done");
        await until("› ");
        type("/quit\r");
      }
      await ended;
      const said = await saidTo(hosts);
      expect(said[0]).toBe("Please fix it.\n\nAsked what exactly, before any work: the login takes no capitals");
      // A later turn has what came before it.
      if (!isExec) expect(said[1]).toBe("make it better");
    }
  });

  test("are taken as they are where the person says no more, where a check frames them, and where nobody is there", async () => {
    const { io: all, type, until } = terminal();
    const io = { ...all, stderr: { ...all.stdout, write: all.stdout.write } };
    const hosts = fakeHosts({ script: [{ text: "done", repeat: 9 }] });
    const ended = main(["exec", ...model, "--approvals", "ask", "fix it"], io, hosts);
    await until("? ");
    type("\r");
    expect(await ended).toBe(0);
    const framed = fakeHosts({ script: [{ text: "done", repeat: 9 }] });
    await main(["exec", ...model, "--approvals", "ask", "--check", "true", "fix it"], io, framed);
    const alone = fakeHosts({ script: [{ text: "done", repeat: 9 }] });
    await main(["exec", ...model, "fix it"], piped(""), alone);
    for (const each of [hosts, framed, alone]) expect(await saidTo(each)).toEqual(["fix it"]);
  });

  test.each([
    ["fix it", true],
    ["Could you make the code better, please?", true],
    ["it doesn't work", false],
    ["fix the login", false],
    ["improve src/sum.sh", false],
    ["fix issue 12", false],
    ["mach es besser", false],
    ["", false],
    ["?", false],
  ])("%j: %j", (text, isOpen) => {
    expect(isUnclear(text)).toBe(isOpen);
  });
});
