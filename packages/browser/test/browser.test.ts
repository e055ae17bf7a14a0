import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { bundleForBrowser } from "./bundle.ts";
import { runInPage } from "./chromium.ts";
import type { PageJob, PageResult } from "./page.ts";

let script: string;
beforeAll(async () => {
  script = await bundleForBrowser(join(import.meta.dirname, "page.ts"));
});

const job: PageJob = {
  prompt: "Greet everybody.",
  files: { "greet.js": `export const greet = (name) => "Hello " + name;\n`, "notes.md": "Only Ada is greeted.\n" },
  script: `
- text: First the files.
  calls:
    - { name: search, input: { pattern: greet } }
    - { name: read_file, input: { path: greet.js } }
- expect: { lastResultContains: '"Hello "' }
  calls:
    - name: edit_file
      input: { path: greet.js, edits: [{ old: '"Hello " + name', new: '"Hello everybody"' }] }
    - { name: write_file, input: { path: new/file.txt, content: "made in a page\\n" } }
    - { name: read_file, input: { path: missing.js } }
- expect: { lastStatus: failed }
  text: Everybody is greeted.
`,
};

test("the core runs a session on an in-memory workspace in a page", async () => {
  const { value, errors } = await runInPage(script, job);
  const result = value as PageResult;
  expect(errors).toEqual([]);
  expect(result.results.map((one) => one.status)).toEqual(["completed", "completed", "completed", "completed", "failed"]);
  expect(result).toMatchObject({ standing: "unverified", message: "Everybody is greeted.", chainFault: null });
  expect(result.changes.toSorted()).toEqual(["added new/file.txt", "modified greet.js"]);
  expect(result.files).toEqual({
    "greet.js": `export const greet = (name) => "Hello everybody";\n`,
    "new/file.txt": "made in a page\n",
    "notes.md": "Only Ada is greeted.\n",
  });
  expect(result.events).toContain("turn.started");
  expect(result.events.slice(-2)).toEqual(["turn.ended", "tip.signed"]);
});

test("a bundle that needs Node is refused, naming who does", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-bundle-"));
  try {
    await writeFile(join(folder, "entry.ts"), `import { inner } from "./inner.ts"; console.log(inner);`);
    await writeFile(join(folder, "inner.ts"), `import { readFileSync } from "node:fs"; export const inner = readFileSync;`);
    await expect(bundleForBrowser(join(folder, "entry.ts"))).rejects.toThrow(/inner\.ts imports node:fs/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
