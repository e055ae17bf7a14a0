import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFiles } from "@holdfast/node/files/index";
import { createObserver } from "@holdfast/node/observer/index";
import { secretPaths } from "@holdfast/node/sandbox/masks";
import { createPolicy, type Mode } from "@holdfast/policy";
import type { CallPlan } from "@holdfast/protocol";
import type { Files, PolicyRequest } from "@holdfast/runtime";
import { createMemoryBlobs } from "@holdfast/stores";
import type { Arguments, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { jsonLine } from "../render/json-events.ts";
import { createStyle } from "../render/style.ts";
import { networkOf } from "../session/flags.ts";
import { explained, renderExplanation } from "./explain.ts";
import { gatherPolicy } from "./load.ts";
import { sandboxOf } from "./modes.ts";
import { placeOf } from "./place.ts";
import { resolveProgram } from "./resolve-program.ts";

/** What is asked about: a command, or a call of a tool. */
type Asked = Pick<PolicyRequest, "tool"> & { readonly plan: CallPlan };

/** Explains one decision, as this folder and its rules are now; nothing is run. */
export async function runCheck(spec: CommandSpec, given: Arguments, command: string | undefined, io: Io): Promise<number> {
  const { place, workspace } = await placeOf(given, io);
  const { rules, problems, notes } = await gatherPolicy(place);
  for (const note of notes) io.stderr.write(`${note}\n`);
  for (const { where, message } of problems) io.stderr.write(`${where}: ${message}\n`);
  if (problems.length > 0) return 2;
  const files = createFiles({
    cwd: workspace.cwd,
    roots: [{ id: "root", path: workspace.root }],
    lockDir: join(place.home, "locks"),
    hidden: () => secretPaths(place.userHome, place.home),
  });
  try {
    const asked = await askedOf(spec, given, command, workspace.cwd, files);
    const mode = (given.value("mode") as Mode | undefined) ?? "workspace";
    const observer = createObserver({ files, blobs: createMemoryBlobs(), cacheDir: join(place.home, "cache"), home: place.userHome });
    const request: PolicyRequest = {
      ...asked,
      ...sandboxOf(mode),
      network: networkOf(given.values("allow-net").flatMap((one) => one.split(","))),
      canSandbox: true,
      isTrusted: place.isTrusted,
      project: workspace.root,
      trust: { untrustedInWindow: given.has("untrusted-content"), sources: [] },
      repeatsDoubt: false,
      identify: (path) => files.identify(path),
      isTracked: (path) => observer.isTracked(path),
    };
    const policy = createPolicy({ home: place.userHome, temporary: [tmpdir()], holdfastHome: place.home, rules });
    const program = (name: string) => resolveProgram(name, io.env["PATH"] ?? "", workspace.cwd);
    const explanation = await explained(await policy.explain(request), asked.plan, program);
    if (given.has("json")) io.stdout.write(jsonLine({ type: "policy.checked", ...explanation }));
    else
      io.stdout.write(
        `${renderExplanation(explanation, { style: createStyle(usesColour(io.stdout, io.env)), width: io.stdout.columns }).join("\n")}\n`,
      );
    return 0;
  } finally {
    files.close();
  }
}

async function askedOf(spec: CommandSpec, given: Arguments, command: string | undefined, cwd: string, files: Files): Promise<Asked> {
  const tool = given.value("tool");
  const mcp = given.value("mcp");
  if ([command, tool, mcp].filter((one) => one !== undefined).length !== 1)
    throw usage(spec, "check takes a command, --tool or --mcp", "holdfast policy check 'npm test'");
  const plan = (more: Partial<CallPlan>): CallPlan => ({
    input: {},
    summary: "",
    reads: [],
    writes: [],
    workspace: "exclusive",
    replay: "never",
    changesWorkspace: true,
    cwd,
    ...more,
  });
  if (command !== undefined) return { tool: "run_command", plan: plan({ input: { command }, summary: command, command }) };
  if (mcp !== undefined) {
    const found = /^([^/\s]+)\/(\S+)$/.exec(mcp);
    if (found === null) throw usage(spec, `--mcp ${JSON.stringify(mcp)} is not SERVER/TOOL`);
    const [, server = "", name = ""] = found;
    const own = { summary: mcp, writes: [`mcp:${server}`], mcp: { server, tool: name, definition: "" } };
    return { tool: `mcp__${server}__${name}`, plan: plan(own) };
  }
  const [path, host] = [given.value("path"), given.value("host")];
  if (path !== undefined && host !== undefined) throw usage(spec, "--path and --host are both given", "keep one of them");
  if (host !== undefined) {
    const method = given.value("method")?.toUpperCase() ?? "GET";
    const named = /:\d{1,5}$/.test(host) ? host : `${host}:443`;
    const use = method === "GET" || method === "HEAD" ? "reads" : "writes";
    return {
      tool: tool ?? "",
      plan: plan({ summary: `${method} ${host}`, workspace: "none", changesWorkspace: false, [use]: [`host:${named}`] }),
    };
  }
  const isEdit = ["edit_file", "write_file", "apply_patch"].includes(tool ?? "");
  const real = path === undefined ? [] : [`file:${(await files.identify(path)).real}`];
  return {
    tool: tool ?? "",
    plan: plan({ input: { path: path ?? "" }, summary: [tool, path].join(" ").trim(), [isEdit ? "writes" : "reads"]: real }),
  };
}
