import { delimiter, dirname } from "node:path";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { parseFlags } from "../cli/parse.ts";
import type { DemoRepository } from "../demo/repository.ts";
import { createDemoRepository, demoScript } from "../demo/repository.ts";
import { wrap } from "../render/layout.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import type { Style } from "../render/style.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts } from "../runtime-api.ts";
import { openSetup } from "../session/start.ts";

const check = "npm test";
const prompt = "Ada registered as Ada@Example.org and can't log in with that address. Fix the login bug.";

const spec: CommandSpec = {
  name: "demo",
  summary: "Fixes a real bug in a small repository made for it, without any key: only the model is scripted, all else is real.",
  usage: ["holdfast demo [flags]"],
  flags: {
    model: { kind: "string", short: "m", value: "PROVIDER/NAME", help: "let this model do the work instead of the script" },
    sandbox: { kind: "string", value: "MODE", help: "workspace-write (default), or off", oneOf: ["workspace-write", "off"] },
    keep: { kind: "boolean", help: "leave the repository in the temporary folder" },
  },
  words: { min: 0, max: 0, named: "nothing" },
  notes: ["Exit status as of holdfast exec: 0 where the fix is verified."],
  examples: [
    ["holdfast demo", "no key, nothing of yours is touched"],
    ["holdfast demo --model openai/NAME", "the same job for a real model"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const style = createStyle(usesColour(io.stderr, io.env));
  const say = (...lines: readonly string[]): void => {
    const width = Math.min(Math.max(40, io.stderr.columns), 100);
    io.stderr.write(lines.flatMap((line) => wrap(line, width)).join("\n") + "\n");
  };
  const model = given.value("model");
  const repository = await createDemoRepository();
  // Commands and checks run the Node that Holdfast itself runs on, whatever else the machine has.
  const env = { ...io.env, PATH: [dirname(process.execPath), io.env["PATH"]].filter(Boolean).join(delimiter) };
  // A scripted run is nothing that a person wants among their sessions; a real model needs their configuration.
  if (model === undefined) Object.assign(env, { HOLDFAST_HOME: repository.home });
  const demoIo: Io = { ...io, env, cwd: repository.path };
  try {
    if (given.value("sandbox") !== "off") {
      const problem = await sandboxProblem(demoIo, hosts, repository);
      if (problem !== null) {
        say(style.bad("The demo runs commands in a sandbox, and there is none here:"), `  ${sanitizeLine(problem)}`);
        say("Mend that, or let the demo's commands run without one, in its own temporary folder:", "  holdfast demo --sandbox off");
        return 1;
      }
    }
    say(...opening(model, repository.path, style));
    const { command: exec } = await import("./exec.ts");
    const sandbox = given.value("sandbox") ?? "workspace-write";
    const argv = ["--model", model ?? `script:${demoScript}`, "--check", check, "--sandbox", sandbox];
    // A session on a repository that is about to go could not be gone on with.
    if (!given.has("keep")) argv.push("--ephemeral");
    const status = await exec.run(parseFlags(exec, [...argv, prompt]) as Arguments, demoIo, hosts);
    say("", style.strong("What changed:"));
    io.stderr.write(paintDiff(await repository.diff(), style));
    say(...closing(model, style));
    return status;
  } finally {
    if (given.has("keep"))
      say(
        "",
        `Kept: ${repository.path}`,
        ...(model === undefined ? [`Its session: HOLDFAST_HOME=${repository.home} holdfast sessions list`] : []),
      );
    else await repository.remove();
  }
}

async function sandboxProblem(io: Io, hosts: Hosts, { path }: DemoRepository): Promise<string | null> {
  const host = await hosts.openHost(await openSetup(io), { cwd: path, roots: [{ id: "root", path }] });
  try {
    return await host.ports.processes.sandboxProblem();
  } finally {
    await host.close();
  }
}

function opening(model: string | undefined, path: string, style: Style): string[] {
  const who =
    model === undefined
      ? `${style.care("The model is scripted")}: its words and proposals were written down beforehand, so no key is needed. The tools, the policy, the sandbox and the check are real.`
      : `The model is ${sanitizeLine(model)}.`;
  return [
    style.strong("A small login module with a bug, in a git repository made for this demo."),
    `  ${path}`,
    who,
    "",
    style.dim(`$ holdfast exec --check "${check}" "${prompt}"`),
  ];
}

/** Made safe to show: a real model may have written anything into the files. */
function paintDiff(diff: string, style: Style): string {
  const paint = (line: string): string => {
    if (/^(diff|index|---|\+\+\+) /.test(line)) return style.dim(line);
    if (line.startsWith("@@")) return style.care(line);
    return line.startsWith("+") ? style.good(line) : line.startsWith("-") ? style.bad(line) : line;
  };
  return diff === "" ? "nothing\n" : `${sanitize(diff).trimEnd().split("\n").map(paint).join("\n")}\n`;
}

function closing(model: string | undefined, style: Style): string[] {
  const own = `  holdfast exec --model ${sanitizeLine(model ?? "openai/NAME")} --check "${check}" "what to do"`;
  const rest = [own, style.dim("In a clone, holdfast is node_modules/.bin/holdfast.")];
  if (model !== undefined) return ["", style.strong("In a repository of yours:"), ...rest];
  return [
    "",
    style.strong("The same with a real model, and then in a repository of yours:"),
    "  export OPENAI_API_KEY=…",
    "  holdfast demo --model openai/NAME",
    ...rest,
  ];
}

export const command: Command = { ...spec, run };
