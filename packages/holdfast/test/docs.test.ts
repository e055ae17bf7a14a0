import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitStatus } from "@holdfast/protocol";
import type { Standing } from "@holdfast/protocol";
import { errorCodes } from "@holdfast/protocol/error";
import { factKinds } from "@holdfast/policy/facts/fact";
import { ruleKeys } from "@holdfast/policy/rules/keys";
import { describe, expect, test } from "vitest";
import type { Command, CommandSpec } from "../src/cli/command.ts";
import { commonFlags } from "../src/cli/parse.ts";
import { loadConfig } from "../src/config/load.ts";
import { gatherPolicy } from "../src/policy/load.ts";
import { commandsOf, fencesTagged, pages } from "./pages.ts";

const folder = join(import.meta.dirname, "../src/commands");
const names = readdirSync(folder).flatMap((name) => (name.endsWith(".ts") ? [name.slice(0, -3)] : []));
const specs = new Map<string, CommandSpec>(
  await Promise.all(
    names.map(
      async (name) => [name === "line" ? "" : name, ((await import(join(folder, `${name}.ts`))) as { command: Command }).command] as const,
    ),
  ),
);

function flagsOf({ flags }: CommandSpec): string[] {
  return Object.entries({ ...flags, ...commonFlags }).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
}

/** What is wrong with a command line as a page writes it, placeholders and all. */
function problemsOf(shown: string): string[] {
  const [line = ""] = shown.replace(/"[^"]*"|'[^']*'/g, "TEXT").split(/ -- |[|>#;]/);
  const words = line
    .replace(/[[\]…]/g, " ")
    .trim()
    .split(/\s+/)
    .slice(1);
  const [first = ""] = words;
  if (/^[A-Z]/.test(first)) return [];
  const name = first.startsWith("-") ? "" : first;
  const spec = specs.get(name);
  if (spec === undefined) return name === "help" || first === "--version" ? [] : [`there is no command ${name}`];
  const verbs = spec.usage.flatMap((usage) => new RegExp(`^holdfast ${name} ([a-z]+)\\b`).exec(usage)?.[1] ?? []);
  const verb = words[1] ?? "";
  const known = new Set(flagsOf(spec));
  return [
    ...(verbs.length > 0 && /^[a-z]+$/.test(verb) && !verbs.includes(verb) ? [`${name} has no ${verb}`] : []),
    ...words.filter((word) => /^--?[a-zA-Z]/.test(word) && !known.has(word.split("=")[0] ?? "")),
  ];
}

const spansOf = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");

describe.each(pages)("$name", ({ name, fences, prose }) => {
  test("says of each fence what it holds", () => {
    expect(fences.filter(({ tag }) => !["sh", "toml", "json", "yaml", "ts", "text"].includes(tag)).map(({ at }) => at)).toEqual([]);
  });

  test("says what a command needs that no test runs", () => {
    const shown = fences.filter(({ tag, body }) => tag === "text" && /^\s*(\$ )?holdfast /m.test(body));
    expect(shown.filter(({ before }) => !before.includes("needs")).map(({ at }) => at)).toEqual([]);
  });

  test("names commands and flags that there are", () => {
    const inFences = fences.flatMap((fence) =>
      fence.tag === "sh"
        ? commandsOf(fence).flatMap(({ text }) => text.match(/\bholdfast\b [^\n]*/)?.[0] ?? [])
        : fence.tag === "yaml"
          ? [...fence.body.matchAll(/(?:run: |- |^\s+)(holdfast .*)$/gm)].map((match) => match[1] ?? "")
          : [],
    );
    const inText = spansOf(prose).filter((span) => span.startsWith("holdfast "));
    expect([...inFences, ...inText].flatMap((line) => problemsOf(line).map((problem) => `${line}: ${problem}`))).toEqual([]);
  });

  test("names no flag that no command has", () => {
    // Beside other programs' flags, ours are those of the second column.
    const ours = name === "docs/moving-over.md" ? prose.split("\n").map((line) => line.replaceAll("\\|", "").split("|")[2] ?? "") : [prose];
    const known = new Set([...specs.values()].flatMap(flagsOf));
    const flags = ours.flatMap(spansOf).flatMap((span) => /^--[a-z][a-z-]*/.exec(span)?.[0] ?? []);
    expect(flags.filter((flag) => !known.has(flag) && !foreign.includes(flag))).toEqual([]);
  });
});

/** Flags of other programs that pages speak of: Docker's, and the chaos run's. */
const foreign = ["--security-opt", "--cap-add", "--kills"];

test.each(fencesTagged("toml"))("the config at $at is read as it stands", async ({ body }) => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
  try {
    const [home, project] = [join(root, "home"), join(root, "project")];
    const isProjects = body.startsWith("# .holdfast/config.toml");
    if (/^# .*policy.*\.toml/.test(body)) {
      mkdirSync(join(home, "policy"), { recursive: true });
      writeFileSync(join(home, "policy/shown.toml"), body);
      const place = { home, userHome: home, project: null, isTrusted: false, env: {} };
      const { rules, problems } = await gatherPolicy(place);
      expect([rules.length > 0, problems]).toEqual([true, []]);
      return;
    }
    for (const folder of [home, join(project, ".holdfast")]) mkdirSync(folder, { recursive: true });
    writeFileSync(isProjects ? join(project, ".holdfast/config.toml") : join(home, "config.toml"), body);
    const { sources, problems } = await loadConfig({ home, project, isTrusted: true, env: {} });
    expect([sources.size > 0, problems]).toEqual([true, []]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("docs/policy.md speaks of every key and every fact", () => {
  const text = pages.find(({ name }) => name === "docs/policy.md")?.text ?? "";
  expect([...Object.keys(ruleKeys), ...factKinds].filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test.each(fencesTagged("json"))("the JSON at $at is JSON", ({ body }) => {
  expect(() => JSON.parse(body) as unknown).not.toThrow();
});

test("every error code has a meaning and a way on", () => {
  const text = pages.find(({ name }) => name === "docs/troubleshooting.md")?.text ?? "";
  const rows = [...text.slice(text.indexOf("## Error codes")).matchAll(/^\| `(\w+)` \| (.+) \| (.+) \|$/gm)];
  expect(rows.map(([, code]) => code)).toEqual(errorCodes);
});

test("the README's exit statuses are those of the outcomes", () => {
  const text = pages.find(({ name }) => name === "README.md")?.text ?? "";
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\d+)(?:, or (\d+))? \|/gm)];
  expect(rows).toHaveLength(8);
  for (const [, outcome, status, weak = status] of rows) {
    expect([status, weak], outcome).toEqual([false, true].map((isWeak) => String(exitStatus(outcome as Standing, isWeak))));
  }
});
