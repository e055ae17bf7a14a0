import type { SessionEvent } from "@holdfast/protocol";
import type { CallContext, CallIntent } from "@holdfast/runtime";
import { describe, expect, test } from "vitest";
import { lookupTool } from "../src/index.ts";
import { createArchive } from "../src/values/archive.ts";
import { layOut } from "../src/values/layout.ts";
import type { Origin } from "../src/values/lines.ts";
import { createLines } from "../src/values/lines.ts";
import { valueKinds, valuesIn } from "../src/values/kinds.ts";

const origin = (seq: number, more: Partial<Origin> = {}): Origin => ({
  seq,
  itemId: `itm_${seq}`,
  speaker: "tool",
  from: "run_command",
  trust: "tool",
  at: 0,
  ...more,
});

test.each([
  ["id 3f2a91c0-1b2c-4d5e-8f90-0123456789ab here", "uuid", "3f2a91c0-1b2c-4d5e-8f90-0123456789ab"],
  ["commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "hash", "9fceb02d0ae598e95dc970b74767f19372d61af8"],
  ["version 12.4.0-rc.3+build.99.", "version", "12.4.0-rc.3+build.99"],
  ["see https://a.example/v1/x?b=1&c=2, then", "url", "https://a.example/v1/x?b=1&c=2"],
  ["in /srv/orbit/run/4711-abcd/x_y.sock now", "path", "/srv/orbit/run/4711-abcd/x_y.sock"],
  ["at 2001:db8:1:2:3:4:5:6f", "ip", "2001:db8:1:2:3:4:5:6f"],
  ["at 10.0.0.7:8080.", "ip", "10.0.0.7:8080"],
  ["arn:aws:sqs:eu-west-1:123456789012:queue/x-y", "resource", "arn:aws:sqs:eu-west-1:123456789012:queue/x-y"],
  ["CACHE_TIMEOUT_MS=abc123:x", "setting", "CACHE_TIMEOUT_MS=abc123:x"],
  ["pool.max_size = 40", "setting", "pool.max_size = 40"],
  ["matches ^(?:ab|cd)-\\d{3}$ only", "regex", "^(?:ab|cd)-\\d{3}$"],
  ["due 2027-03-01T10:20:30.120+02:00", "time", "2027-03-01T10:20:30.120+02:00"],
  ["failed with ECONNREFUSED", "error", "ECONNREFUSED"],
  ["after 1500 ms", "amount", "1500 ms"],
  ["port 54321", "number", "54321"],
  ["nic 0B-3F-AB-2A-92-F1 is up", "mac", "0B-3F-AB-2A-92-F1"],
  ["nic 0b:3f:ab:2a:92:f1 is up", "mac", "0b:3f:ab:2a:92:f1"],
  ["in #81362d", "colour", "#81362d"],
  ["at 52.5200, -13.4050", "coordinates", "52.5200, -13.4050"],
  ["call +49 30 123456-78 now", "phone", "+49 30 123456-78"],
  ["due 3 March 2031", "date", "3 March 2031"],
  ["runs ghcr.io/acme/api:2.1.0-alpine", "image", "ghcr.io/acme/api:2.1.0-alpine"],
  ["needs @acme/core@2.10.3", "package", "@acme/core@2.10.3"],
  ["on feature/abc-12-def", "branch", "feature/abc-12-def"],
  ["after 1h 15m 3s", "amount", "1h 15m 3s"],
  ["rate 3.5e-04 ms", "amount", "3.5e-04 ms"],
  ["trace 01J5ZMJPTHZ6AFW4BKWQ6Y4SNS", "code", "01J5ZMJPTHZ6AFW4BKWQ6Y4SNS"],
  ["serial SNA12b", "code", "SNA12b"],
  ["pay to DE89 3704 0044 0532 0130 00 now", "account", "DE89 3704 0044 0532 0130 00"],
  ["runs at */5 3 1 2 0", "schedule", "*/5 3 1 2 0"],
  ["rule FREQ=WEEKLY;BYDAY=MO,FR;COUNT=12", "schedule", "FREQ=WEEKLY;BYDAY=MO,FR;COUNT=12"],
  ["takes **/abcd/{x,y}/*.ts only", "glob", "**/abcd/{x,y}/*.ts"],
  ["on \\\\srv01\\data$\\plan.docx", "path", "\\\\srv01\\data$\\plan.docx"],
  ["total € 1.234,56", "amount", "€ 1.234,56"],
  ["balance 1'234'567", "number", "1'234'567"],
  ["keep P3DT4H5M", "amount", "P3DT4H5M"],
  ["by § 12 Abs. 3 Nr. 4", "clause", "§ 12 Abs. 3 Nr. 4"],
  ["at 48°12'30\"N 16°22'23\"E", "coordinates", "48°12'30\"N 16°22'23\"E"],
  ["sent application/vnd.x.v2+json; charset=utf-8", "type", "application/vnd.x.v2+json; charset=utf-8"],
  ["cert CN=web,OU=ops,DC=test", "name", "CN=web,OU=ops,DC=test"],
  ["key SHA256:abcdEFGH1234abcdEFGH", "hash", "SHA256:abcdEFGH1234abcdEFGH"],
  ["isbn 978-3-1234-5678-9", "code", "978-3-1234-5678-9"],
  ["the pod amber-otter-worker", "name", "amber-otter-worker"],
])("%s: %s", (line, kind, value) => {
  expect(valuesIn(line)).toContainEqual({ kind, value, at: line.indexOf(value) });
});

describe("what was seen in a session", () => {
  test("is found under a kind that is spelled like a name (IPv4, e-mail), and what stands before it in its text doesn't come first", () => {
    const archive = createArchive();
    const lines = ["eager-ferret-sync", "quiet-vole-store", "young-yak-cron"].map(
      (name, n) => `15:53:1${n} INFO  [${name}] contact e-mail is a${n}@b.example, IPv4 10.0.0.${n}`,
    );
    archive.add(lines.join("\n"), origin(1));
    archive.add("15:54:01 INFO  [umber-ibis-api] IPv4 10.9.9.9", origin(2));
    for (const what of ["contact e-mail", "IPv4 address"]) {
      const found = archive.find(`Which ${what} did quiet-vole-store log?`, 3);
      expect(found[0]!.lines[0]!.text).toContain("a1@b.example, IPv4 10.0.0.1");
    }
  });

  test("is found whole although it looks like nothing special: lines between those that fit come along", () => {
    const archive = createArchive();
    archive.add(
      " ❯ test/x.test.ts\n   × calm-otter-api > keeps the code name\n     - <none>\n     + mkjecnb\n     ❯ calm-otter-api.test.ts:1:2",
      origin(1),
    );
    const found = archive.find("Which code name did the failing test of calm-otter-api receive?", 1);
    expect(found[0]!.lines.map(({ text }) => text)).toContain("+ mkjecnb");
  });

  const log = `10:00:01 INFO  [orbit-1] heartbeat ok (42)
10:00:02 ERROR [amber-otter-worker] rejected, request id: 3f2a91c0-1b2c-4d5e-8f90-0123456789ab
10:00:03 ERROR [amber-otter-gateway] rejected, request id: 3f2a91c0-1b2c-4d5e-8f90-0123456789ac`;
  const json = JSON.stringify({
    items: ["one", "two", "six"].map((name, n) => ({ component: `${name}-x-api`, state: "ready", port: 50_001 + n })),
  });
  const first = (archive: ReturnType<typeof createArchive>, query: string) => archive.find(query, 3)[0]?.lines[0]?.text ?? "";

  test("is found by what it belongs to, also where it stands lines away, or in JSON without line ends", () => {
    const archive = createArchive();
    archive.add(log, origin(1));
    archive.add(json.repeat(1).padEnd(500), origin(2));
    archive.add("❯ test/six-x-api.test.ts\n  × keeps the colour\n  - Expected\n  + Received\n  + teal blue", origin(3));
    expect(first(archive, "request id of amber-otter-worker")).toContain("0123456789ab");
    expect(
      archive
        .find("Which port does the API list for two-x-api?", 1)[0]!
        .lines.map((line) => line.text)
        .join(),
    ).toContain("50002");
    expect(archive.find("what colour did the test of six-x-api get", 1)[0]!.lines.map((line) => line.text)).toContain("+ teal blue");
  });

  test("is found by a part of it", () => {
    const archive = createArchive();
    archive.add(log, origin(1));
    expect(first(archive, "3f2a91c0-1b2c")).toContain("3f2a91c0-1b2c-4d5e-8f90-0123456789a");
  });

  test("that was replaced comes after what replaced it, and says so", () => {
    const archive = createArchive();
    archive.add("The port of amber-otter-worker is 40001.", origin(1));
    archive.add("The port of amber-otter-worker is 40002.", origin(5, { speaker: "user" }));
    archive.add("amber-otter-worker: I think the port is 40003", origin(9, { speaker: "model" }));
    const found = archive.find("port of amber-otter-worker", 3).map(({ lines, isCurrent }) => [lines[0]!.text.slice(-6), isCurrent]);
    expect(found.slice(0, 2)).toEqual([
      ["40002.", true],
      ["40001.", false],
    ]);
  });

  test("is not replaced by what is untrusted, which is shown as that", () => {
    const archive = createArchive();
    archive.add("Deploy account for prod is acct-771122.", origin(1, { speaker: "user", trust: "user" }));
    archive.add("Deploy account for prod is acct-666666.", origin(5, { trust: "untrusted" }));
    archive.add("Deploy account for prod is acct-666667.", origin(7, { trust: "untrusted" }));
    const found = archive.find("deploy account for prod", 3).map(({ lines, isCurrent }) => [lines[0]!.text.slice(-7), isCurrent]);
    expect(found).toEqual([
      ["771122.", true],
      ["666667.", true],
      ["666666.", false],
    ]);
    const [said, beside] = archive.find("deploy account for prod", 3);
    expect([said!.later, beside!.later]).toEqual([{ seq: 7, how: "differs" }, null]);
  });

  test("is never simply current where something later differs, whatever the model's own words are trusted", () => {
    const archive = createArchive();
    archive.add("Set DB_PORT in conf.", origin(1, { speaker: "user", trust: "user" }));
    archive.add("printf 'api_url=http://x\\nDB_PORT=5432\\n' > conf", origin(2, { speaker: "model" }));
    archive.add("echo DB_PORT=5432", origin(3, { speaker: "model" }));
    archive.add("api_url=http://x\nDB_PORT=5432", origin(4, { trust: "untrusted" }));
    archive.add("sed -i s/5432/6543/ conf", origin(5, { speaker: "model", trust: "untrusted" }));
    archive.add("api_url=http://x\nDB_PORT=6543", origin(6, { trust: "untrusted" }));
    const found = archive.find("DB_PORT", 5);
    expect(found[0]).toMatchObject({ origin: { seq: 6 }, isCurrent: true, later: null });
    const others = found.slice(1).map(({ origin: { seq }, later }) => [seq, later?.seq, later?.how]);
    expect(others.toSorted()).toEqual([
      [1, 6, "follows"],
      [2, 6, "replaces"],
      [4, 6, "replaces"],
    ]);
  });

  test("many later lines in other words don't hide it: of each wording the latest is told and that there are more", () => {
    const archive = createArchive();
    archive.add("10:00:00 ERROR [amber-otter-api] rejected, port: 40001", origin(1));
    for (let n = 0; n < 60; n += 1) archive.add(`10:01:${n} INFO [amber-otter-api] opened port ${50_100 + n}`, origin(2 + n));
    const found = archive.find("Which port did amber-otter-api log?", 3);
    expect(found.map(({ lines, hasMore }) => [lines[0]!.text.slice(-5), hasMore])).toEqual([
      ["50159", true],
      ["40001", false],
      ["50158", false],
    ]);
  });

  test("can be of a kind that a host adds", () => {
    const kinds = [{ kind: "seat", words: "seat place", pattern: /\b\d\d[A-F]\b/g }, ...valueKinds];
    expect(valuesIn("Your seat: 12C", kinds)).toContainEqual({ kind: "seat", value: "12C", at: 11 });
    const archive = createArchive(kinds);
    archive.add("Your seat: 12C", origin(1));
    archive.add("Nobody has a seat here", origin(2, { speaker: "model" }));
    expect(first(archive, "seat")).toBe("Your seat: 12C");
  });
});

describe("texts of any form and size", () => {
  test.each([",,,,,", "}", "{", "]);", "x", "  {"])("40,000 lines of %j are laid out at once", (line) => {
    expect(layOut(`${line}\n`.repeat(40_000)).lines).toHaveLength(40_001);
  });

  test("what closes or opens something belongs with nothing, and costs nothing", () => {
    const { around } = layOut("a:\n  b: 1\n}\n}\n");
    expect(around.ties).toHaveLength(2);
  });

  test.each([
    [
      "a token",
      `10:00 INFO [amber-otter-api] using session token AKx${"aB3_".repeat(400)}`,
      "session token of amber-otter-api",
      `AKx${"aB3_".repeat(400)}`,
    ],
    [
      "a statement",
      `${"x ".repeat(150)}the statement is SELECT ${"col, ".repeat(60)} z FROM t WHERE x = 1`,
      "statement",
      `SELECT ${"col, ".repeat(60)} z FROM t`,
    ],
    [
      "a certificate",
      `certificate of web-7:\n-----BEGIN CERTIFICATE-----\n${"MIIB+a/9\n".repeat(20)}-----END CERTIFICATE-----\nok`,
      "certificate of web-7",
      "MIIB+a/9\n".repeat(20),
    ],
  ])("%s that is longer than a line stays whole", (_, said, query, value) => {
    const archive = createArchive();
    archive.add(said, origin(1));
    expect(archive.find(query, 1)[0]!.lines.some(({ text }) => text.includes(value))).toBe(true);
  });

  test("what is asked for may be of any length", () => {
    const archive = createArchive();
    archive.add("port 4711", origin(1));
    expect(archive.find(`port ${"a.a.".repeat(100_000)}`, 1)).toHaveLength(1);
  });

  test("a text of very many lines keeps both ends, and between them what may be exact", () => {
    const archive = createArchive();
    const lines = Array.from({ length: 200_000 }, (_, n) => (n === 120_000 ? "key ab-12-cd" : n % 3 === 0 ? "go" : "7"));
    archive.add(["first 4711-a", ...lines, "last 4711-b"].join("\n"), origin(1));
    expect(archive.lines.length).toBeLessThanOrEqual(60_001);
    for (const [query, line] of [
      ["first", "first 4711-a"],
      ["last", "last 4711-b"],
      ["key", "key ab-12-cd"],
    ])
      expect(archive.find(query!, 1)[0]!.lines[0]!.text).toBe(line);
  });

  test("a session of any length stays within bounds: old outputs are thinned, what people said stays whole", () => {
    const store = createLines({ lines: 2_000, chars: 1_000_000 });
    store.add("Never push.\nUse tabs.", origin(1, { speaker: "user" }));
    for (let n = 2; n < 12; n += 1) store.add(Array.from({ length: 500 }, (_, at) => `out ${n}-${at}`).join("\n"), origin(n));
    expect(store.lines.length).toBeLessThanOrEqual(2_000);
    expect(store.isThinned).toBe(true);
    expect(store.lines.slice(0, 2).map(({ text }) => text)).toEqual(["Never push.", "Use tabs."]);
    expect(store.lines.every(({ number }, at) => number === at)).toBe(true);
    expect(store.holders.get("11-499")!.map((number) => store.lines[number]!.text)).toEqual(["out 11-499"]);
    expect(store.holders.get("3-250")).toBeUndefined();
  });
});

describe("lookup", () => {
  const text = (seq: number, said: string): SessionEvent & { seq: number; at: number } => ({
    type: "input.taken",
    seq,
    at: 0,
    payload: { message: { kind: "user_message", id: `itm_${seq}`, trust: "user", parts: [{ type: "text", text: said }] } },
  });
  const blobs = { put: async () => "", get: async () => null } as unknown as Parameters<typeof lookupTool>[0];
  const ask = async (
    tool: ReturnType<typeof lookupTool>,
    events: readonly (SessionEvent & { seq: number; at: number })[],
    query: string,
  ) => {
    const context = { session: "s", history: async (after: number) => events.filter(({ seq }) => seq > after) } as unknown as CallContext;
    const plan = await tool.plan({ query }, context);
    if ("type" in plan) return plan.text;
    return (await tool.run({ plan } as CallIntent, context, new AbortController().signal)).text;
  };

  test("answers with the line and where it is from, and takes in what came since", async () => {
    const tool = lookupTool(blobs);
    expect(await ask(tool, [text(1, "The staging port is 47110.")], "staging port")).toBe(
      "1. The staging port is 47110.\n   (what the user said; event 1)",
    );
    expect(await ask(tool, [text(1, "The staging port is 47110."), text(4, "The staging port is 47111.")], "staging port")).toMatch(
      /^1\. .*47111.*\n.*\n2\. .*47110.*\n.*superseded/,
    );
  });

  const called = (seq: number, callId: string, tool: string) =>
    ({ type: "call.decided", seq, at: 0, payload: { callId, tool, plan: { summary: "" } } }) as unknown as ReturnType<typeof text>;
  const gave = (seq: number, callId: string, words: string, output?: string, outcome: object = {}) => {
    const result = { kind: "tool_result", id: `itm_${seq}`, callId, status: "completed", text: words, trust: "tool", output };
    return { type: "call.settled", seq, at: 0, payload: { callId, outcome, result } } as unknown as ReturnType<typeof text>;
  };

  test.each(["lookup", "history_read"])("what %s repeats is no news: the latest that was really said stays current", async (tool) => {
    const events = [text(1, "The staging port is 47110."), text(2, "The staging port is 47111."), called(3, "c", tool)];
    const again = [...events, gave(4, "c", "1. The staging port is 47110.")];
    expect(await ask(lookupTool(blobs), again, "staging port")).toMatch(
      /^1\. .*47111.*\n.*event 2\)\n2\. .*47110.*\n.*event 1; superseded/,
    );
  });

  test("an output that is read on is as old as the output", async () => {
    const first = [called(1, "a", "run_command"), gave(2, "a", "starting", "out_a"), text(3, "The staging port is 47111.")];
    const again = [...first, called(4, "b", "read_output"), gave(5, "b", "The staging port is 47110.", "out_a")];
    expect(await ask(lookupTool(blobs), again, "staging port")).toMatch(/^1\. .*47111.*\n.*event 3\)\n2\. .*47110/);
  });

  test("what comes up in the output of a command that runs on is as old as the look at it", async () => {
    const started = "still running\nlistening on staging port 47110";
    const first = [called(1, "a", "run_command"), gave(2, "a", started, "out_a", { task: { id: "out_a" } })];
    const said = [...first, text(3, "The staging port is 47111."), called(4, "b", "read_output")];
    const unchanged = [...said, gave(5, "b", started, "out_a")];
    expect(await ask(lookupTool(blobs), unchanged, "staging port")).toMatch(/^1\. .*47111/);
    const restarted = `${started}\nlistening on staging port 47112`;
    const grown = [...unchanged, called(6, "c", "read_output"), gave(7, "c", restarted, "out_a", { exitCode: 0 })];
    expect(await ask(lookupTool(blobs), grown, "staging port")).toMatch(/^1\. .*47112/);
    const later = [...grown, text(8, "The staging port is 47113."), called(9, "d", "read_output"), gave(10, "d", "port 47110", "out_a")];
    expect(await ask(lookupTool(blobs), later, "staging port")).toMatch(/^1\. .*47113/);
  });

  const proposes = (seq: number, callId: string, name: string, input: object) => {
    const items = [{ kind: "tool_call", id: `itm_${seq}`, callId, name, input: JSON.stringify(input) }];
    return { type: "sampling.settled", seq, at: 0, payload: { items } } as unknown as ReturnType<typeof text>;
  };
  const ends = (seq: number, callId: string, words: string, outcome: object) => {
    const result = { kind: "tool_result", id: `itm_${seq}`, callId, status: "completed", text: words, trust: "tool" };
    const payload = { callId, outcome: { status: "completed", ...outcome }, result };
    return { type: "call.settled", seq, at: 0, payload } as unknown as ReturnType<typeof text>;
  };
  const path = "/w/config.toml";
  const changed = { changed: [{ path, beforeDigest: "a", afterDigest: "b" }], seen: [{ path, digest: "b" }] };
  const reads = [
    proposes(1, "r", "read_file", { path: "config.toml" }),
    ends(2, "r", "1\t[server]\n2\tport = 40001\n3\thost = app-7", { seen: [{ path, digest: "a" }] }),
    proposes(3, "g", "run_command", { command: "grep port config.toml" }),
    ends(4, "g", "port = 40001", { exitCode: 0 }),
  ];
  const patch = "*** Begin Patch\n*** Update File: config.toml\n@@\n [server]\n-port = 40001\n+port = 40002\n*** End Patch";

  test.each([
    ["edit_file", { path: "config.toml", edits: [{ old: "port = 40001", new: "port = 40002" }] }],
    ["apply_patch", { patch }],
    ["write_file", { path: "config.toml", content: "[server]\nport = 40002\nhost = app-7\n" }],
  ])("what %s put into a file is current, what it took out is not, and the rest still is", async (tool, input) => {
    const all = [...reads, proposes(5, "e", tool, input), ends(6, "e", "config.toml was changed", changed)];
    const found = (await ask(lookupTool(blobs), all, "server port in config.toml")).split(/^(?=\d\. )/m);
    expect(found[0]).toContain("port = 40002");
    expect(found[0]).toContain(`(the input of ${tool}; event 6)`);
    for (const old of found.filter((one) => /^\d\. .*40001/.test(one)))
      expect(old).toMatch(/taken out by event 6|event 6 changed the file/);
    expect((await ask(lookupTool(blobs), all, "server host")).split(/^(?=2\. )/m)[0]).not.toContain("taken out");
    const failed = [...reads, proposes(5, "e", tool, input), ends(6, "e", "no such text", { status: "failed" })];
    expect((await ask(lookupTool(blobs), failed, "server port in config.toml")).split("\n")[0]).toContain("40001");
    const back = { type: "edits.undone", seq: 7, at: 0, payload: { callIds: ["e"] } } as unknown as ReturnType<typeof text>;
    expect((await ask(lookupTool(blobs), [...all, back], "server port in config.toml")).split("\n")[0]).toContain("40001");
  });

  test("a file that a command changed says so beside what was read of it", async () => {
    const sed = { changed: [{ path, beforeDigest: "a", afterDigest: "c" }], exitCode: 0 };
    const all = [...reads.slice(0, 2), proposes(5, "s", "run_command", { command: "make fix" }), ends(6, "s", "", sed)];
    expect(await ask(lookupTool(blobs), all, "server port")).toMatch(/40001[^]*event 2; event 6 changed the file since\)/);
  });

  test("a note takes the place of the section's earlier one", async () => {
    const notes = ["40001", "40002"].flatMap((port, n) => [
      proposes(2 * n + 1, `n${n}`, "note_write", { section: "state", text: n === 0 ? `the api port is ${port}` : `port ${port}` }),
      ends(2 * n + 2, `n${n}`, "Noted.", {}),
    ]);
    const found = (await ask(lookupTool(blobs), notes, "the api port")).split(/^(?=\d\. )/m);
    expect(found[0]).toContain("40002");
    expect(found[1]).toMatch(/40001[^]*taken out by event 4/);
  });

  test("what the model wrote after it had read something untrusted is no more trusted than that", async () => {
    const wrote = { ...proposes(1, "w", "run_command", { command: "open port 4711" }) };
    const all = [
      { ...wrote, payload: { ...wrote.payload, trust: "untrusted" } } as unknown as ReturnType<typeof text>,
      ends(2, "w", "", {}),
    ];
    expect(await ask(lookupTool(blobs), all, "port")).toContain("event 1; untrusted)");
  });

  test("lookups that run at the same time take each event in once, and none of their own answers", async () => {
    const all = [text(1, "The staging port is 47110."), text(2, "The staging port is 47111.")];
    const slow = { get: async () => (await new Promise((done) => setTimeout(done, 2)), new TextEncoder().encode("build ok")) };
    const tool = lookupTool(slow as unknown as Parameters<typeof lookupTool>[0]);
    await ask(tool, all, "anything");
    all.push(called(3, "c", "lookup"), called(4, "d", "run_command"));
    all.push(ends(5, "d", "build…", { whole: "blob" }), gave(6, "c", "1. The staging port is 47110."));
    await Promise.all([ask(tool, all, "staging port"), ask(tool, all, "build")]);
    expect(await ask(tool, all, "staging port")).toMatch(/^1\. .*47111.*\n.*event 2\)\n2\. .*47110.*\n.*event 1; superseded[^\n]*$/);
    expect(await ask(tool, all, "build")).toBe("1. build ok\n   (run_command undefined; event 5)");
  });

  test("knows nothing of what was erased", async () => {
    const tool = lookupTool(blobs);
    expect(await ask(tool, [text(1, "The pin is 98761.")], "pin")).toContain("98761");
    const erased = { type: "item.erased", seq: 5, at: 0, payload: { itemId: "itm_1", kept: [] } } as unknown as ReturnType<typeof text>;
    expect(await ask(tool, [text(1, "[erased]"), erased], "pin")).toBe("Nothing in this session fits these words.");
  });

  test("knows the kinds that its host gives it", async () => {
    const seat = { kind: "seat", words: "seat place", pattern: /\brow twelve\b/ };
    const said = { kind: "assistant_message", id: "itm_2", text: "In the hall it is row twelve." };
    const wrote = { type: "sampling.settled", seq: 2, at: 0, payload: { items: [said] } } as unknown as ReturnType<typeof text>;
    const log = [text(1, "The hall is near the door, they say."), wrote];
    expect((await ask(lookupTool(blobs, [seat]), log, "seat hall")).split("\n")[0]).toContain("row twelve");
    expect((await ask(lookupTool(blobs), log, "seat hall")).split("\n")[0]).not.toContain("row twelve");
  });

  test("stays within about 400 tokens, whatever was seen", async () => {
    const many = Array.from({ length: 60 }, (_, n) => text(n + 1, `The key of box ${n} is ${"k".repeat(90)}${n}.`));
    expect((await ask(lookupTool(blobs), many, "key of box")).length).toBeLessThan(1_600);
  });

  test("never shows a part as if it were the whole: it says how long that is, and where it can be read", async () => {
    const token = `AKx${"aB3_".repeat(400)}END`;
    const shown = await ask(lookupTool(blobs), [text(1, `The session token of api-7 is:\n${token}`)], "session token of api-7");
    expect(shown).toContain("of 1606 characters; the whole: history_read from 1]");
    expect(shown).toContain("The session token of api-7 is:");
    const log = [called(1, "a", "run_command"), gave(2, "a", `token of api-7: ${token}`, "out_a")];
    expect(await ask(lookupTool(blobs), log, "token of api-7")).toContain("the whole: read_output out_a]");
  });

  test("says what it takes", async () => {
    expect(await ask(lookupTool(blobs), [], " ")).toContain("lookup takes {query}");
    expect(await ask(lookupTool(blobs), [], "anything")).toBe("Nothing in this session fits these words.");
  });
});
