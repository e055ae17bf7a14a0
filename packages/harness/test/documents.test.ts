import type { CallContext, CallIntent, FoundChunk } from "@holdfast/runtime";
import { expect, test } from "vitest";
import { chunksOf } from "../src/documents/chunk.ts";
import { queryWords } from "../src/documents/query.ts";
import { searchDocumentsTool } from "../src/index.ts";

test("a document is read in pieces that end before headings, each with its lines and the headings it stands under", () => {
  const text = "Intro\n=====\nHello.\n\n# One\ntext one\n## Two ##\n```\n# no heading\n```\n| a |\n---|\n\nThree\n-----\nlast";
  expect(chunksOf(text).map(({ line, endLine, heading }) => [line, endLine, heading])).toEqual([
    [1, 4, "Intro"],
    [5, 6, "One"],
    [7, 13, "One > Two"],
    [14, 16, "One > Three"],
  ]);
  expect(chunksOf("")).toEqual([]);
});

test("long documents come in bounded pieces, and together they are the whole", () => {
  const paragraphs = Array.from({ length: 200 }, (_, n) => `Paragraph ${n} ${"word ".repeat(n % 60)}`).join("\n\n");
  const chunks = chunksOf(paragraphs);
  for (const { text } of chunks) expect(text.length).toBeLessThanOrEqual(3_000);
  expect(chunks.map(({ text }) => text).join("\n")).toBe(paragraphs);
  const oneLine = "x".repeat(100_000);
  expect(
    chunksOf(oneLine)
      .map(({ text }) => text)
      .join(""),
  ).toBe(oneLine);
});

test("a text of nothing but headings has an end of pieces, and one that looks like a heading without end takes no time", () => {
  expect(chunksOf("# a\n".repeat(20_000))).toHaveLength(5_000);
  expect(chunksOf(`# a${" ".repeat(1_000_000)}b`).every(({ heading }) => heading === "")).toBe(true);
});

test.each([
  ["How do I deploy the app?", ["deploy", "app"]],
  ["to be or not", ["to", "be", "or", "not"]],
  ["Fehler: Größe größe E_42", ["fehler", "größe", "e_42"]],
])("%j asks for %j", (text, words) => {
  expect(queryWords(text)).toEqual(words);
});

test("search_documents gives passages with place and trust, and says what it did not look at", async () => {
  const hit: FoundChunk = {
    path: "docs/a.md",
    line: 3,
    endLine: 9,
    heading: "Deploying > By hand",
    text: "x".repeat(2_000),
    isWhole: false,
    score: 1,
  };
  const asked: string[] = [];
  const tool = searchDocumentsTool({
    search: async (query) => {
      asked.push(query);
      return query === "nothing"
        ? { found: [], remarks: ["[gone: there is no such folder]"] }
        : { found: [{ ...hit, trust: "untrusted" }], remarks: [] };
    },
  });
  const run = async (query: string) => {
    const plan = await tool.plan({ query }, {} as CallContext);
    if ("type" in plan) throw new Error(plan.text);
    return tool.run({ plan } as CallIntent, {} as CallContext, new AbortController().signal);
  };
  const { text, trust } = await run("deploy");
  expect(text.split("\n")[0]).toBe("docs/a.md:3-9 · Deploying > By hand · only its beginning is indexed (untrusted):");
  expect([trust, text.length < 1_200, asked]).toEqual(["untrusted", true, ["deploy"]]);
  expect((await run("nothing")).text).toBe("No document has these words.\n[gone: there is no such folder]");
  expect(await tool.plan({ query: " " }, {} as CallContext)).toMatchObject({ type: "refused" });
});
