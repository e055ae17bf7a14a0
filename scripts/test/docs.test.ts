import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });

test.each(documents)("every link to a file in %s leads to one", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? "");
  expect(targets.filter((target) => !existsSync(join(root, dirname(document), target)))).toEqual([]);
});

/** As GitHub names headings. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(path, "utf8")
    .replace(/^```.*?^```$/gms, "")
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(documents)("every link to a heading in %s leads to one", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const targets = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(([, file = "", anchor = ""]) => ({ file, anchor }));
  const isThere = ({ file, anchor }: (typeof targets)[number]) =>
    anchorsOf(file === "" ? join(root, document) : join(root, dirname(document), file)).includes(anchor);
  expect(targets.filter((target) => !isThere(target))).toEqual([]);
});

test("every place that the architecture page names exists", () => {
  const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const table = text.slice(text.indexOf("## Where to find each behaviour"), text.indexOf("## Tests"));
  const places = [...table.matchAll(/`([^`]+)`/g)]
    .map((match) => match[1] ?? "")
    .filter((place) => place.includes("/") && !place.endsWith("/"));
  expect(places.length).toBeGreaterThan(20);
  expect(places.filter((place) => !existsSync(join(root, "packages", place)))).toEqual([]);
});
