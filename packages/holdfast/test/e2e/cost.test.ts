import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

/** A model that reads for ever; the server counts 100 tokens of input and 20 of output each time. */
const reads = (results: readonly string[]) => ({
  calls: [{ name: "read_file", input: { path: "README.md", offset: results.length + 1 } }],
});

test("--max-cost holds by the price in the config: the turn ends as exhausted before the money is passed", async () => {
  const place = await createPlace(reads);
  mkdirSync(join(place.home, ".holdfast"));
  writeFileSync(
    join(place.home, ".holdfast/config.toml"),
    '[model."openai/test"]\ncontext_window = 200000\nprice_input = 300\nprice_output = 3000\n',
  );
  const { code, stderr } = await place.exec("--max-cost", "5", "go");
  expect(code).toBe(5);
  expect(stderr).toContain("exhausted · the session's limit of cost in dollars, the next request's worst");
  expect(stderr).toContain("--max-cost");
  expect(stderr).not.toContain("is unknown");
  const shown = (await place.start(["sessions", "show", await place.session(), "--json"]).finished).stdout;
  const { cost } = JSON.parse(shown) as { cost: number };
  expect(cost).toBeCloseTo(0.09 * place.server.requests.length, 9);
  expect(cost).toBeGreaterThan(1);
  expect(cost).toBeLessThanOrEqual(5);
});

test("of a model whose price nobody knows that is said at the start, once, and --max-cost ends the turn after the first request", async () => {
  const place = await createPlace(reads);
  const { code, stderr } = await place.exec("--max-cost", "5", "go");
  expect(code).toBe(5);
  expect(stderr.split("its price is unknown, so no limit of cost can hold")).toHaveLength(2);
  expect(stderr).toContain("exhausted · the model's cost is unknown, so the limit of cost can't be held");
  expect(place.server.requests).toHaveLength(1);
});

test("a limit of cost in the config that can't be held is named by file and line, and a session goes on without it", async () => {
  const place = await createPlace(reads);
  mkdirSync(join(place.home, ".holdfast"));
  const config = join(place.home, ".holdfast/config.toml");
  writeFileSync(config, "[limits]\nmax_cost = 5\n");
  const { code, stdout } = await place.exec("--json", "go");
  expect(code).toBe(5);
  expect(stdout).toContain(`the limit of cost can't be held (set by ${config}:2)`);
  expect(stdout).toContain("0 of 5 dollars of the session");
  expect(stdout).not.toContain("costPerSession 0");
  const before = place.server.requests.length;
  const onward = await place.exec("resume", await place.session(), "--limits", "default", "--max-steps", "3", "go on");
  expect(onward.stderr).not.toContain("can't be held");
  expect(place.server.requests).toHaveLength(before + 3);
});
