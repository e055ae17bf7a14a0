import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { HoldfastError } from "@holdfast/protocol";
import { afterEach, describe, expect, it } from "vitest";
import type { DriveEnd, Ports, SandboxLife } from "../src/index.ts";
import { answerApproval, drive, post, readSession } from "../src/index.ts";
import type { SandboxProvider } from "../src/sandbox/from-recipe.ts";
import { sandboxFromRecipe } from "../src/sandbox/from-recipe.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, say } from "./kit.ts";

const hour = 3_600_000;
const day = 24 * hour;
type Moment = "create" | "restore" | "install" | "save" | "prolong" | "digest" | "give" | "before a call" | "in a call";

/** Sandboxes far away: real folders and processes, each gone for good once it is recycled. Each lies in another folder. */
function createRemote(now: () => number) {
  const base = mkdtempSync(join(tmpdir(), "holdfast-remote-"));
  const ends = new Map<string, number>();
  const started: string[] = [];
  let [canProlong, recycleAt]: [boolean, Moment | null] = [true, null];
  const recycle = (id: string): void => {
    ends.set(id, 0);
    rmSync(join(base, id), { recursive: true, force: true });
  };
  const folder = (id: string): string => {
    if ((ends.get(id) ?? 0) <= now()) {
      recycle(id);
      throw new HoldfastError("sandbox_lost", `${id} has ended`);
    }
    return join(base, id, "work");
  };
  const at = (moment: Moment, id: string): void => {
    if (recycleAt !== moment) return;
    recycleAt = null;
    recycle(id);
  };
  const life = (id: string): SandboxLife => ({ id, expiresAt: ends.get(id) ?? 0 });
  const digestOf = (root: string): string => {
    const hash = createHash("sha256");
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
      if (name.startsWith("deps")) continue;
      hash.update(`${name}\n${existsSync(join(root, name)) ? "" : "?"}`);
      try {
        hash.update(readFileSync(join(root, name)));
      } catch {
        hash.update("folder");
      }
    }
    return hash.digest("hex");
  };
  const run = async (id: string, line: string): Promise<{ exitCode: number; text: string }> => {
    const cwd = folder(id);
    if (line.startsWith("echo installed")) at("install", id);
    try {
      const { stdout } = await promisify(execFile)("sh", ["-c", line], { cwd, env: { PATH: process.env["PATH"] ?? "" } });
      if (line.startsWith("cat deps/ready")) at("in a call", id);
      folder(id);
      return { exitCode: 0, text: stdout };
    } catch (error) {
      folder(id);
      return { exitCode: 1, text: String(error) };
    }
  };
  const provider: SandboxProvider = {
    create: async () => {
      const id = `box-${started.length}`;
      started.push(id);
      ends.set(id, now() + hour);
      mkdirSync(join(base, id, "work"), { recursive: true });
      at("create", id);
      return life(id);
    },
    find: async (id) => ((ends.get(id) ?? 0) > now() ? life(id) : null),
    restore: async (id, snapshot) => {
      at("restore", id);
      cpSync(snapshot, folder(id), { recursive: true });
    },
    run,
    give: async (id, name) => {
      at("give", id);
      mkdirSync(join(folder(id), "..", "credentials"), { recursive: true });
      await run(id, `echo ${name} >../credentials/${name}`);
    },
    prolong: async (id) => {
      at("prolong", id);
      folder(id);
      if (!canProlong) return null;
      ends.set(id, now() + hour);
      return life(id);
    },
    save: async (id) => {
      at("save", id);
      const saved = join(base, `saved-${id}-${now()}`);
      cpSync(folder(id), saved, { recursive: true, filter: (path) => !path.endsWith("/deps") });
      return { snapshot: saved, subject: digestOf(saved) };
    },
    digest: async (id) => {
      at("digest", id);
      return digestOf(folder(id));
    },
  };
  return {
    base,
    provider,
    started,
    run,
    current: () => started.at(-1) ?? "",
    recycle,
    recycleAt: (moment: Moment) => (recycleAt = moment),
    meet: (moment: Moment, id: string) => at(moment, id),
    letExpire: () => (canProlong = false),
    read: (name: string) => readFileSync(join(folder(started.at(-1) ?? ""), name), "utf8"),
  };
}

const remotes: ReturnType<typeof createRemote>[] = [];
afterEach(() => {
  for (const { base } of remotes.splice(0)) rmSync(base, { recursive: true, force: true });
});

/** A session whose one tool appends a line to a file in its sandbox, where what the recipe installs has to be there. */
async function begin(
  lines: readonly string[],
  options: { readonly policy?: () => typeof allow; readonly secret?: () => number | null } = {},
) {
  let clock = (): number => 0;
  const remote = createRemote(() => clock());
  remotes.push(remote);
  const shell = createTestTool({
    name: "shell",
    replay: "never",
    exclusive: true,
    changesWorkspace: true,
    run: async ({ plan }) => {
      const { line } = plan.input as { line: string };
      remote.meet("before a call", remote.current());
      const { exitCode, text } = await remote.run(remote.current(), `cat deps/ready && ${line}`);
      return done(text.replaceAll(remote.base, "?"), exitCode === 0 ? {} : { status: "failed" });
    },
  });
  const model = createTestModel((index) => {
    const line = lines[index];
    return line === undefined || line === "" ? { text: "done" } : { calls: [{ name: "shell", input: { line } }] };
  });
  const world = createWorld({ tools: [shell], model, ...(options.policy === undefined ? {} : { policy: options.policy }) });
  clock = world.clock.now;
  const recipe = {
    install: ["echo installed >&2; mkdir -p deps && echo ready >deps/ready"],
    tools: ["sh", "cat"],
    credentials: options.secret === undefined ? [] : ["token"],
  };
  const secrets = {
    get: async () => ({ value: "v", expiresAt: options.secret?.() ?? null }),
    values: () => [],
  };
  const sandbox = sandboxFromRecipe(remote.provider, recipe, { secrets, clock: world.clock });
  const process = (pid: number): Ports => ({ ...portsOf(world, pid), sandbox });
  const session = await newSession(process(1));
  const goOn = async (text: string, pid = 1): Promise<DriveEnd> => {
    await post(process(pid), session, say(text));
    return drive(process(pid), session, { waiting: "return" });
  };
  const events = async (): Promise<string[]> =>
    (await readSession(process(1), session)).events.flatMap(({ type }) =>
      type.startsWith("sandbox.") ? [type.slice("sandbox.".length)] : [],
    );
  /** All that the model was sent. */
  const told = (): string => JSON.stringify(model.requests.at(-1)?.items);
  return { remote, world, process, session, goOn, events, told };
}

const append = (word: string): string => `echo ${word} >>notes`;

describe("the sandbox is not the session:", () => {
  it("it is opened at the first effect, kept alive while there is work, and saved before it is left alone", async () => {
    const { remote, world, goOn, events, told } = await begin([append("one"), append("two"), append("three")]);
    await goOn("go");
    expect(await events()).toEqual(["opened", "saved"]);
    expect(remote.read("notes")).toBe("one\ntwo\nthree\n");
    expect(told()).not.toContain("made again");
    // Near its end it is prolonged, at work again after a pause it is looked at; it stays the same one.
    world.clock.advance(hour - 60_000);
    await goOn("on");
    expect(remote.started).toEqual(["box-0"]);
  });

  it("three days later another has taken its place, with its files, what the recipe installs, and fresh credentials; the model is told", async () => {
    let expiresAt = 0;
    const place = await begin([append("one"), "", append("two"), ""], { secret: () => expiresAt });
    const { remote, world, goOn, events, told } = place;
    expiresAt = world.clock.now() + day;
    await goOn("go");
    world.clock.advance(3 * day);
    expiresAt = world.clock.now() + day;
    const end = await goOn("on", 2);
    expect(end.standing).toBe("unverified");
    expect(await events()).toEqual(["opened", "saved", "lost", "reconstituted", "saved"]);
    expect(remote.started).toEqual(["box-0", "box-1"]);
    expect(remote.read("notes")).toBe("one\ntwo\n");
    expect(remote.read("../credentials/token")).toBe("token\n");
    expect(told()).toMatch(/The sandbox that commands run in was made again\.\\n- Why: it has ended\.\\n- The workspace is as it was\./);
    // No path of either place is in what the model knows.
    expect(told()).not.toMatch(/box-\d|holdfast-remote/);
  });

  it("a call that waited three days for a person runs in the new one, and not before it is well", async () => {
    const review = { ...allow, decision: "review" as const };
    const place = await begin([append("one")], { policy: () => review });
    const { remote, world, process, session, goOn, events } = place;
    const first = await goOn("go");
    expect(first.standing).toBe("waiting");
    // Nothing has run yet: there is no sandbox that could get lost.
    expect(remote.started).toEqual([]);
    world.clock.advance(3 * day);
    await answerApproval(process(2), session, { approvalId: first.approvals[0]?.id ?? "", answer: "allow", by: "a test", note: "" });
    await drive(process(2), session, { waiting: "return" });
    expect(remote.read("notes")).toBe("one\n");
    expect(await events()).toEqual(["opened", "saved"]);
  });

  it.each(["create", "restore", "install", "digest", "give"] as const)(
    "one that ends again while it is made (%s) is made once more",
    async (moment) => {
      let now = (): number => 0;
      const { remote, world, goOn, events } = await begin([append("one"), "", append("two"), ""], { secret: () => now() + day });
      now = world.clock.now;
      await goOn("go");
      world.clock.advance(3 * day);
      remote.recycleAt(moment);
      const end = await goOn("on");
      expect(end.standing).toBe("unverified");
      expect(remote.started.length).toBeGreaterThan(2);
      expect(remote.read("notes")).toBe("one\ntwo\n");
      expect((await events()).filter((type) => type === "reconstituted")).toHaveLength(1);
    },
  );

  it("one that ends between its check and a call, or in a call, leaves that call in doubt; the next runs in another, and the model knows what is gone", async () => {
    for (const moment of ["before a call", "in a call"] as const) {
      const { remote, world, goOn, events, told } = await begin([append("one"), "", append("two"), append("three"), ""]);
      await goOn("go");
      world.clock.advance(10 * 60_000);
      remote.recycleAt(moment);
      await goOn("on");
      expect(await events()).toEqual(["opened", "saved", "checked", "lost", "lost", "reconstituted", "saved"]);
      expect(told()).toContain("may have happened");
      expect(told()).toContain("what was done since is gone");
      expect(remote.read("notes")).toBe("one\nthree\n");
    }
  });

  it("one that can't be prolonged is saved before its end, and again after each piece of work", async () => {
    const { remote, world, goOn, events } = await begin([append("one"), "", append("two"), append("three"), ""]);
    await goOn("go");
    remote.letExpire();
    world.clock.advance(hour - 90_000);
    await goOn("on");
    expect(await events()).toEqual(["opened", "saved", "checked", "expiring", "saved", "saved", "saved"]);
    world.clock.advance(3 * day);
    expect(remote.started).toEqual(["box-0"]);
  });

  it("one that ends while it is saved or prolonged costs that work alone, and no turn", async () => {
    const { remote, goOn, events } = await begin([append("one"), "", append("two"), ""]);
    remote.recycleAt("save");
    expect((await goOn("go")).standing).toBe("unverified");
    expect(await events()).toEqual(["opened", "lost"]);
    expect((await goOn("on")).standing).toBe("unverified");
    expect(remote.read("notes")).toBe("two\n");
  });

  it("one that can't be made ends the turn with the reason, and nothing was run", async () => {
    const { remote, goOn, events } = await begin([append("one")], { secret: () => 0 });
    const end = await goOn("go");
    expect(end.error).toMatchObject({ code: "sandbox_unavailable", message: expect.stringContaining("the credential token has expired") });
    expect([await events(), existsSync(join(remote.base, "box-0/work/notes"))]).toEqual([[], false]);
  });
});
