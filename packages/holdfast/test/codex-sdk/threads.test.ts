import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ThreadItem } from "@openai/codex-sdk";
import { expect, onTestFinished, test } from "vitest";
import { createPlace } from "../e2e/run.ts";
import { bin, environment, eventsOf, run, setUp, writes } from "./program.ts";

/** Answers every search with one page. */
async function searchService(): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ results: [{ title: "A page", url: "https://example.org/", content: "text" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("run: the answer, the items and the usage come back; model, key and address are those of the program", async () => {
  const { place, thread } = await setUp((results) =>
    results.length === 0
      ? {
          calls: [{ name: "write_file", input: { path: "made.txt", content: "made\n" } }],
          usage: { input_tokens_details: { cached_tokens: 40 } },
        }
      : { text: "Made it.", usage: { output_tokens: 30, output_tokens_details: { reasoning_tokens: 10 } } },
  );
  const turn = await thread.run("make the file");
  expect(turn.finalResponse).toBe("Made it.");
  expect(turn.items.map(({ type }) => type)).toEqual(["file_change", "agent_message"]);
  expect(turn.usage).toEqual({
    input_tokens: 200,
    cached_input_tokens: 40,
    cache_write_input_tokens: 0,
    output_tokens: 50,
    reasoning_output_tokens: 10,
  });
  expect(readFileSync(join(place.workspace, "made.txt"), "utf8")).toBe("made\n");
  expect(thread.id).toBe(await place.session());
  expect(place.server.requests[0]).toMatchObject({ model: "gpt-5.1-codex" });
  expect(place.server.authorizations).toEqual(["Bearer key-of-the-program", "Bearer key-of-the-program"]);
});

test("runStreamed: every kind of item, each as the SDK's types say, with an id of its own", async () => {
  const { place, thread } = await setUp(
    (results, sampling) => {
      switch (sampling) {
        case 1:
          return { fault: 500 };
        case 2:
          return {
            reasoning: "First a plan.",
            text: "I begin.",
            calls: [{ name: "update_plan", input: { plan: [{ step: "look", status: "in_progress" }] } }],
          };
        case 3:
          return { calls: [run("echo one; exit 3"), run("cat README.md"), { name: "read_file", input: { path: "none" } }] };
        case 4:
          return { calls: [{ name: "search_tools", input: { query: "sum of two numbers, environment variables, search the web" } }] };
        case 5:
          return {
            calls: [
              { name: "edit_file", input: { path: "README.md", edits: [{ old: "project", new: "thing" }] } },
              { name: "use_tool", input: { name: "mcp__every__get-sum", input: { a: 19, b: 23 } } },
              { name: "use_tool", input: { name: "mcp__every__toggle-simulated-logging", input: {} } },
              { name: "use_tool", input: { name: "web_search", input: { query: "holdfast" } } },
            ],
          };
        case 6:
          return { calls: [{ name: "update_plan", input: { plan: [{ step: "look", status: "completed" }] } }] };
        default:
          return { text: `${results.length} results.` };
      }
    },
    {},
    {
      config: {
        web: { search: { provider: "searxng", base_url: await searchService() } },
        mcp_servers: {
          every: {
            command: bin("mcp-server-everything"),
            args: ["stdio"],
            startup_timeout_sec: 30,
            tools: { "get-sum": { approval_mode: "approve" } },
          },
        },
      },
    },
  );
  const events = await eventsOf((await thread.runStreamed("do all of it")).events);
  expect(events[0]).toEqual({ type: "thread.started", thread_id: await place.session() });
  expect(events[1]).toEqual({ type: "turn.started" });
  expect(events.at(-1)?.type).toBe("turn.completed");
  const completed = events.flatMap((event) => (event.type === "item.completed" ? [event.item] : []));
  const ofType = <Type extends ThreadItem["type"]>(type: Type) =>
    completed.filter((item): item is Extract<ThreadItem, { type: Type }> => item.type === type);
  expect(new Set(completed.map(({ id }) => id)).size).toBe(completed.length);
  expect(ofType("error").map(({ message }) => message)).toEqual([expect.stringContaining("500")]);
  expect(ofType("reasoning").map(({ text }) => text)).toEqual(["First a plan."]);
  expect(ofType("agent_message").map(({ text }) => text)).toEqual(["I begin.", "10 results."]);
  const commands = ofType("command_execution").map(({ command, exit_code, status }) => [command, exit_code, status]);
  expect(commands.toSorted()).toEqual([
    ["cat README.md", 0, "completed"],
    ["echo one; exit 3", 3, "failed"],
  ]);
  expect(ofType("command_execution").find(({ exit_code }) => exit_code === 0)?.aggregated_output).toContain("# A project");
  expect(ofType("file_change").map(({ changes, status }) => [changes, status])).toEqual([
    [[{ path: join(realpathSync(place.workspace), "README.md"), kind: "update" }], "completed"],
  ]);
  const calls = ofType("mcp_tool_call").map(({ server, tool, status, error }) => [server, tool, status, error === undefined]);
  expect(calls.toSorted()).toEqual([
    ["every", "get-sum", "completed", true],
    ["every", "toggle-simulated-logging", "failed", false],
    ["holdfast", "read_file", "failed", false],
    ["holdfast", "search_tools", "completed", true],
  ]);
  expect(JSON.stringify(ofType("mcp_tool_call").find(({ tool }) => tool === "get-sum")?.result)).toContain("42");
  expect(ofType("web_search")).toEqual([expect.objectContaining({ query: "holdfast", status: "completed" })]);
  expect(ofType("todo_list").map(({ items }) => items)).toEqual([[expect.objectContaining({ text: "look", completed: true })]]);
  const todo = ofType("todo_list")[0]?.id;
  const ofTodo = events.filter((event) => "item" in event && event.item.id === todo).map(({ type }) => type);
  expect(ofTodo).toEqual(["item.started", "item.updated", "item.completed"]);
});

test("a thread goes on: with the same object, and with resumeThread from another folder, which keeps the thread's own", async () => {
  const { place, codex, thread } = await setUp((_, sampling) => ({ text: `answer ${sampling}` }));
  expect((await thread.run("first")).finalResponse).toBe("answer 1");
  expect((await thread.run("second")).finalResponse).toBe("answer 2");
  const resumed = codex.resumeThread(thread.id ?? "", { ...writes, workingDirectory: place.home });
  expect((await resumed.run("third")).finalResponse).toBe("answer 3");
  expect(resumed.id).toBe(thread.id);
  const asked = JSON.stringify(place.server.requests.at(-1));
  for (const said of ["first", "answer 1", "second", "answer 2", "third"]) expect(asked).toContain(said);
  expect(await place.session()).toBe(thread.id);
});

test("outputSchema: the answer is JSON under it, and the next run without one is answered in words", async () => {
  const { place, thread } = await setUp((_, sampling) => ({ text: sampling === 1 ? '{"files":2}' : "in words" }));
  const outputSchema = { type: "object", properties: { files: { type: "integer" } }, required: ["files"], additionalProperties: false };
  const { finalResponse } = await thread.run("count", { outputSchema });
  expect(JSON.parse(finalResponse)).toEqual({ files: 2 });
  expect(place.server.requests[0]).toMatchObject({ text: { format: { type: "json_schema", schema: outputSchema } } });
  expect((await thread.run("and now?")).finalResponse).toBe("in words");
});

test("images reach the model, with words and without, in a new thread and in one that goes on", async () => {
  const { place, thread } = await setUp(() => ({ text: "Seen." }));
  const [path, another] = [join(place.home, "dot.png"), join(place.home, "another.png")];
  const base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  writeFileSync(path, Buffer.from(base64, "base64"));
  writeFileSync(another, Buffer.from(base64.replace("mNkYPhf", "mNkYPhe"), "base64"));
  await thread.run([{ type: "local_image", path }]);
  await thread.run([
    { type: "text", text: "what is" },
    { type: "text", text: "on it?" },
    { type: "local_image", path: another },
    // The same one again is shown once.
    { type: "local_image", path },
  ]);
  const images = place.server.requests.map((request) => JSON.stringify(request).split("data:image/png;base64,").length - 1);
  expect(images).toEqual([1, 2]);
  expect(JSON.stringify(place.server.requests[1])).toContain("what is\\n\\non it?");
});

test("additional directories can be written, others can't, and without sandboxMode nothing can", async () => {
  const touch = run("touch ~/extra/a; touch ~/other/b; touch inside");
  const { place, codex } = await setUp((results) => (results.length % 2 === 0 ? { calls: [touch] } : { text: "Tried." }));
  for (const name of ["extra", "other"]) mkdirSync(join(place.home, name));
  const folders = ["extra/a", "other/b"].map((name) => join(place.home, name)).concat(join(place.workspace, "inside"));
  const options = { model: "gpt-5.1-codex", workingDirectory: place.workspace, additionalDirectories: [join(place.home, "extra")] };
  await codex.startThread(options).run("write");
  expect(folders.map(existsSync)).toEqual([false, false, false]);
  const thread = codex.startThread({ ...options, sandboxMode: "workspace-write" });
  await thread.run("write");
  expect(folders.map(existsSync)).toEqual([true, false, true]);
  expect((await thread.run("again")).finalResponse).toBe("Tried.");
});

test("two threads at once in one folder don't disturb each other", async () => {
  const { place, codex } = await setUp((results, sampling) =>
    results.length === 0 ? { calls: [run(`echo run ${sampling}`)], delayMs: 50 } : { text: results.join() },
  );
  const threads = [1, 2].map(() => codex.startThread({ ...writes, workingDirectory: place.workspace }));
  const turns = await Promise.all(threads.map((thread) => thread.run("say")));
  // Each has the output of its own command, and of no other.
  const outputs = turns.map(({ finalResponse }) => finalResponse.match(/run \d/g) ?? []);
  expect(outputs.map(({ length }) => length)).toEqual([1, 1]);
  expect(new Set(outputs.flat()).size).toBe(2);
  expect(new Set(threads.map(({ id }) => id)).size).toBe(2);
});

test("the program of the documentation runs as it stands", async () => {
  const text = readFileSync(join(import.meta.dirname, "sample.ts"), "utf8");
  const document = readFileSync(join(import.meta.dirname, "../../../../docs/codex-sdk.md"), "utf8");
  expect(document).toContain(`\`\`\`ts\n${text}\`\`\``);
  const place = await createPlace(
    (_, sampling) =>
      [
        { calls: [{ name: "edit_file", input: { path: "greet.js", edits: [{ old: "Hello", new: "Bonjour" }] } }, run("node greet.js")] },
        { text: "It says Bonjour." },
        { text: '{"files":["greet.js"]}' },
      ][sampling - 1] ?? { text: "too much" },
    { "greet.js": 'console.log("Hello");\n' },
  );
  const env = environment(place, { OPENAI_BASE_URL: place.server.baseUrl, OPENAI_API_KEY: "k-0123456789" });
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, "sample.ts")], { cwd: place.workspace, env });
  expect(stdout).toContain("update");
  expect(stdout).toContain("$ node greet.js → 0");
  expect(stdout).toContain("It says Bonjour.\n[ 'greet.js' ] 20\n");
});
