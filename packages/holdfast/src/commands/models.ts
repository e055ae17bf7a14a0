import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { jsonLine } from "../render/json-events.ts";
import { renderModels } from "../render/models.ts";
import { createStyle } from "../render/style.ts";
import { surveyModels } from "../session/models.ts";
import { openSetup, setupFor } from "../session/start.ts";

const spec: CommandSpec = {
  name: "models",
  summary: "Says which models can be used here, what they cost, and what is missing for the others.",
  usage: ["holdfast models [--all] [--json]"],
  flags: {
    all: { kind: "boolean", help: "also the known models of providers that can't be used yet" },
    json: { kind: "boolean", help: "everything as one JSON object" },
    profile: { kind: "string", short: "p", value: "NAME", help: "use this profile of your config" },
    config: { kind: "list", value: "KEY=VALUE", help: "set any key of the config for this run (repeatable)" },
  },
  words: { min: 0, max: 0, named: "nothing" },
  notes: [
    "Only servers on this machine are asked whether they are there, for a third of a second. Prices are the makers' list prices in US dollars per million tokens, of input, of input read from the provider's cache, and of output. The list is not complete: a model that isn't in it can be used as well.",
  ],
  examples: [
    ["holdfast models", "what can be used, from keys and from local servers"],
    ["holdfast models --json", "the same for a program"],
  ],
};

async function run(given: Arguments, io: Io): Promise<number> {
  const setup = await openSetup(io, { profile: given.value("profile"), overrides: given.values("config") });
  const { root } = await findWorkspace(".", io.cwd, io.env);
  const { config } = await setupFor(setup, root, await isTrusted(setup.home, root));
  const survey = await surveyModels(config, io.env);
  if (given.has("json")) io.stdout.write(jsonLine({ ...survey }));
  else {
    const style = createStyle(usesColour(io.stdout, io.env));
    io.stdout.write(`${renderModels(survey, given.has("all"), style, io.stdout.columns).join("\n")}\n`);
  }
  return 0;
}

export const command: Command = { ...spec, run };
