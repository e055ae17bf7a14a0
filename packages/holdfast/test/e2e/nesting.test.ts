import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const program = join(import.meta.dirname, "../../../../node_modules/.bin/holdfast");

test("recursion (C03): sessions that start sessions are refused beyond the limit of depth, and the refusal is a result like any", async () => {
  const place = await createPlace((results) => {
    if (results.length > 0) return { text: results.at(-1)! };
    const keys = `OPENAI_API_KEY=k OPENAI_BASE_URL=${place.server.baseUrl} HOLDFAST_HOME=${place.home}/.holdfast`;
    // Each in a folder of its own: a command holds the workspace.
    const start = `${program} exec --cd "$(mktemp -d ${place.home}/below.XXXX)" --model openai/test --sandbox off --approvals allow again`;
    const command = `cd / && ${keys} ${start} 2>&1`;
    return { calls: [{ name: "run_command", input: { command } }] };
  });
  const { code, stdout } = await place.exec("--sandbox", "off", "--approvals", "allow", "start");
  expect(code).toBe(0);
  expect(stdout).toContain("depth_reached");
  expect(stdout).toContain("Holdfast was started from within Holdfast 3 times over; the limit is 2");
  // The first session and two below it asked the model, each twice.
  expect(place.server.requests).toHaveLength(6);
});
