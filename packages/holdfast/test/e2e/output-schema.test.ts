import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace } from "./run.ts";

const schema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"], additionalProperties: false };
const place = async (...answers: string[]) => {
  const made = await createPlace((results, sampling) =>
    sampling === 1 && results.length === 0 && answers[0] === "call"
      ? { calls: [{ name: "run_command", input: { command: "ls" } }] }
      : { text: answers[sampling - 1] ?? "in words" },
  );
  writeFileSync(join(made.workspace, "schema.json"), JSON.stringify(schema));
  return made;
};
const formatOf = (request: unknown) => (request as { text?: { format?: object } }).text?.format;

test("tool steps stay free, a wrong answer is corrected once, and the JSON alone is on stdout and in the file", async () => {
  const { exec, server, workspace } = await place("call", '{"files":"\u200bone"}', '{ "files": 1, "files": 2 }\n');
  const run = await exec("--output-schema", "schema.json", "-o", "out.json", "count");
  expect([run.code, run.stdout]).toEqual([0, '{ "files": 1, "files": 2 }\n']);
  expect(readFileSync(join(workspace, "out.json"), "utf8")).toContain('{ "files": 1, "files": 2 }');
  expect(run.stderr).toContain('not valid: /files: type "string" is invalid. Expected "integer".');
  expect(server.requests).toHaveLength(3);
  for (const request of server.requests)
    expect(formatOf(request)).toEqual({ type: "json_schema", name: "final_answer", strict: true, schema });
  // The head of every request is the same, so that a provider's cache keeps hitting.
  const heads = server.requests.map((request) => JSON.stringify({ ...(request as object), input: null, max_output_tokens: null }));
  expect(new Set(heads).size).toBe(1);
  expect(heads[0]).toContain("valid under this JSON Schema");
});

test("an answer that is wrong twice fails with output_invalid; the next prompt without the flag is answered in words", async () => {
  const { exec, server } = await place("no", "```json\n{}\n```", "words again");
  const run = await exec("--json", "--output-schema", "schema.json", "count");
  const events = run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(run.code).toBe(1);
  expect(events.filter(({ type }) => type === "output.judged").map(({ valid }) => valid)).toEqual([false, false]);
  expect(events.at(-1)).toMatchObject({
    type: "turn.failed",
    outcome: "failed",
    error: { message: expect.stringContaining("output schema") },
  });

  const next = await exec("resume", "--last", "and in words?");
  expect([next.code, next.stdout]).toEqual([0, "words again\n"]);
  expect(formatOf(server.requests.at(-1))).toBeUndefined();
  expect(JSON.stringify(server.requests.at(-1))).toContain("follows no JSON Schema any more");
});

test("exec resume takes a schema for its turn", async () => {
  const { exec, server } = await place("words", '{"files":7}');
  expect((await exec("go")).code).toBe(0);
  const next = await exec("resume", "--last", "--output-schema", "schema.json", "count");
  expect([next.code, next.stdout]).toEqual([0, '{"files":7}\n']);
  expect(formatOf(server.requests[0])).toBeUndefined();
  expect(formatOf(server.requests[1])).toMatchObject({ schema });
});

test.each([
  ["nothing", null, "there is no such file"],
  ["no JSON", "{", "this is not JSON"],
  ["no schema", '{"type":"objekt"}', "/type"],
  ["a schema that lies elsewhere", '{"$ref":"https://example.org/s.json"}', "nothing is loaded"],
  ["too much", `{"description":"${"x".repeat(40_000)}"}`, "more than 32 kB"],
])("a schema file that holds %s is refused before the model is asked", async (_, text, why) => {
  const { exec, server, workspace } = await place();
  if (text !== null) writeFileSync(join(workspace, "bad.json"), text);
  const run = await exec("--output-schema", "bad.json", "go");
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(why);
  expect(server.requests).toEqual([]);
});
