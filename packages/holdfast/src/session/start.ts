import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ApprovalMode, CheckDefinition, Part, SandboxMode } from "@holdfast/protocol";
import { showUrls } from "@holdfast/runtime/show-url";
import { HoldfastError } from "@holdfast/protocol/error";
import type { RecordedEvent, Tool } from "@holdfast/runtime";
import type { Io } from "../cli/io.ts";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/config.ts";
import { ensureHome, homeFolder } from "../config/home.ts";
import type { ConfigRequest, LoadedConfig } from "../config/load.ts";
import { projectConfigPath } from "../config/load.ts";
import { mcpJsonPath } from "../config/mcp-json.ts";
import { chooseModel, endpointOf, isPlayed } from "../config/model-choice.ts";
import { secretValues } from "../config/provider.ts";
import type { Mode } from "@holdfast/policy";
import { problemText, whereOf } from "../config/settings.ts";
import { isDistrusted, isTrusted } from "../config/trust-store.ts";
import type { Workspace } from "../config/workspace.ts";
import { assertWorkable, findWorkspace, isWithin, workspaceRoots } from "../config/workspace.ts";
import { spread } from "../render/layout.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { HostOptions, Hosts, OpenHost, SessionStanding } from "../runtime-api.ts";
import { modeOf } from "../policy/modes.ts";
import { checksFromCommands, inOrder, newChecks, statedConstraints } from "./checks.ts";
import { finishUndos } from "../undo/unfinished.ts";
import { assertFree, newestSession, sessionById, untilFree } from "./find-session.ts";
import type { SessionWishes } from "./flags.ts";
import { settingsFrom, settingsPatch } from "./flags.ts";
import { assertNesting } from "./nesting.ts";
import { wishedNow } from "./wished-now.ts";

/** A host's options, and where its config comes from. */
export interface Setup extends HostOptions {
  readonly loaded: LoadedConfig;
  readonly request: ConfigRequest;
}

interface SetupOptions {
  readonly isEphemeral?: boolean;
  readonly profile?: string | undefined;
  readonly overrides?: readonly string[];
  /** Where notes go; to stderr where nothing is said. */
  readonly onNote?: ((message: string) => void) | undefined;
}

/** Home, config and hidden secrets: what every command that touches sessions begins with. No project is concerned yet. */
export async function openSetup(io: Io, { isEphemeral = false, profile, overrides = [], onNote }: SetupOptions = {}): Promise<Setup> {
  const home = homeFolder(io.env, io.cwd);
  const request: ConfigRequest = { home, project: null, isTrusted: false, env: io.env, profile, overrides };
  const loaded = await loadConfig(request);
  io.hide(secretValues(loaded.config, io.env));
  await ensureHome(home);
  const tell = onNote ?? ((message: string) => io.stderr.write(`${spread(sanitizeLine(message), io.stderr)}\n`));
  return { home, isEphemeral, config: loaded.config, env: io.env, hide: io.hide, onWait: tell, onNote: tell, loaded, request };
}

/** The setup of a session in a project: with the project's config where it is trusted. */
export async function setupFor(setup: Setup, root: string, isTrusted: boolean): Promise<Setup> {
  if (setup.request.project === root && setup.request.isTrusted === isTrusted) return setup;
  const request = { ...setup.request, project: root, isTrusted };
  const own = await Promise.all([projectConfigPath(root), mcpJsonPath(root)].map((path) => stat(path).catch(() => null)));
  const hasOwn = own.some((found) => found !== null) || setup.request.project !== null;
  const loaded = hasOwn ? await loadConfig(request) : setup.loaded;
  return { ...setup, config: loaded.config, loaded, request };
}

/** A session that is ready to take input, with the host it runs in. */
export interface ReadySession {
  readonly host: OpenHost;
  readonly session: string;
  readonly workspace: Workspace;
  readonly model: string;
  readonly checks: readonly CheckDefinition[];
  /** Worth knowing about the config, a line each. */
  readonly notes: readonly string[];
  /** Events of a turn that an earlier process began and that goes on. */
  readonly earlier: readonly RecordedEvent[];
  /** Whether the final answer is JSON under a schema. */
  readonly isStructured: boolean;
  readonly mode: Mode;
}

/** Throws before anything is stored where the model can't be used; where none was named, with what this machine serves. */
export async function checkedModel(flag: string | undefined, config: Config, io: Io): Promise<string> {
  const isNamed = (flag ?? config.model) !== undefined;
  const found = isNamed ? [] : await (await import("../config/local-servers.ts")).findLocalServers(config, io.env);
  const model = chooseModel(flag, config, io.env, io.cwd, found);
  if (!isPlayed(model)) await assertServed(model, config, io);
  return model;
}

/** A server of this machine that does not run is said at once: requests would be tried again for minutes. */
async function assertServed(model: string, config: Config, io: Io): Promise<void> {
  const endpoint = endpointOf(model, config, io.env);
  if (!endpoint.isLocal || !(await (await import("../config/local-servers.ts")).isAbsent(endpoint))) return;
  const { name, baseUrl } = endpoint;
  throw new HoldfastError("no_model", `the server of ${name} does not run: nothing listens at ${showUrls(baseUrl)}`, {
    hint: `start it, or set base_url under [providers.${name}] in config.toml; holdfast models lists what can be used`,
  });
}

async function limitPresets() {
  const { defaultLimits, strictLimits } = await import("@holdfast/protocol/limits");
  return { default: defaultLimits, strict: strictLimits };
}

interface NewSessionOptions {
  readonly title: string;
  readonly defaultApprovals: ApprovalMode;
  /** Where neither flags nor config say another. */
  readonly defaultSandbox?: SandboxMode;
  /** Instead of the checks that config and flags name. */
  readonly checks?: readonly CheckDefinition[];
  /** Beside the usual tools. */
  readonly tools?: readonly Tool[];
}

export async function startSession(
  io: Io,
  hosts: Hosts,
  base: Setup,
  wishes: SessionWishes,
  about: NewSessionOptions,
): Promise<ReadySession> {
  const workspace = await findWorkspace(wishes.folder, io.cwd, io.env);
  assertWorkable(workspace);
  const trusted = wishes.trustsProject || (await isTrusted(base.home, workspace.root));
  const setup = await setupFor(base, workspace.root, trusted);
  const model = await checkedModel(wishes.model, setup.config, io);
  const roots = await workspaceRoots(workspace, wishes.addedFolders, io.cwd);
  const isUnsaid = about.defaultSandbox !== undefined && !setup.loaded.sources.has("sandbox.mode");
  const costSource = setup.loaded.sources.get("limits.max_cost");
  const settings = settingsFrom(isUnsaid ? { sandbox: about.defaultSandbox, ...wishes } : wishes, {
    model,
    config: setup.config,
    isTrusted: trusted,
    defaultApprovals: about.defaultApprovals,
    presets: await limitPresets(),
    costFrom: costSource === undefined ? null : whereOf(costSource),
  });
  assertNesting(io.env, settings.limits);
  const stated = await statedConstraints(setup.loaded, wishes.constraints);
  const checks = inOrder([...(about.checks ?? newChecks(setup.loaded, wishes.checks)), ...stated]);
  await finishUndos(
    hosts,
    setup,
    roots.map(({ path }) => path),
  );
  const host = await hosts.openHost(setup, {
    cwd: workspace.cwd,
    roots,
    reach: settings,
    ...(about.tools === undefined ? {} : { tools: about.tools }),
  });
  try {
    // A model that can't be had is told before there is a session.
    await host.ports.model(model);
    const session = await host.runtime.createSession(host.ports, {
      roots,
      cwd: workspace.cwd,
      settings,
      title: about.title,
      checks,
    });
    return {
      host,
      session,
      workspace,
      model,
      checks,
      notes: notesOf(setup),
      earlier: [],
      isStructured: settings.outputSchema !== undefined,
      mode: modeOf(settings),
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** `id` null: the newest session of the folder. Throws `session_not_found`, `session_busy`, `workspace_invalid`. */
export async function resumeSession(
  io: Io,
  hosts: Hosts,
  base: Setup,
  flags: SessionWishes,
  id: string | null,
  { waitMs = 0 }: { readonly waitMs?: number } = {},
): Promise<ReadySession & { readonly view: SessionStanding }> {
  const store = await hosts.openStore(base);
  let view: SessionStanding;
  try {
    const row =
      id === null
        ? await newestSession(store.ports, await findWorkspace(flags.folder, io.cwd, io.env))
        : await sessionById(store.ports, id);
    await untilFree(store.ports, row.session, waitMs);
    view = await store.runtime.readStanding(store.ports, row.session);
  } finally {
    await store.close();
  }
  const session = view.row.session;
  const root = view.roots[0]?.path;
  for (const outside of await foldersOutside(flags, view, io)) {
    base.onNote(`${outside} is not of this session's workspace: a session keeps the folders it began with`);
  }
  const isTakenBack = view.settings.isTrusted && root !== undefined && (await isDistrusted(base.home, root));
  const trusted = flags.trustsProject || (view.settings.isTrusted && !isTakenBack);
  const setup = root === undefined ? base : await setupFor(base, root, trusted);
  const wishes = wishedNow(flags, setup.loaded, setup.request.profile !== undefined);
  const model = wishes.model === undefined ? view.settings.model : await checkedModel(wishes.model, setup.config, io);
  if (!isPlayed(model)) await assertServed(model, setup.config, io);
  const cwd = view.cwd ?? view.roots[0]?.path ?? io.cwd;
  const { cwd: real } = await findWorkspace(cwd, io.cwd, io.env);
  // An open turn keeps the schema it began with.
  const keepsSchema = view.openTurn.length > 0 && wishes.outputSchema === null;
  const asked = keepsSchema ? { ...wishes, outputSchema: view.settings.outputSchema ?? null } : wishes;
  const wished = settingsPatch(asked, view.settings, model, await limitPresets());
  const patch = trusted === view.settings.isTrusted ? wished : { ...wished, isTrusted: trusted };
  const workspace = { cwd: real, root: root ?? real };
  const isReview = view.checks.some((check) => check.kind === "inspected");
  const tools = isReview ? await (await import("../review/reopen.ts")).reviewTools(hosts, setup, workspace, view) : [];
  assertNesting(io.env, { ...view.settings, ...patch }.limits);
  await finishUndos(
    hosts,
    setup,
    view.roots.map(({ path }) => path),
  );
  const host = await hosts.openHost(setup, { cwd: real, roots: view.roots, reach: { ...view.settings, ...patch }, tools });
  try {
    await untilFree(host.ports, session, waitMs);
    await assertFree(host.ports, session);
    await host.ports.model(model);
    await host.runtime.assertDrivable(host.ports, session);
    if (Object.keys(patch).length > 0) await host.runtime.changeSettings(host.ports, session, patch);
    const { constraints } = wishes;
    const stated = constraints === undefined ? [] : (await import("@holdfast/checks/constraints")).flagConstraints(constraints);
    const checks = inOrder([...checksFromCommands(wishes.checks), ...stated]);
    if (checks.length > 0) await host.runtime.acceptChecks(host.ports, session, checks);
    return {
      host,
      session,
      workspace,
      model,
      checks: [...view.checks, ...checks],
      notes: notesOf(setup),
      earlier: view.openTurn,
      isStructured: (patch.outputSchema === undefined ? (view.settings.outputSchema ?? null) : patch.outputSchema) !== null,
      mode: modeOf({ ...view.settings, ...patch }),
      view,
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** Folders that the flags name and the session doesn't have. */
async function foldersOutside({ folder, addedFolders }: SessionWishes, { roots }: SessionStanding, io: Io): Promise<string[]> {
  const named = [...(folder === "." ? [] : [folder]), ...addedFolders].map((path) => resolve(io.cwd, path));
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return real.filter((path) => roots.length > 0 && !roots.some((root) => isWithin(root.path, path)));
}

/** What the config's layers left out, in a line each. */
export function notesOf({ loaded }: Setup): string[] {
  return loaded.problems.map((problem) => sanitizeLine(problemText(problem)));
}

/** What a person typed, as the parts of one message: images first, as they are what the words speak of. */
export async function inputParts(
  host: OpenHost,
  text: string,
  images: readonly { readonly bytes: Uint8Array; readonly mediaType: string }[],
): Promise<Part[]> {
  const parts: Part[] = [];
  for (const given of images) {
    const { fitImage } = await import("@holdfast/runtime/image/fit");
    const { bytes, mediaType } = (await fitImage(given.bytes)) ?? given;
    parts.push({ type: "image", blob: await host.ports.blobs.put(bytes), mediaType, bytes: bytes.length });
  }
  if (text !== "") parts.push({ type: "text", text });
  return parts;
}

/** A session's title: the first line of what it was asked. */
export function titleOf(prompt: string): string {
  const [line = ""] = prompt.trim().split("\n");
  return line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line;
}
