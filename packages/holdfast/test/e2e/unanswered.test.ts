import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Place } from "./run.ts";
import { createPlace, until } from "./run.ts";

/** A shop that hears every request; what becomes of the answer is told by the path: /NAME/FATE. */
const heard: { readonly name: string; readonly key: string | undefined }[] = [];
const fates: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse, times: number) => void>> = {
  sold: (_, response) => response.writeHead(201).end("sold"),
  silent: () => undefined,
  slow: (_, response) => void setTimeout(() => response.writeHead(201).end("sold"), 300),
  reset: (request) => request.socket.destroy(),
  gateway: (_, response) => response.writeHead(504).end(),
  // The first answer is lost, the second is told from the record.
  once: (request, response, times) => (times === 1 ? request.socket.destroy() : response.writeHead(201).end("sold before")),
};
const shop = createServer((request, response) => {
  const [, name = "", fate = ""] = (request.url ?? "").split("/");
  heard.push({ name, key: request.headers["idempotency-key"] as string | undefined });
  fates[fate]?.(request, response, heard.filter((one) => one.name === name).length);
});
let base = "";
beforeEach(async () => {
  heard.length = 0;
  await new Promise<void>((done) => shop.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
});
afterEach(() => {
  shop.closeAllConnections();
  return new Promise((done) => shop.close(() => done(undefined)));
});

/** A server over a pipe that writes down what it is asked for, and then answers, dies or is silent. */
const server = `
  const { createInterface } = require("node:readline");
  const { appendFileSync, readFileSync } = require("node:fs");
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...message }));
    if (method === "initialize") say({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
    else if (method === "tools/list") say({ result: { tools: ["charge", "pay", "look"].map((name) => ({ name, description: "Does.", inputSchema: { type: "object" } })) } });
    else if (method === "tools/call") {
      const { name, fate, key = "" } = params.arguments;
      appendFileSync("asked", name + " " + key + "\\n");
      const times = readFileSync("asked", "utf8").split("\\n").filter((one) => one.startsWith(name + " ")).length;
      if (fate === "dies" || (fate === "once" && times === 1)) process.exit(1);
      if (fate !== "silent") setTimeout(say, fate === "slow" ? 300 : 0, { result: { content: [{ type: "text", text: "done" }] } });
    } else if (id !== undefined) say({ error: { code: -32601, message: "no" } });
  });`;

function configure(place: Place): void {
  mkdirSync(join(place.home, ".holdfast"), { mode: 0o700 });
  const args = JSON.stringify(["-e", server, place.marker]);
  const config = `[web]
keyed_hosts = ["${new URL(base).host.replace("127.0.0.1", "localhost")}"]
[mcp.shop]
command = ${JSON.stringify(process.execPath)}
args = ${args}
cwd = "."
allow = ["*"]
safe = ["look"]
tool_timeout_ms = 700
[mcp.shop.keyed]
pay = "key"
`;
  writeFileSync(join(place.home, ".holdfast/config.toml"), config, { mode: 0o600 });
}

type Call = { readonly name: string; readonly input: object };
type Status = "completed" | "failed" | "interrupted" | "in_doubt";
/** A call, how it has to end, how often its target hears of it, and what is told. The first word names it. */
type Row = readonly [name: string, call: (name: string) => Call, status: Status, times: number, told: RegExp];

/** The host that knows keys has another name, and is the same. */
const request =
  (fate: string, { isKeyed = false, method = "POST", timeout_s = 1 } = {}) =>
  (name: string): Call => ({
    name: "http_request",
    input: { url: `${isKeyed ? base.replace("127.0.0.1", "localhost") : base}/${name}/${fate}`, method, timeout_s },
  });
const mcp =
  (tool: string, fate: string) =>
  (name: string): Call => ({ name: `mcp__shop__${tool}`, input: { name, fate } });
const sleeper =
  (more: object = {}) =>
  (name: string): Call => ({ name: "run_command", input: { command: `echo ${name} >> asked; sleep 60`, ...more } });
const doubt = /may have happened/;

/** Proposes all of these at once. */
async function placeFor(rows: readonly Row[]): Promise<Place> {
  const calls = rows.map(([name, call]) => call(name));
  const place = await createPlace((results) => (results.length === 0 ? { calls } : { text: "Done." }));
  configure(place);
  return place;
}
const freely = ["--sandbox", "off", "--approvals", "allow", "--json", "go"] as const;

/** What targets have heard of a call: the keys it came with, as often as it came. */
function keysOf(place: Place, name: string): string[] {
  const asked = existsSync(join(place.workspace, "asked")) ? readFileSync(join(place.workspace, "asked"), "utf8") : "";
  const lines = asked.split("\n").filter((line) => line.split(" ")[0] === name);
  return [...heard.filter((one) => one.name === name).map(({ key }) => key ?? ""), ...lines.map((line) => line.split(" ")[1] ?? "")];
}

interface Told {
  readonly item?: { readonly status: string; readonly call_status?: Status; readonly [key: string]: unknown };
}

function expectRows(place: Place, rows: readonly Row[], stdout: string): void {
  const lines = stdout.split("\n").filter((line) => line.includes('"item.completed"'));
  const found = rows.map(([name, , , , told]) => {
    const line = lines.find((one) => one.includes(name)) ?? "{}";
    const { item } = JSON.parse(line) as Told;
    const keys = keysOf(place, name);
    return [name, item?.call_status ?? item?.status, keys.length, new Set(keys).size <= 1, told.test(line) ? "" : line];
  });
  expect(found).toEqual(rows.map(([name, , status, times]) => [name, status, times, true, ""]));
}

test("what got no answer is not repeated, forgotten or called undone, but as its class allows", async () => {
  const rows: readonly Row[] = [
    ["charge-silent", request("silent"), "in_doubt", 1, doubt],
    ["charge-reset", request("reset"), "in_doubt", 1, doubt],
    ["charge-gateway", request("gateway"), "in_doubt", 1, doubt],
    ["pay-once", request("once", { isKeyed: true }), "completed", 2, /sold before/],
    ["pay-silent", request("silent", { isKeyed: true }), "in_doubt", 3, doubt],
    // A read changes nothing, and whether to read again is the model's to say.
    ["read-silent", request("silent", { method: "GET" }), "failed", 1, /did not answer/],
    ["read-reset", request("reset", { method: "GET" }), "failed", 1, /did not answer/],
    ["mcp-charge-silent", mcp("charge", "silent"), "in_doubt", 1, doubt],
    ["mcp-charge-dies", mcp("charge", "dies"), "in_doubt", 1, doubt],
    ["mcp-pay-once", mcp("pay", "once"), "completed", 2, /done/],
    ["mcp-pay-silent", mcp("pay", "silent"), "in_doubt", 3, doubt],
    ["mcp-look-silent", mcp("look", "silent"), "failed", 1, /no answer/],
    ["command-late", sleeper({ timeout_s: 1 }), "failed", 1, /timed out/],
  ];
  const place = await placeFor(rows);
  const { code, stdout } = await place.exec(...freely);
  expect(code).toBe(0);
  expectRows(place, rows, stdout);
}, 60_000);

test.each<readonly [string, readonly Row[]]>([
  [
    "requests and a command",
    [
      ["first-sale", request("silent", { timeout_s: 15 }), "in_doubt", 1, doubt],
      ["second-sale", request("silent", { isKeyed: true, timeout_s: 15 }), "in_doubt", 1, doubt],
      ["a-sleeper", sleeper(), "interrupted", 1, /"aggregated_output"/],
      // It waits for the workspace that the command has.
      ["later-sale", mcp("charge", "silent"), "interrupted", 0, /[Nn]othing was done/],
    ],
  ],
  [
    "a read, and calls of a server one after another",
    [
      ["a-read", request("silent", { method: "GET", timeout_s: 60 }), "interrupted", 1, /nothing was changed/],
      ["first-pay", mcp("pay", "silent"), "in_doubt", 1, doubt],
      ["later-look", mcp("look", "silent"), "interrupted", 0, /[Nn]othing was done/],
    ],
  ],
])("an interrupt asks nobody again, and says what may have happened: %s", async (_, rows) => {
  const place = await placeFor(rows);
  const run = place.start(["exec", ...freely]);
  await until(() => rows.every(([name, , , times]) => keysOf(place, name).length >= times), "all targets have heard");
  run.child.kill("SIGINT");
  const { code, stdout } = await run.finished;
  expect(code).toBe(130);
  expectRows(place, rows, stdout);
});

test("frozen until every timeout is over, with the answers come meanwhile, it asks nobody again and knows or says the doubt", async () => {
  const rows: readonly Row[] = [
    ["first-sale", request("slow"), "completed", 1, /./],
    ["second-sale", mcp("charge", "slow"), "completed", 1, /./],
  ];
  const place = await placeFor(rows);
  const run = place.start(["exec", ...freely]);
  await until(() => rows.every(([name]) => keysOf(place, name).length === 1), "both have heard");
  run.child.kill("SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  run.child.kill("SIGCONT");
  const { code, stdout } = await run.finished;
  expect(code).toBe(0);
  for (const [name] of rows) {
    const line = stdout.split("\n").find((one) => one.includes('"item.completed"') && one.includes(name)) ?? "{}";
    const { item } = JSON.parse(line) as Told;
    expect([keysOf(place, name).length, item?.call_status ?? item?.status]).toEqual([1, expect.stringMatching(/^(completed|in_doubt)$/)]);
  }
});
