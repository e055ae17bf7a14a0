import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { evaluate } from "../src/eval/tool-search.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-eval-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const tools = [
  { name: "open_door", server: "house", description: "Opens a door.", inputSchema: {} },
  { name: "ring_bell", server: "house", description: "Rings the bell.", inputSchema: {} },
  { name: "ring_bell__garden", server: "garden", description: "Rings the bell there.", inputSchema: {} },
  { name: "paint_fence", server: "garden", description: "Paints.", inputSchema: {} },
];

async function write(set: string, queries: readonly object[]): Promise<void> {
  await mkdir(join(folder, set));
  await writeFile(join(folder, set, "tools.json"), JSON.stringify(tools));
  await writeFile(join(folder, set, "queries.dev.json"), JSON.stringify(queries));
}

test("steps count together for their task, same-named tools of other servers count, and what is missed is told", async () => {
  const both = { task: "t", relevant: ["open_door", "ring_bell__garden"], alternatives: { ring_bell__garden: ["ring_bell"] } };
  await write("livemcpbench", [
    { id: "t/task", kind: "task", text: "unrelated", ...both },
    { id: "t/1", kind: "step", text: "open the door", ...both },
    { id: "t/2", kind: "step", text: "ring", ...both },
  ]);
  await write("bfcl-v4", [
    { id: "hit", kind: "call", text: "paint", task: "a", relevant: ["paint_fence"] },
    { id: "half", kind: "call", text: "paint", task: "b", relevant: ["paint_fence", "open_door"] },
  ]);
  const { figures, misses } = await evaluate({ data: folder, rest: [] });
  const value = (name: string) => figures.find((figure) => figure.name === name);
  expect(value("LiveMCPBench: recall@5")).toMatchObject({ value: 1, n: 1, isMet: true });
  expect(value("LiveMCPBench: all tools@10")).toMatchObject({ value: 1, n: 1, isMet: true });
  expect(value("BFCL: recall@5")).toMatchObject({ value: 0.75, n: 2, isMet: false });
  expect(value("BFCL: all tools@10")).toMatchObject({ value: 0.5, n: 2, isMet: false, interval: [0, 1] });
  expect(misses).toEqual([{ set: "BFCL", id: "half", missing: ["open_door"] }]);
});

test("data that isn't there is said in one line", () => {
  const program = join(import.meta.dirname, "../src/eval.ts");
  const { status, stderr } = spawnSync(process.execPath, [program, "tool-search", "--data", join(folder, "none")], { encoding: "utf8" });
  const missing = join(folder, "none/livemcpbench/tools.json");
  expect([status, stderr]).toEqual([
    2,
    `Its cases can't be read: there is no ${missing}. Name the folder that holds them with --data DIR.\n`,
  ]);
});
