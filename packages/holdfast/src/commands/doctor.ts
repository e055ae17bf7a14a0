import { access, constants, stat, statfs } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { CareLook } from "../care/look.ts";
import { showUrls } from "@holdfast/runtime/show-url";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { isAccepted } from "../config/accept-store.ts";
import type { Config } from "../config/config.ts";
import { configPath, defaultConfig, loadConfig } from "../config/config.ts";
import { projectDefinitions } from "../config/definitions.ts";
import { ensureHome, homeFolder } from "../config/home.ts";
import { chooseModel, endpointOf, isPlayed } from "../config/model-choice.ts";
import { findLocalServers } from "../config/local-servers.ts";
import { preparedProviders, searchKeyVariables, secretValues } from "../config/provider.ts";
import { projectConfigPath } from "../config/load.ts";
import { problemText } from "../config/settings.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { pad, wrap } from "../render/layout.ts";
import { sanitize } from "../render/sanitize.ts";
import type { Style } from "../render/style.ts";
import { createStyle } from "../render/style.ts";
import type { Hosts } from "../runtime-api.ts";

const spec: CommandSpec = {
  name: "doctor",
  summary: "Looks at this machine and says what is missing and how to get it, what is damaged, and what was left over.",
  usage: ["holdfast doctor [--repair]"],
  flags: {
    repair: { kind: "boolean", help: "mend the session store and take leftovers away; without it doctor only says what it would do" },
  },
  words: { min: 0, max: 0, named: "nothing" },
  notes: [
    "Repair never touches what a living process uses. Of a damaged session store it saves what can be read into a new one, and keeps the damaged one beside it.",
    "Exit status 1 where something blocks the main job, else 0.",
  ],
  examples: [
    ["holdfast doctor", "before the first session, or when commands are refused"],
    ["holdfast doctor --repair", "after a crash of the machine, or when the disk runs full"],
  ],
};

/** `problem` blocks the main job, `note` is worth knowing. */
interface Finding {
  readonly about: string;
  readonly state: "ok" | "note" | "problem";
  readonly text: string;
}

const oldestNode = [22, 19] as const;
/** Bytes: a session can't be saved for long with fewer. */
const tooLittleSpace = 1_000_000;

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const home = homeFolder(io.env, io.cwd);
  const config = await tryConfig(io, home);
  if (config.config !== null) io.hide(secretValues(config.config, io.env));
  const findings = [
    checkNode(),
    await checkHome(home),
    ...config.findings,
    ...(await checkKeyFile(home)),
    ...(await checkStore(io, hosts, home, config.config, given.has("repair"))),
    await checkProgram(io, "git", "problem", "checks, diffs and tracked files need it: install git"),
    ...(process.platform === "linux"
      ? [
          await checkProgram(io, "socat", "note", "--allow-net HOST needs it: apt-get install socat"),
          await checkProgram(io, "script", "note", "programs with a terminal need it: it is in bsdutils or util-linux-script"),
        ]
      : []),
    await checkModel(io, config.config),
    ...(config.config === null ? [] : await checkSearch(io, config.config)),
    await checkTrust(io, home),
  ];
  const style = createStyle(usesColour(io.stdout, io.env));
  for (const finding of findings) io.stdout.write(`${render(finding, style, io.stdout.columns).join("\n")}\n`);
  return findings.some((finding) => finding.state === "problem") ? 1 : 0;
}

function render({ about, state, text }: Finding, style: Style, width: number): string[] {
  const paint = state === "ok" ? style.good : state === "note" ? style.care : style.bad;
  return wrap(sanitize(text), width - 20).map((line, index) =>
    index === 0 ? `${paint(pad(state, 8))} ${pad(about, 10)} ${line}` : `${" ".repeat(20)}${line}`,
  );
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  return isNew
    ? { about: "node", state: "ok", text: process.versions.node }
    : { about: "node", state: "problem", text: `${process.versions.node} is too old: install Node ${oldestNode.join(".")} or newer` };
}

async function checkHome(home: string): Promise<Finding> {
  try {
    await ensureHome(home);
    await access(home, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(home);
    return bavail * bsize < tooLittleSpace
      ? {
          about: "home",
          state: "problem",
          text: `the disk of ${home} is full: free some space, or holdfast sessions prune --older-than 30d`,
        }
      : { about: "home", state: "ok", text: home };
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === "EROFS";
    const remedy = isReadOnly
      ? "its file system is read-only. Sessions can be read; to go on, mount it for writing, or copy it"
      : "make it yours, or set HOLDFAST_HOME to a folder that is";
    return { about: "home", state: "problem", text: `${home} can't be written: ${remedy}` };
  }
}

/** Nothing where no service is configured. */
async function checkSearch(io: Io, config: Config): Promise<Finding[]> {
  const { provider, model } = config.web.search ?? {};
  if (provider === undefined && model === undefined) return [];
  const { searchProvider } = await import("../host/http.ts");
  try {
    const found = searchProvider(config, io.env);
    if (found !== null)
      return [
        {
          about: "search",
          state: "ok",
          text: found.kind === "model" ? `${model} at ${new URL(found.url).host}` : `${found.kind} at ${showUrls(found.baseUrl)}`,
        },
      ];
    if (model !== undefined)
      return [{ about: "search", state: "note", text: `there is no web_search: ${model} can't be asked (holdfast models says why)` }];
    return [{ about: "search", state: "note", text: `there is no web_search: ${searchKeyVariables(config).join(" ")} is not set` }];
  } catch (error) {
    return [problem("search", error)];
  }
}

async function tryConfig(io: Io, home: string): Promise<{ config: Config | null; findings: Finding[] }> {
  try {
    const { root } = await findWorkspace(".", io.cwd, io.env);
    // A damaged trust store is told by the check of trust.
    const trusted = await isTrusted(home, root).catch(() => false);
    const { config, problems } = await loadConfig({ home, project: root, isTrusted: trusted, env: io.env });
    const files: string[] = [];
    for (const path of [configPath(home), ...(trusted ? [projectConfigPath(root)] : [])]) if (await exists(path)) files.push(path);
    let open = 0;
    for (const { kind, definition } of await projectDefinitions(config, root))
      if (!(await isAccepted(home, kind, root, definition))) open += 1;
    return {
      config,
      findings: [
        { about: "config", state: "ok", text: files.length === 0 ? "none, defaults hold" : files.join(", ") },
        ...problems.map((found): Finding => ({ about: "config", state: "note", text: problemText(found) })),
        ...(open === 0 ? [] : [notAccepted(open)]),
      ],
    };
  } catch (error) {
    return { config: null, findings: [problem("config", error)] };
  }
}

function notAccepted(count: number): Finding {
  return {
    about: "config",
    state: "note",
    text: `hooks and MCP servers of this project that don't run, as nobody accepted them: ${count} (holdfast trust)`,
  };
}

async function checkKeyFile(home: string): Promise<Finding[]> {
  const found = await stat(configPath(home)).catch(() => null);
  if (found === null || (found.mode & 0o077) === 0) return [];
  return [
    { about: "config", state: "note", text: `others on this machine may read it; where it holds a key: chmod 600 ${configPath(home)}` },
  ];
}

/** The store, what was left over, and the sandbox. */
async function checkStore(io: Io, hosts: Hosts, home: string, config: Config | null, repairs: boolean): Promise<Finding[]> {
  const [{ lookAfter }, words] = await Promise.all([import("../care/look.ts"), import("../care/describe.ts")]);
  const found: Finding[] = [];
  try {
    const first = await lookAfter(home, repairs ? "all" : "part");
    const damage = words.damageOf(first);
    if (damage !== null && !repairs) {
      const offer = "holdfast doctor --repair saves what can be read into a new store, and keeps the damaged one";
      return [{ about: "store", state: "problem", text: `${damage}; ${offer}` }];
    }
    if (damage !== null) {
      const { salvage } = await import("../care/repair.ts");
      found.push({ about: "store", state: "note", text: words.salvaged(await salvage(home, new Date())) });
    }
    let look = damage === null ? first : await lookAfter(home, "all");
    if (look.contents?.salt === "lost" && !repairs) {
      const offer = "holdfast doctor --repair keeps them under another name and begins anew";
      return [...found, { about: "store", state: "problem", text: `${words.lostSalt}; ${offer}, or restore blobs/salt from a backup` }];
    }
    if (look.contents?.salt === "lost") {
      const { setContentsAside } = await import("../care/repair.ts");
      const aside = await setContentsAside(home, look, new Date());
      found.push({ about: "store", state: "note", text: `${words.lostSalt}: they are kept as ${aside}, and new ones begin` });
      look = await lookAfter(home, "all");
    }
    const left = words.leftoversOf(look).join("; ");
    found.push(...(await checkHost(io, hosts, home, config, repairs && left !== "" ? look : null)));
    const logs = words.lookedAt(look);
    if (logs !== null) found.push({ about: "logs", state: "ok", text: logs });
    if (left !== "") {
      const text = repairs ? `taken away: ${left}` : `holdfast doctor --repair would take away: ${left}`;
      found.push({ about: "leftovers", state: repairs ? "ok" : "note", text });
    }
    return [...found, ...words.remarksOn(look).map((text): Finding => ({ about: "store", state: "note", text }))];
  } catch (error) {
    return [...found, problem("store", error)];
  }
}

/** `tidied`: what is to be taken away. */
async function checkHost(io: Io, hosts: Hosts, home: string, config: Config | null, tidied: CareLook | null): Promise<Finding[]> {
  try {
    const workspace = await findWorkspace(".", io.cwd, io.env);
    const host = await hosts.openHost(
      { home, isEphemeral: false, config: config ?? defaultConfig, env: io.env, onWait: () => {}, onNote: () => {} },
      { cwd: workspace.cwd, roots: [{ id: "root", path: workspace.root }] },
    );
    try {
      const sessions = (await host.ports.log.list({})).length;
      const sandbox = await host.ports.processes.sandboxProblem();
      const form = (await host.ports.processes.sandboxForm?.()) ?? [];
      const cutOff = await (await import("../undo/unfinished.ts")).cutOffUndos(host, home);
      if (tidied !== null) await (await import("../care/repair.ts")).tidy(home, host, tidied);
      return [
        { about: "store", state: "ok", text: `opens, ${sessions} sessions` },
        sandbox === null
          ? { about: "sandbox", state: "ok", text: ["commands can be confined", ...form].join("; ") }
          : { about: "sandbox", state: "problem", text: `${sandbox}; until then commands are refused, or run with --sandbox off` },
        ...cutOff.map((session): Finding => {
          return { about: "undo", state: "note", text: `an undo of ${session} was cut off: holdfast undo ${session} finishes it` };
        }),
      ];
    } finally {
      await host.close();
    }
  } catch (error) {
    return [problem("store", error)];
  }
}

async function checkProgram(io: Io, name: string, ifMissing: "note" | "problem", what: string): Promise<Finding> {
  for (const folder of (io.env["PATH"] ?? "").split(delimiter)) {
    if (
      folder !== "" &&
      (await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      ))
    ) {
      return { about: name, state: "ok", text: join(folder, name) };
    }
  }
  return { about: name, state: ifMissing, text: `not found; ${what}` };
}

async function checkModel(io: Io, config: Config | null): Promise<Finding> {
  if (config === null) return { about: "model", state: "note", text: "can't tell before the config is read" };
  if (config.model === undefined) return withoutModel(io, config);
  try {
    const model = chooseModel(undefined, config, io.env, io.cwd);
    if (isPlayed(model)) return { about: "model", state: "ok", text: model };
    const endpoint = endpointOf(model, config, io.env);
    return {
      about: "model",
      state: "ok",
      text: `${model} at ${new URL(endpoint.baseUrl).host}, ${endpoint.apiKey === null ? "no key" : "with a key"}`,
    };
  } catch (error) {
    return problem("model", error);
  }
}

/** A key or a local server without a default model is enough to work: --model names one each time. */
async function withoutModel(io: Io, config: Config): Promise<Finding> {
  const served = await findLocalServers(config, io.env);
  const ready = [...preparedProviders(config, io.env).map(({ name }) => name), ...served.map(({ provider }) => provider)];
  return ready.length > 0
    ? {
        about: "model",
        state: "note",
        text: `none by default: name one of ${[...new Set(ready)].join(", ")} with --model (holdfast models), or main under [models] in config.toml`,
      }
    : {
        about: "model",
        state: "problem",
        text: "no key and no server: export OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_BASE_URL, start a local server, or add a provider to config.toml (holdfast demo needs none)",
      };
}

async function checkTrust(io: Io, home: string): Promise<Finding> {
  try {
    const { root } = await findWorkspace(".", io.cwd, io.env);
    return (await isTrusted(home, root))
      ? { about: "trust", state: "ok", text: `${root} is trusted` }
      : { about: "trust", state: "note", text: `${root} is not trusted: its AGENTS.md is not obeyed (holdfast trust)` };
  } catch (error) {
    return problem("trust", error);
  }
}

function problem(about: string, error: unknown): Finding {
  const text = error instanceof Error ? error.message : String(error);
  const hint = isHoldfastError(error) && error.hint !== undefined ? `; ${error.hint}` : "";
  return { about, state: "problem", text: `${text}${hint}` };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

export const command: Command = { ...spec, run };
