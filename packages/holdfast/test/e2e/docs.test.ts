import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { ShownCommand } from "../pages.ts";
import { commandsOf, pages, repository } from "../pages.ts";
import type { DocsPlace } from "./docs-place.ts";
import { createDocsPlace } from "./docs-place.ts";

/** What a page writes for something of the reader's own, and what stands there when its commands are run. */
const stands: readonly (readonly [shown: RegExp, becomes: string | ((place: DocsPlace) => Promise<string>)])[] = [
  [/\/NAME\b/g, "/test"],
  [/_KEY=…/g, "_KEY=docs-key"],
  [/\$PWD\/node_modules|(?<=^|\s)node_modules(?=\/\.bin)/g, `${repository}/node_modules`],
  // npm itself would take most of the time of these tests; this is what it would run.
  [/"npm test"/g, '"sh test.sh"'],
  [/\bnpx -y @modelcontextprotocol\/server-memory\b/g, `${repository}/node_modules/.bin/mcp-server-memory`],
  [/\bREF\b/g, "main"],
  [/\bses_01J\b/g, (place) => place.session()],
  [/\bapr_01J\b/g, (place) => place.openApproval()],
  [/\bqst_01J\b/g, (place) => place.openQuestion()],
  [/\b3f2a9c1b\b/g, (place) => place.hookHash()],
];

/** What must be there before a line can do what it says. */
const needs: readonly (readonly [line: RegExp, (place: DocsPlace) => Promise<unknown>])[] = [
  [/\bholdfast answer\b/, (place) => place.openQuestion()],
  [/\bholdfast (sessions search|undo)\b/, (place) => place.session()],
];

/** What stands beside `holdfast` on the pages and is run as it is. */
const runnable = /^(holdfast|git|export|mkdir|cat|ln|jq|node_modules\/\.bin\/holdfast)\b/;
const npmScript = /^npm (?:run )?([\w:-]+)/;
const scripts = (JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { scripts: object }).scripts;

async function outcomeOf(place: DocsPlace, { text, exits }: ShownCommand): Promise<string | null> {
  const script = npmScript.exec(text)?.[1];
  if (script !== undefined) return Object.hasOwn(scripts, script) ? null : "names no script of package.json";
  if (!runnable.test(text)) return "is nothing that is run here: tag its fence `text` and say before it what it needs";
  for (const [asked, prepare] of needs) if (asked.test(text)) await prepare(place);
  let line = text;
  for (const [shown, becomes] of stands) {
    if (line.search(shown) === -1) continue;
    const value = typeof becomes === "string" ? becomes : await becomes(place);
    line = line.replace(shown, () => value);
  }
  const { code, output } = await place.run(line);
  const isKept = exits === null ? code === 0 : code === exits;
  return isKept && !output.includes("(internal)") ? null : `exits ${code}, promised was ${exits ?? 0}:\n${output.slice(-2_000)}`;
}

const shown = pages.flatMap(({ name, fences }) => {
  const commands = fences.filter(({ tag }) => tag === "sh").map((fence) => [fence.at, commandsOf(fence)] as const);
  return commands.length === 0 ? [] : [[name, commands] as const];
});

test.concurrent.for(shown)(
  "every command of %s does what the page promises",
  { timeout: 120_000 },
  async ([, fences], { expect, onTestFinished }) => {
    const place = await createDocsPlace();
    onTestFinished(place.close);
    const broken: string[] = [];
    for (const [at, commands] of fences) {
      for (const command of commands) {
        const problem = await outcomeOf(place, command);
        if (problem !== null) broken.push(`${at}: ${command.text} ${problem}`);
      }
    }
    expect(broken.join("\n\n")).toBe("");
  },
);
