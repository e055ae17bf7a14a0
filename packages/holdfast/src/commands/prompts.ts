import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { homeFolder } from "../config/home.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { findPrompts } from "../prompts/find.ts";
import { jsonLine } from "../render/json-events.ts";
import { renderPrompts } from "../render/prompts.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";

const spec: CommandSpec = {
  name: "prompts",
  summary: "Lists the reusable prompts that can be used here as /NAME, or shows one.",
  usage: ["holdfast prompts [--json]", "holdfast prompts show NAME"],
  flags: { json: { kind: "boolean", help: "one JSON object a line" } },
  words: { min: 0, max: 2, named: "show, and a prompt's name" },
  notes: [
    "A prompt is a Markdown file NAME.md in $HOLDFAST_HOME/prompts, or in .holdfast/prompts of a trusted project. $1 to $9 in it are the words after /NAME, $ARGUMENTS all of them. Between two lines of --- at its beginning may stand description: and arguments: (names in their order; one that ends in ? may be left out).",
  ],
  examples: [
    ["holdfast prompts", "the prompts of this folder"],
    ['holdfast exec "/fix src/login.ts"', "uses the prompt fix with one argument; in line mode /fix src/login.ts"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const [verb, name] = given.words;
  if (verb !== undefined && verb !== "show") throw usage(spec, `unknown word ${JSON.stringify(verb)}`, "show NAME, or nothing");
  if ((verb === "show") !== (name !== undefined)) throw usage(spec, "show takes a prompt's name");
  const home = homeFolder(io.env, io.cwd);
  const { root } = await findWorkspace(".", io.cwd, io.env);
  const found = await findPrompts({ home, root, isTrusted: await isTrusted(home, root) });
  if (name !== undefined) {
    const prompt = found.prompts.find((one) => one.name === name);
    if (prompt === undefined) throw usage(spec, `there is no prompt ${JSON.stringify(name)}`, "holdfast prompts lists them");
    io.stdout.write(`${sanitizeLine(prompt.path)}\n\n${sanitize(prompt.body)}\n`);
    return 0;
  }
  if (given.has("json")) {
    for (const { body: _, ...prompt } of found.prompts) io.stdout.write(jsonLine({ type: "prompt", ...prompt }));
    return 0;
  }
  const { lines, remarks } = renderPrompts(found, io.stdout.columns);
  if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
  if (remarks.length > 0) io.stderr.write(`${remarks.join("\n")}\n`);
  return 0;
}

export const command: Command = { ...spec, run };
