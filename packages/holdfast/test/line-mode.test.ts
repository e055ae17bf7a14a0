import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAnswerStream } from "../src/line/answer-stream.ts";
import { readTyped } from "../src/line/slash.ts";
import { main } from "../src/program.ts";
import { sanitize } from "../src/render/sanitize.ts";
import { wrap } from "../src/render/layout.ts";
import { fakeHosts } from "./fake-hosts.ts";
import { fakeIo } from "./fake-io.ts";
import { fakeTerminal } from "./fake-terminal.ts";

let folder = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-line-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const terminal = () => fakeTerminal(folder);
const piped = (input: string) => fakeIo({ cwd: folder, home: join(folder, "home"), env: { OPENAI_API_KEY: "k" }, input });
const model = ["--model", "openai/x"];

describe("the answer stream", () => {
  test("shows exactly the wrapped answer, however it is cut into deltas, and completes what was lost", () => {
    const words = fc
      .array(fc.constantFrom("word ", "a", "\n", "\n\n", "longer-than-the-line ", "漢字", "👩‍👩‍👧 "), { maxLength: 40 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(words, fc.array(fc.nat(12), { maxLength: 30 }), fc.boolean(), (text, sizes, isLost) => {
        const stream = createAnswerStream(() => 12);
        const lines: string[] = [];
        let offset = 0;
        for (const size of sizes) {
          const piece = text.slice(offset, offset + size);
          if (!(isLost && offset > 5)) lines.push(...stream.take({ type: "text.delta", itemId: "i", offset, text: piece }));
          offset += piece.length;
        }
        lines.push(...stream.complete({ kind: "assistant_message", id: "i", text }));
        const squeezed = (all: readonly string[]) => all.join("").replace(/\s/g, "");
        expect(squeezed(lines)).toBe(squeezed(wrap(sanitize(text), 12)));
      }),
    );
  });

  test("says where what was shown is not used", () => {
    const stream = createAnswerStream(() => 40);
    expect(stream.take({ type: "text.delta", itemId: "i", offset: 0, text: "half an answer\nand" })).toEqual(["half an answer"]);
    expect(stream.take({ type: "item.retracted", itemId: "i" })).toEqual(["(cut off: the answer above is not used)"]);
    expect(stream.take({ type: "item.retracted", itemId: "other" })).toEqual([]);
  });
});

test.each([
  ["fix it", { type: "prompt", text: "fix it" }],
  ["/etc/hosts is wrong", { type: "prompt", text: "/etc/hosts is wrong" }],
  ["/undo all", { type: "command", name: "undo", rest: "all" }],
  ["/q", { type: "command", name: "quit", rest: "" }],
  ["/hlep", { type: "unknown", name: "hlep", rest: "", near: "help" }],
])("%j is read as what it means", (line, meaning) => {
  expect(readTyped(line)).toEqual(meaning);
});

describe("with a pipe", () => {
  test("each line is a turn of one session; answers go to stdout, the rest to stderr", async () => {
    const io = piped("first\n/cost\n\nsecond\n");
    const hosts = fakeHosts({ script: [{ text: "answer one" }, { text: "answer two" }] });
    expect(await main(model, io, hosts)).toBe(0);
    const lines = io.out().split("\n");
    expect(lines[0]).toBe("answer one");
    expect(lines).toContain("answer two");
    expect(io.out()).toContain("cost: ");
    expect(await hosts.log.list({})).toHaveLength(1);
    expect(io.err()).toContain("go on with: holdfast resume ses_");
  });

  test("a call that needs a person takes the next line; at the end of the input it stays open with status 4", async () => {
    const script = [{ calls: [{ name: "danger", input: { text: "boom" } }] }, { text: "after" }];
    const io = piped("go\ny\n");
    expect(await main(model, io, fakeHosts({ script }))).toBe(0);
    expect(io.out()).toContain("after");
    expect(io.err()).toContain("reach example.org, for this call only");
    const open = piped("go\n");
    const hosts = fakeHosts({ script });
    expect(await main(model, open, hosts)).toBe(4);
    expect((await hosts.log.list({ status: "waiting" })).length).toBe(1);
  });

  test("a check added with /checks is called by its command from then on, not by an id", async () => {
    const io = piped("one\n/checks add true\ntwo\n");
    await main(model, io, fakeHosts({ script: [{ text: "done", repeat: 9 }] }));
    expect(io.err()).toContain("true: pass");
    expect(io.err()).not.toContain("check_");
  });

  test("/undo, /diff, /checks, /model and /sessions work, and a mistyped command is told", async () => {
    const io = piped(
      [
        "/diff",
        "go",
        "/diff",
        "/undo",
        "/checks add npm test",
        "/checks",
        "/model openai/y",
        "/model nonsense",
        "/sessions",
        "/undoo",
        "/quit",
        "never",
      ].join("\n"),
    );
    const script = [{ calls: [{ name: "write", input: { path: "a.js", content: "x" } }] }, { text: "done" }];
    expect(await main(model, io, fakeHosts({ script }))).toBe(0);
    for (const text of [
      "nothing has changed yet",
      "+new",
      `deleted  ${join(folder, "a.js")}`,
      "- npm test",
      "openai/y",
      "is not a model",
      "ses_",
    ]) {
      expect(io.out()).toContain(text);
    }
    expect(io.err()).toContain("did you mean /undo?");
    expect(io.out()).not.toContain("never");
  });
});

const offers = [
  { rule: { id: "allowed-1", decision: "allow", tool: "danger", network: "example.org" }, text: '[[rule]]\nid = "allowed-1"\n' },
];
const dangers = (count: number) => ({
  offers,
  script: [{ calls: [{ name: "danger", input: { text: "boom" } }], repeat: count }, { text: "after" }],
});

describe("at a terminal, a call that needs a person", () => {
  test("takes a rule for the session by its number, and what it covers is not asked again", async () => {
    const { io, type, until } = terminal();
    const hosts = fakeHosts(dangers(3));
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("or more, for this session (1) or as a rule of yours (r1):");
    await until("1  the tool danger, reaching example.org");
    await until("allow? y once, 1 for the session, r1 as a rule, n › ");
    type("2\r");
    await until("there is no 2 to allow");
    type("1\r");
    await until("and for this session: the tool");
    await until("after");
    type("/quit\r");
    await ended;
    expect(hosts.kept).toEqual([]);
  });

  test("shows a rule as it will be kept before it keeps it, and keeps nothing without a yes", async () => {
    const { io, type, until } = terminal();
    const hosts = fakeHosts(dangers(1));
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("n › ");
    type("r\r");
    await until('│ id = "allowed-1"');
    await until("keep this rule? y/n › ");
    type("n\r");
    await until("not kept; the call still waits");
    expect(hosts.kept).toEqual([]);
    type("r1\r");
    await until("keep this rule? y/n › ");
    type("y\r");
    await until("and as a rule of yours");
    await until("after");
    type("/quit\r");
    await ended;
    expect(hosts.kept).toEqual([offers[0]?.text]);
  });

  test("is refused with a reason for the model, also by exec, which asks at the terminal with --approvals ask", async () => {
    const { io, type, until } = terminal();
    const { write } = io.stdout;
    const asking = { ...io, stderr: { ...io.stdout, write } };
    const hosts = fakeHosts(dangers(2));
    const ended = main(["exec", "-m", "openai/x", "--approvals", "ask", "go"], asking, hosts);
    await until("allow? y once");
    type("n, use the other one\r");
    await until("allow? y once");
    type("y\r");
    await until("after");
    expect(await ended).toBe(0);
    const results = hosts.log.read((await hosts.log.list({}))[0]?.session ?? "", 1);
    expect(JSON.stringify(await results)).toContain("They say: use the other one");
  });

  test("stays open where the person leaves exec at the question: status 4, answered later", async () => {
    const { io, type, until } = terminal();
    const hosts = fakeHosts(dangers(1));
    const ended = main(["exec", "-m", "openai/x", "--approvals", "ask", "go"], { ...io, stderr: io.stdout }, hosts);
    await until("allow? y once");
    type("\u0003");
    expect(await ended).toBe(4);
    // At a terminal it is shown before words that don't name it allow it.
    for (const word of ["apr_", ""]) {
      const asked = fakeTerminal(folder);
      const answered = main(["approvals", ...(word === "" ? [] : [word]), "allow"], { ...asked.io, stderr: asked.io.stdout }, hosts);
      await asked.until("boom");
      await asked.until("allow it? y/n › ");
      asked.type("n\r");
      expect(await answered).toBe(1);
    }
    const shown = piped("");
    expect(await main(["approvals", "allow", "--for", "rule"], shown, hosts)).toBe(2);
    expect(shown.err()).toContain('id = "allowed-1"');
    expect(await main(["approvals", "allow", "--for", "rule", "--yes"], piped(""), hosts)).toBe(0);
    expect(await main(["approvals", "deny"], piped(""), hosts)).toBe(2);
    expect(await main(["exec", "resume", "--last"], piped(""), hosts)).toBe(0);
    expect(hosts.kept).toEqual([offers[0]?.text]);
  });
});

describe("at a terminal", () => {
  test("resume without an ID shows the sessions of the folder by number, and line mode goes on with the one chosen", async () => {
    const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
    for (const prompt of ["the first\u001b[2J", "the second"]) await main(["exec", "-m", "openai/x", prompt], piped(""), hosts);
    const { io, type, until } = terminal();
    const ended = main(["resume"], io, hosts);
    await until("the second");
    await until("2  ");
    await until("the first");
    await until("which? number or ID › ");
    type("3\r");
    await until("3 is none of them: a number from 1 to 2");
    type("2\r");
    await until("/help names the commands");
    const [, chosen = ""] = (await hosts.log.list({})).map(({ session }) => session);
    expect(await hosts.log.holder(`open:${chosen}`)).toEqual(hosts.owner);
    type("/rename Another name\r");
    await until("now called Another name");
    type("/fork Its fork\r");
    await until("a fork; the other goes on with: holdfast resume ses_");
    type("go on\r");
    await until("ok");
    await until("› ");
    type("/quit\r");
    expect(await ended).toBe(0);
    const rows = await hosts.log.list({});
    expect(rows.map(({ title }) => title)).toEqual(["Its fork", "Another name", "the second"]);
    expect(rows[0]?.parent).toBe(rows[1]?.session);
    for (const { session } of rows) expect(await hosts.log.holder(`open:${session}`)).toBeNull();
  });

  test("exec resume asks as well, and goes on with nothing where nothing is chosen", async () => {
    const hosts = fakeHosts({ script: [{ text: "ok", repeat: 9 }] });
    const none = terminal();
    expect(await main(["resume"], none.io, hosts)).toBe(2);
    await main(["exec", "-m", "openai/x", "the first"], piped(""), hosts);
    for (const [typed, status] of [
      ["\r", 2],
      ["\u0003", 2],
      ["1\r", 0],
    ] as const) {
      const { io, type, until } = terminal();
      const ended = main(["exec", "resume"], io, hosts);
      await until("which? number or ID › ");
      type(typed);
      expect([typed, await ended]).toEqual([typed, status]);
    }
    for (const argv of [["resume"], ["exec", "resume"]]) {
      const io = piped("1\n");
      expect(await main(argv, io, hosts)).toBe(2);
      expect(io.err()).toContain("which session?");
    }
  });

  test("an approval shows the exact input and is answered; what was half typed is no answer and stays", async () => {
    const { io, type, until } = terminal();
    const script = [
      { calls: [{ name: "wait", input: {} }] },
      { calls: [{ name: "danger", input: { text: "boom" } }] },
      { text: "after the answer" },
      { text: "second answer" },
    ];
    let release = () => {};
    const hosts = fakeHosts({ script, onWait: () => new Promise((resolve) => (release = resolve)) });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("proposed wait");
    type("y");
    await until("y");
    release();
    await until("allow? y/n › ");
    type("\r");
    await until("allow? y/n › ");
    type("y\r");
    await until("after the answer");
    await until("› ");
    type("\u0003\r");
    type("/quit\r");
    expect(await ended).toBe(0);
  });

  test("a whole line that was typed before an approval is shown is no answer to it, and steers", async () => {
    const { io, type, until } = terminal();
    const script = [
      { calls: [{ name: "wait", input: {} }] },
      { calls: [{ name: "danger", input: { text: "boom" } }] },
      { text: "after the answer" },
    ];
    let release = () => {};
    const hosts = fakeHosts({ script, onWait: () => new Promise((resolve) => (release = resolve)) });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("proposed wait");
    // Held back for the time in which more of a paste might come, while the approval appears.
    type("y\r");
    release();
    await until("noted");
    await until("allow? y/n › ");
    type("n\r");
    await until("after the answer");
    type("/quit\r");
    expect(await ended).toBe(0);
    const results = JSON.stringify(await hosts.log.read((await hosts.log.list({}))[0]?.session ?? "", 1));
    expect(results).toContain("was refused by a person");
  });

  test("what the terminal held back before exec asks is no answer either", async () => {
    const { io, type, until } = terminal();
    type("y\r");
    const hosts = fakeHosts({ script: [{ calls: [{ name: "danger", input: { text: "boom" } }] }, { text: "after" }], offers });
    const ended = main(["exec", "-m", "openai/x", "--approvals", "ask", "go"], { ...io, stderr: io.stdout }, hosts);
    await until("was typed before this was shown");
    await until("allow? y once");
    type("r\r");
    await until("keep this rule? y/n › ");
    type("n\r");
    await until("allow? y once");
    type("n\r");
    await until("after");
    expect(await ended).toBe(0);
    expect(hosts.kept).toEqual([]);
  });

  test("what is typed while a turn runs steers it", async () => {
    const { io, type, until } = terminal();
    let release = () => {};
    let seen = "";
    const hosts = fakeHosts({
      script: ({ request, index }) => {
        seen = JSON.stringify(request.items);
        return index === 0 ? { calls: [{ name: "wait", input: {} }] } : { text: "steered well" };
      },
      onWait: () => new Promise((resolve) => (release = resolve)),
    });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("proposed wait");
    type("also the empty password\r");
    await until("noted");
    release();
    await until("steered well");
    expect(seen).toContain("also the empty password");
    await until("› ");
    type("/quit\r");
    expect(await ended).toBe(0);
  });

  test("a session that waits since an earlier process asks again, and goes on after the answer", async () => {
    const hosts = fakeHosts({ script: [{ calls: [{ name: "danger", input: { text: "boom" } }] }, { text: "after the answer" }] });
    expect(await main(["exec", ...model, "--approvals", "ask", "go"], piped(""), hosts)).toBe(4);
    const { io, type, until } = terminal();
    const ended = main(["--last"], io, hosts);
    await until("reach example.org, for this call only");
    await until("allow? y/n › ");
    type("y\r");
    await until("after the answer");
    await until("› ");
    type("/quit\r");
    expect(await ended).toBe(0);
  });

  test("a question takes a number, its own words or free text; what is typed before it appears is no answer", async () => {
    const { io, type, until } = terminal();
    let release = () => {};
    let seen = "";
    const question = { name: "ask_user", input: { question: "Which one?", choices: ["red", "blue"] } };
    const hosts = fakeHosts({
      script: ({ request, index }) => {
        seen = JSON.stringify(request.items);
        if (index === 0) return { calls: [{ name: "wait", input: {} }] };
        if (index === 1) return { calls: [question] };
        return index === 2 ? { calls: [{ name: "ask_user", input: { question: "And why?" } }] } : { text: "painted" };
      },
      onWait: () => new Promise((resolve) => (release = resolve)),
    });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("proposed wait");
    type("half typed");
    await until("half typed");
    release();
    await until("2  blue");
    await until("answer › ");
    type("3\r");
    await until("there are choices 1 to 2, and no 3; type a number from 1 to 2, or an answer of your own");
    type("2\r");
    await until("And why?");
    await until("answer › ");
    type("/steps\r");
    await until("no steps yet");
    type("\u0015it is calm\r");
    await until("painted");
    expect(seen).toContain('"text":"blue","trust":"user"');
    expect(seen).toContain('"text":"it is calm","trust":"user"');
    expect(seen).not.toContain("half typed");
    await until("› ");
    type("\u0003\r");
    type("/quit\r");
    expect(await ended).toBe(0);
  });

  test("Ctrl-Z and back: the prompt stands again and takes what is typed", async () => {
    const { io, type, until } = terminal();
    const ended = main(model, io, fakeHosts({ script: [{ text: "after the pause" }] }));
    await until("› ");
    // The shell stops us, and starts us again at `fg`.
    const stopped = vi.spyOn(process, "kill").mockImplementation(() => {
      process.emit("SIGCONT");
      return true;
    });
    type("\u001a");
    await until("› ");
    type("\u001a");
    await until("› ");
    expect(stopped.mock.calls).toEqual(Array.from({ length: 2 }, () => [process.pid, "SIGTSTP"]));
    stopped.mockRestore();
    type("go\r");
    await until("after the pause");
    type("/quit\r");
    expect(await ended).toBe(0);
  });

  test("a terminal that is closed ends line mode in good order", async () => {
    const { io, type, until, vanish } = terminal();
    const hosts = fakeHosts({ script: [{ text: "an answer" }] });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("an answer");
    await until("› ");
    vanish();
    expect(await ended).toBe(0);
    expect(io.err()).toBe("");
  });

  test("Ctrl-C interrupts the turn, clears what is typed, and twice at an empty prompt leaves", async () => {
    const { io, type, until } = terminal();
    const hosts = fakeHosts({
      script: [{ calls: [{ name: "wait", input: {} }] }],
      onWait: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    });
    const ended = main(model, io, hosts);
    await until("› ");
    type("go\r");
    await until("proposed wait");
    type("\u0003");
    await until("interrupted");
    await until("› ");
    type("half\u0003");
    type("\u0003");
    await until("once more to leave");
    type("\u0003");
    expect(await ended).toBe(0);
  });
});
