import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { main } from "../src/program.ts";
import { fakeIo } from "./fake-io.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-tools-"));
  await mkdir(join(folder, "home"));
  await writeFile(
    join(folder, "tools.json"),
    JSON.stringify([
      {
        name: "create_issue",
        server: "tracker",
        description: "Opens an issue.",
        inputSchema: { type: "object", properties: { title: {} } },
      },
      { name: "read_page", server: "web", description: "Reads a page.\u001b[31m", inputSchema: {} },
      { name: "bare" },
    ]),
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(argv: readonly string[], input = "") {
  const io = fakeIo({ cwd: folder, home: join(folder, "home"), input });
  const status = await main(["tools", "search", ...argv], io);
  return { status, out: io.out(), err: io.err() };
}

test("tools search says which tools fit, and what each word added in which field", async () => {
  const { status, out } = await run(["--tools", "tools.json", "open", "an", "issue"]);
  expect(status).toBe(0);
  expect(out.split("\n")[0]).toContain("create_issue");
  expect(out).toMatch(/issu: .*name [\d.]+.*description [\d.]+/);
  const [first] = (await run(["--tools", "tools.json", "--json", "issue"])).out.split("\n");
  expect(JSON.parse(first!)).toMatchObject({ type: "tool_found", name: "create_issue", server: "tracker" });
  expect((await run(["--tools", "tools.json", "zzz"])).out).toBe("none of 3 tools matches\n");
});

test("tools search --batch ranks for each line of standard input", async () => {
  const { status, out } = await run(
    ["--batch", "--tools", "tools.json"],
    '{"id": "a", "text": "file a bug"}\n\n{"id": 7, "text": "page"}\n{"id": "none", "text": "qqq"}\n',
  );
  expect(status).toBe(0);
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { id: "a", names: ["create_issue"] },
    { id: 7, names: ["read_page"] },
    { id: "none", names: [] },
  ]);
});

test.each([
  [[], "", "search for what"],
  [["--batch", "x"], "", "standard input"],
  [["--batch", "--tools", "tools.json"], "{}", "has no text"],
  [["--batch", "--tools", "tools.json"], "no JSON", "line 1: it is no JSON"],
  [["--tools", "absent.json", "x"], "", "absent.json"],
  [["--limit", "none", "--tools", "tools.json", "x"], "", "--limit"],
])("tools search %j says what is wrong", async (argv, input, message) => {
  const { status, err } = await run(argv, input);
  expect(status).toBe(2);
  expect(err).toContain(message);
});
