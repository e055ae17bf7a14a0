import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bench, fake, folder } from "./bench.ts";

const suite = join(import.meta.dirname, "../../../node_modules/.bin/conformance");
const client = `${process.execPath} ${join(import.meta.dirname, "conformance-client.ts")}`;

/** What the suite says of a scenario in a revision of the protocol. */
function run(scenario: string, revision: string): Promise<string> {
  const args = [suite, "client", "--command", client, "--scenario", scenario, "--spec-version", revision, "--output-dir", folder()];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** Each of the protocol's own client scenarios that concerns tools, in each revision it is for, with its number of checks. */
const scenarios = [
  ["initialize", "2025-06-18", 1],
  ["initialize", "2025-11-25", 1],
  ["tools_call", "2025-06-18", 2],
  ["tools_call", "2025-11-25", 2],
  ["tools_call", "2026-07-28", 2],
  ["sse-retry", "2025-11-25", 3],
  ["request-metadata", "2026-07-28", 5],
  ["http-standard-headers", "2026-07-28", 3],
  ["http-custom-headers", "2026-07-28", 18],
  ["http-invalid-tool-headers", "2026-07-28", 12],
  ["json-schema-ref-no-deref", "2026-07-28", 1],
  ["json-schema-2020-12-preservation", "2025-11-25", 9],
  ["json-schema-2020-12-preservation", "2026-07-28", 9],
] as const;

test(
  "the protocol's own client scenarios for tools pass in every revision, without an expected failure",
  { timeout: 120_000 },
  async () => {
    const left = [...scenarios];
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [scenario, revision, checks] = next;
        expect(await run(scenario, revision), `${scenario} in ${revision}`).toContain(`Passed: ${checks}/${checks}, 0 failed`);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
  },
);

test("a server answers in its own revision, also an older one", async () => {
  const at = bench(["2025-03-26", "2025-06-18", "2025-11-25"].map((revision) => fake(`r${revision}`, { revision })));
  await at.start();
  expect(at.source.servers.map((server) => server.state())).toMatchObject([
    { type: "ready", revision: "2025-03-26" },
    { type: "ready", revision: "2025-06-18" },
    { type: "ready", revision: "2025-11-25" },
  ]);
  expect((await at.call("mcp__r2025-06-18__echo", { a: 1 })).text).toBe('{"a":1}');
});
