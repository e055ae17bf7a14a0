import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endingOf, makeAdder, right, wrong } from "./adder.ts";
import type { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makeAdder();
  place.write(".gitignore", "node_modules/\ncoverage/\n*.log\n*.pyc\n");
  place.commit();
});
afterEach(() => place.end());

const reads = (path: string): string =>
  `import fs from "node:fs";\nconst all = JSON.parse(fs.readFileSync("${path}", "utf8"));\nexport const add = (a, b) => all[[a, b]];\n`;

test.each(["coverage/answers.json", "app.log", "answers.pyc"])("answers that lie where tools only write are no work: %s", async (path) => {
  const end = await endingOf(place, () => {
    place.write(path, '{"1,2":3,"0,0":0}');
    place.write("src/add.js", reads(path));
  });
  expect(end).toMatchObject({ verdict: "weak", kinds: ["stale_build"] });
});

test("nor are those in a tool's cache inside a dependency folder", async () => {
  place.write("node_modules/x/index.js", "");
  const end = await endingOf(place, () => {
    place.write("node_modules/.cache/add.js", right);
    place.write("src/add.js", 'export * from "../node_modules/.cache/add.js";\n');
  });
  expect(end.verdict).toBe("weak");
  expect(end.kinds).toContain("stale_build");
});

test("a marked cache there that came since is no change of what is installed, and no work either", async () => {
  place.write("node_modules/x/index.js", "");
  const cached = (source: string) => () => {
    place.write("node_modules/.tool-cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    place.write("node_modules/.tool-cache/add.js", right);
    place.write("src/add.js", source);
  };
  expect(await endingOf(place, cached('export * from "../node_modules/.tool-cache/add.js";\n'))).toMatchObject({ kinds: ["stale_build"] });
  place.remove("node_modules/.tool-cache");
  place.write("src/add.js", wrong);
  expect(await endingOf(place, cached(right))).toMatchObject({ verdict: "pass", kinds: [] });
});

test("a source that writes a log is proven without the old one", async () => {
  const end = await endingOf(place, () => {
    place.write("app.log", "old\n");
    place.write("src/add.js", `import fs from "node:fs";\nexport const log = (text) => fs.writeFileSync("app.log", text);\n${right}`);
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
});

test.each([
  [
    "an empty folder",
    'fs.existsSync(new URL("../data/units", import.meta.url))',
    (dir: string) => mkdirSync(join(dir, "data/units"), { recursive: true }),
  ],
  ["a file's time", 'fs.statSync("package.json").mtimeMs <= 1e12', (dir: string) => utimesSync(join(dir, "package.json"), 1e9, 1e9)],
])("what no tree holds decides nothing: %s", async (_, isThere, make) => {
  const end = await endingOf(place, () => {
    make(place.dir);
    place.write("src/add.js", `import fs from "node:fs";\nexport const add = (a, b) => (${isThere} ? a + b : a - b);\n`);
  });
  expect(end).toMatchObject({ verdict: "weak" });
});

test("a folder that is empty now and that a source makes is none of that", async () => {
  const end = await endingOf(place, () => {
    mkdirSync(join(place.dir, "out"));
    place.write("src/add.js", `import fs from "node:fs";\nfs.mkdirSync("out", { recursive: true });\nfs.readdirSync("./out");\n${right}`);
  });
  expect(end).toMatchObject({ verdict: "pass", kinds: [] });
});
