import { expect, test } from "vitest";
import { evaluate as contextCost } from "../src/eval/context-cost.ts";
import { evaluate as prefix } from "../src/eval/prefix.ts";
import { reuseOf } from "../src/eval/wires/reuse.ts";

test("over each wire a request begins with the bytes of the one before, whatever happened between them", async () => {
  const { figures, misses } = await prefix({ count: 16, rest: [] });
  expect(misses).toEqual([]);
  expect(figures.filter(({ isMet }) => isMet === false)).toEqual([]);
  expect(figures.filter(({ name }) => name.endsWith("shortenings")).map(({ value }) => value)).toEqual([5, 5, 5, 5]);
}, 120_000);

test("a request whose head changed, or that lost an item, is seen", () => {
  const body = (tools: string, input: string[], more = ""): string =>
    `{"model":"m","tools":[${tools}],"input":[${input.join(",")}]${more}}`;
  const items = ['{"a":"first item"}', '{"b":"second item"}', '{"c":"third item"}'];
  const [whole, next] = [body("1", items.slice(0, 2), ',"max_output_tokens":7'), body("1", items, ',"max_output_tokens":6')];
  expect(reuseOf("responses", whole, next)).toBe(1);
  expect(reuseOf("responses", whole, body("1,2", items))).toBeLessThan(0.5);
  expect(reuseOf("responses", whole, body("1", items.slice(1)))).toBeLessThan(0.7);
});

test("the first request keeps within its bounds, bare and laden, and a step that follows on a kept answer sends no more at the end", async () => {
  const { figures } = await contextCost({ count: 20, rest: [] });
  // Times are for the full run: a machine at work on other things tells none.
  const sizes = figures.filter(({ name }) => !name.includes(" events"));
  expect(sizes.filter(({ isMet }) => isMet === false)).toEqual([]);
  expect(sizes.filter(({ isMet }) => isMet === true).length).toBeGreaterThanOrEqual(11);
}, 120_000);
