import { join } from "node:path";
import { HoldfastError, type CallPlan } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { bench, fake, folder, notesOf, program, until } from "./bench.ts";

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const answer = (text: string) => ({ do: "answer", result: { content: [{ type: "text", text }] } }) as const;

describe("the plan of a call", () => {
  const planOf = async (name: string, setting = {}, confined = false) => {
    const read = { annotations: { readOnlyHint: true, idempotentHint: true } };
    const at = bench([fake("s", { tools: [tool("read", read), tool("write")] }, setting)], { confined });
    return (await at.plan(`mcp__s__${name}`, { b: 1 })) as CallPlan;
  };

  test("takes a server's word about itself for nothing but the order of calls", async () => {
    expect(await planOf("read")).toMatchObject({
      replay: "never",
      reads: ["mcp:s"],
      writes: [],
      workspace: "shared",
      changesWorkspace: true,
    });
    expect(await planOf("write")).toMatchObject({
      replay: "never",
      reads: [],
      writes: ["mcp:s"],
      workspace: "exclusive",
      changesWorkspace: true,
    });
    expect(await planOf("write")).toMatchObject({ summary: 's: write {"b":1}', mcp: { server: "s", tool: "write" } });
  });

  test("takes the user's word", async () => {
    expect(await planOf("write", { safe: ["wr*"] })).toMatchObject({ replay: "safe", reads: ["mcp:s"], changesWorkspace: false });
    expect(await planOf("write", { keyed: { write: "request_id" } })).toMatchObject({ replay: "keyed", writes: ["mcp:s"] });
  });

  test("refuses an input that is no object, and a disabled server has no tools", async () => {
    const at = bench([fake("s", {}), fake("off", {}, { isEnabled: false })]);
    expect(await at.plan("mcp__s__echo", [1])).toMatchObject({ type: "refused" });
    expect(at.source.get("mcp__off__echo")).toBeNull();
    expect(at.source.get("mcp__unknown__echo")).toBeNull();
    expect(at.source.get("run_command")).toBeNull();
  });
});

test("the config picks tools by patterns", async () => {
  const tools = ["read_a", "read_b", "write_a", "drop"].map((name) => tool(name));
  const at = bench([fake("s", { tools }, { tools: ["read_*", "*_a"], disabledTools: ["read_b"] })]);
  await at.start();
  expect(at.source.specs.map((spec) => spec.name)).toEqual(["mcp__s__read_a", "mcp__s__write_a"]);
});

test("a key goes to the argument that the config names, and into no digest", async () => {
  const at = bench([fake("s", { tools: [tool("pay")] }, { keyed: { pay: "request_id" } })]);
  const plan = (await at.plan("mcp__s__pay", { amount: 3 })) as CallPlan;
  expect(plan.input).toEqual({ amount: 3 });
  expect((await at.run("mcp__s__pay", plan)).text).toBe('{"amount":3,"request_id":"key-of-the-call"}');
});

describe("a call without an answer", () => {
  test("is unknown after its timeout, and the server is told that nobody waits", async () => {
    const notes = join(folder(), "notes");
    const at = bench([fake("s", { tools: [tool("slow")], calls: { slow: [{ do: "hang" }] }, notes }, { toolTimeoutMs: 80 })]);
    await expect(at.call("mcp__s__slow")).rejects.toThrow("s gave no answer: Request timed out");
    await until(() => notesOf(notes).includes("cancelled"));
    // The server itself goes on.
    expect(at.source.servers[0]!.state().type).toBe("ready");
  });

  test("goes on as long as there is progress, which is shown", async () => {
    const calls = { slow: [{ do: "progress", every: 120, times: 5 } as const, { do: "wait", ms: 40 } as const, answer("at last")] };
    const at = bench([fake("s", { tools: [tool("slow")], calls }, { toolTimeoutMs: 450 })]);
    expect((await at.call("mcp__s__slow")).text).toBe("at last");
    expect(at.emitted).toEqual([1, 2, 3, 4].map((n) => `${n}/5 part ${n}\n`).concat("5/5 part 5\n"));
  });

  test("has an end also with progress", async () => {
    const calls = { slow: [{ do: "progress", every: 20, times: 500 } as const] };
    const at = bench([fake("s", { tools: [tool("slow")], calls }, { toolTimeoutMs: 40 })]);
    await expect(at.call("mcp__s__slow")).rejects.toThrow("gave no answer");
  });

  test("is unknown when its server dies", async () => {
    const at = bench([fake("s", { tools: [tool("die")], calls: { die: [{ do: "die" }] } })]);
    await expect(at.call("mcp__s__die")).rejects.toThrow("gave no answer");
  });

  test("is not called undone where it is asked again and its server isn't there", async () => {
    const at = bench([fake("s", { tools: [tool("pay")] }, { keyed: { pay: "request_id" } })]);
    const plan = (await at.plan("mcp__s__pay")) as CallPlan;
    const other = { ...plan, mcp: { ...plan.mcp!, definition: "as it was before" } };
    expect((await at.run("mcp__s__pay", other)).text).toContain("Nothing was done.");
    await expect(at.run("mcp__s__pay", other, undefined, { attempt: 2, isUncertain: true })).rejects.toThrow(
      "an earlier attempt had no answer",
    );
    await at.source.close();
    expect((await at.run("mcp__s__pay", plan)).text).toContain("Nothing was done.");
    await expect(at.run("mcp__s__pay", plan, undefined, { attempt: 2, isUncertain: true })).rejects.toThrow(
      "an earlier attempt had no answer",
    );
  });

  test("waits to be asked again until its server may be started again, however often that has ended", async () => {
    const at = bench([fake("s", { tools: [tool("die"), tool("pay")], calls: { die: [{ do: "die" }] } }, { keyed: { pay: "request_id" } })]);
    const plan = (await at.plan("mcp__s__pay")) as CallPlan;
    for (let died = 0; died < 2; died += 1) await expect(at.call("mcp__s__die")).rejects.toThrow("gave no answer");
    expect((await at.run("mcp__s__pay", plan)).text).toContain("Nothing was done.");
    const again = await at.run("mcp__s__pay", plan, undefined, { attempt: 2, isUncertain: true });
    expect(again).toMatchObject({ status: "completed", text: expect.stringContaining("key-of-the-call") as string });
  });

  test("is cancelled by an interrupt, and left alone by a driver that lets go", async () => {
    for (const reason of [new Error("interrupt"), new HoldfastError("stale_driver", "let go")]) {
      const notes = join(folder(), "notes");
      const at = bench([fake("s", { tools: [tool("slow")], calls: { slow: [{ do: "hang" }] }, notes })]);
      const quit = new AbortController();
      await at.start();
      const call = at.call("mcp__s__slow", {}, quit.signal);
      await until(() => notesOf(notes).includes("call slow {}"));
      quit.abort(reason);
      await expect(call).rejects.toThrow(reason.message);
      if (reason instanceof HoldfastError) expect(notesOf(notes)).not.toContain("cancelled");
      else await until(() => notesOf(notes).includes("cancelled"));
    }
  });
});

describe("a start", () => {
  test("goes well with servers that end, or stay silent, when they are asked for a newer protocol", async () => {
    const at = bench([fake("ends", { endsAtProbe: true }), fake("silent", { ignoresProbe: true }, { startupTimeoutMs: 4_000 })]);
    expect((await at.call("mcp__ends__echo")).status).toBe("completed");
    expect((await at.call("mcp__silent__echo")).status).toBe("completed");
  });

  test("that can't be says why, in one clean line", async () => {
    const at = bench([
      program("none", "/no/such/program", []),
      program("talks", "/bin/sh", ["-c", "printf '\\033[31mmodule not found\\n' >&2; exit 9"]),
      program("needs", "/bin/cat", [], {}, { TOKEN: "${NOT_SET_ANYWHERE}" }),
      { ...program("nowhere", "/bin/cat", []), target: { type: "stdio", command: "/bin/cat", args: [], env: {}, cwd: "gone" } },
    ]);
    await at.start();
    const [none, talks, needs, nowhere] = at.source.absent();
    expect(none).toContain("it ended with exit status 127");
    expect(talks).toContain("it ended with exit status 9: module not found;");
    expect(needs).toContain("needs the environment variable NOT_SET_ANYWHERE, which is not set");
    expect(nowhere).toContain("/gone is not there");
  });

  test("gives a server its folder, a few variables, and of the others only those that its config names", async () => {
    const show = `const { env } = process;
      const absent = ["OPENAI_API_KEY", "SSH_AUTH_SOCK", "HOME"].filter((name) => env[name] === undefined);
      process.stderr.write([env.TOKEN, env.MODE, "PATH" in env, process.cwd(), "missing:", ...absent].join(" ") + ";");
      process.exit(1)`;
    const config = program("s", process.execPath, ["-e", show], {}, { TOKEN: "Bearer ${SERVICE_KEY}", MODE: "${UNSET:-plain}" });
    const environment = { SERVICE_KEY: "service-key-1", OPENAI_API_KEY: "model-key-1", SSH_AUTH_SOCK: "/run/agent" };
    const at = bench([config], { environment });
    await at.start();
    const said = at.source.servers[0]!.state();
    if (said.type !== "failed") throw new Error(said.type);
    expect(said.reason).toContain("Bearer service-key-1 plain true");
    expect(said.reason).toContain(at.cwd);
    expect(said.reason).toContain("missing: OPENAI_API_KEY SSH_AUTH_SOCK;");
  });
});
