import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bench, fake, folder } from "./bench.ts";

const suite = join(import.meta.dirname, "../../../node_modules/.bin/conformance");
const client = `${process.execPath} ${join(import.meta.dirname, "conformance-client.ts")}`;

function run(scenario: string): Promise<string> {
  const args = [suite, "client", "--command", client, "--scenario", scenario, "--output-dir", folder()];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

test("the protocol's own client scenarios for tools pass, without an expected failure", async () => {
  const results = await Promise.all(["initialize", "tools_call", "sse-retry"].map(run));
  for (const [index, passed] of ["1/1", "1/1", "3/3"].entries()) expect(results[index]).toContain(`Passed: ${passed}, 0 failed`);
});

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
