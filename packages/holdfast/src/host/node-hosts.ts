import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { ExplainingPolicy, PolicyOptions, RuleData } from "@holdfast/policy";
import type { BlobStore, Log, Policy, Ports, Sandbox, SandboxRecipe } from "@holdfast/runtime";
import type { HostOptions, HostWorkspace, OpenHost, OpenStore } from "../runtime-api.ts";
import { isHoldfastError } from "@holdfast/protocol/error";
import { createBounded } from "@holdfast/node/host/bounded";
import { clock } from "@holdfast/node/host/clock";
import { ids } from "@holdfast/node/host/ids";
import { keptStores, noteLostStore, storePath } from "../care/kept-stores.ts";
import { launcher } from "../launcher.ts";
import { programsOf } from "../config/definitions.ts";
import { serversOf } from "../mcp/servers.ts";
import { loadPolicy } from "../policy/load.ts";
import { confinementOf, recipeOf } from "./confine.ts";
import { lazyCheckpoints } from "./checkpoints.ts";
import { createHttp } from "./http.ts";
import { openKnowledge } from "./knowledge.ts";
import { openMcp } from "./mcp.ts";
import { makingRoom } from "./making-room.ts";
import { createModels } from "./model.ts";
import { createReplays } from "./replay.ts";
import { hiddenFiles, secretsNow } from "./secret-paths.ts";
import { createCommandSecrets, createSecrets, heldValues } from "./secrets.ts";
import { openKeyring, readKeptSecrets } from "../secrets/kept.ts";
import { createPassingSigner, openSigner } from "@holdfast/node/host/signer";
import { livingIn } from "@holdfast/node/processes/life";
import { sealBlobs } from "@holdfast/node/secrets/sealed-blobs";
import { createWakeups } from "@holdfast/node/host/wakeups";

/** What reading sessions and posting to them takes: neither tools nor commands nor the workspace are loaded. */
export async function openStore(options: HostOptions): Promise<OpenStore> {
  const [runtime, log, held] = await Promise.all([import("@holdfast/runtime"), openLog(options), heldValues(options)]);
  const secrets = { get: async () => null, values: () => held };
  return {
    ports: { log, ids, clock, wakeups: createWakeups(bellOf(options)), processes: { isAlive: livingIn(options.home) }, secrets },
    runtime,
    close: () => log.close(),
  };
}

/** What one process touches to wake another. */
function bellOf({ home, isEphemeral }: HostOptions): string | null {
  return isEphemeral ? null : join(home, "bell");
}

/** The policy, with the parser of the shell, is needed when the model has answered: it is loaded while the first request is out. */
function lazyPolicy(options: PolicyOptions): Required<Policy> & { load(): void } {
  let policy: Promise<ExplainingPolicy> | undefined;
  const load = () => (policy ??= import("@holdfast/policy").then(({ createPolicy }) => createPolicy(options)));
  return {
    load: () => void load(),
    decide: async (request) => (await load()).decide(request),
    executes: async (line, cwd) => (await load()).executes(line, cwd),
    plainLine: async (line) => (await load()).plainLine(line),
    digest: async (request) => (await load()).digest(request),
  };
}

async function openLog({ home, isEphemeral }: HostOptions): Promise<Log> {
  if (isEphemeral) return (await import("@holdfast/stores")).createMemoryLog();
  const { openSqliteLog } = await import("@holdfast/stores/sqlite");
  await noteLostStore(home);
  return makingRoom(openSqliteLog(storePath(home)), home);
}

/** `forWork`: it must be usable. Who reads sessions hears of a lost salt where a content is asked for. */
async function openContents({ home, isEphemeral }: HostOptions, forWork: boolean): Promise<BlobStore> {
  if (isEphemeral) return (await import("@holdfast/stores")).createMemoryBlobs();
  const { openFileBlobs, unusableBlobs } = await import("@holdfast/stores/file-blobs");
  try {
    return openFileBlobs(join(home, "blobs"), async () => (await keptStores(home)).length === 0);
  } catch (error) {
    if (forWork || !isHoldfastError(error, "session_corrupt")) throw error;
    return unusableBlobs(error);
  }
}

/** Everything a session in this workspace needs. Independent parts are loaded side by side: start-up is what a person waits for. */
export async function openHost(options: HostOptions, workspace: HostWorkspace): Promise<OpenHost> {
  const { home, isEphemeral, config, env } = options;
  const user = env["HOME"] || homedir();
  const { cwd, roots, reach = { sandbox: "workspace-write", network: "none", isTrusted: false } } = workspace;
  const [
    runtime,
    { createFiles },
    { ripgrepFolder },
    { secretPaths },
    { createProcesses },
    { createObserver, openParts },
    tools,
    checks,
    harness,
    log,
    stored,
    signer,
    rules,
  ] = await Promise.all([
    import("@holdfast/runtime"),
    import("@holdfast/node/files/index"),
    import("@holdfast/node/files/ripgrep"),
    import("@holdfast/node/sandbox/masks"),
    import("@holdfast/node/processes/index"),
    import("@holdfast/node/observer/index"),
    import("@holdfast/tools"),
    import("@holdfast/checks"),
    import("@holdfast/harness"),
    openLog(options),
    openContents(options, roots.length > 0),
    isEphemeral ? createPassingSigner() : openSigner(join(home, "keys", "signing.pem")),
    loadPolicy({ home, userHome: user, project: roots[0]?.path ?? null, isTrusted: reach.isTrusted, env }),
  ]);
  let held: readonly string[] = [];
  const valuesNow = (): readonly string[] => held;
  const blobs = sealBlobs(stored, valuesNow);
  const files = createFiles({ cwd, roots, lockDir: join(home, "locks"), onWait: options.onWait, hidden: () => secretPaths(user, home) });
  const rootPaths = roots.map((root) => root.path);
  const mcp = await openMcp(
    await serversOf(config, home, rootPaths[0]),
    options,
    { userHome: user, cwd, roots: rootPaths, isTrusted: reach.isTrusted, network: reach.network },
    blobs,
  );
  const secrets = createSecrets({
    config,
    env,
    kept: await readKeptSecrets(home),
    keyring: () => openKeyring(env, cwd),
    others: mcp.secrets,
    onValue: (value) => {
      held = secrets.all.values();
      options.hide?.([value]);
    },
  });
  held = secrets.all.values();
  const guarded = rootPaths[0] === undefined ? [] : await programsOf(config, rootPaths[0]);
  const processes = createProcesses({
    // Also of an ephemeral session, whose records go when it is forgotten: this is the folder that commands never see.
    home,
    workspaceRoots: rootPaths,
    userHome: user,
    environment: env,
    label: `holdfast in ${cwd}`,
    ownFolders: [ripgrepFolder, ...guarded],
    launcher,
    secrets: valuesNow,
    onSecret: secrets.hold,
    ...confinementOf(config),
  });
  const replays = createReplays({
    openStore: () => openStore({ ...options, isEphemeral: false }),
    roots: rootPaths,
    onNote: options.onNote,
  });
  // A plan is carried out in the same process that it was made in, and its checks run then.
  const mode = reach.isPlanning === true ? ("workspace-write" as const) : reach.sandbox;
  const confinement = { mode, network: reach.network, scope: {}, roots: rootPaths, purpose: "session" } as const;
  const hasHooks = Object.values(config.hooks).some((list) => (list?.length ?? 0) > 0);
  const hooks = hasHooks
    ? await (await import("./hooks.ts")).openHooks(config, { home, env, processes, confinement, onNote: options.onNote })
    : null;
  const knowledge = openKnowledge(
    config,
    { home, userHome: user, roots: rootPaths, cwd, isTrusted: reach.isTrusted, files, embedder: options.embedder },
    harness,
  );
  const looked = { files, blobs, cacheDir: join(home, "cache"), home: user };
  const parts = openParts(looked);
  const observer = createObserver({
    ...looked,
    parts,
    more: knowledge.sections,
    moreMark: knowledge.mark,
    instructions: config.instructions,
  });
  const recipe = recipeOf(config);
  const sandbox = recipe === null ? null : await openSandbox(recipe);
  const hidden = hiddenFiles(rootPaths, config.sandbox.hide);
  const places = { home: user, temporary: [tmpdir()], holdfastHome: home, hidden, guarded };
  const policy = lazyPolicy({ ...places, isMcpAllowed: mcp.isAllowed, rules });
  const isRedacted = (text: string) => text.includes(runtime.redactionMark);
  const http = createHttp(config, env, secrets);
  const bounded = createBounded();
  const ports: Ports = {
    log,
    blobs,
    clock,
    ids,
    model: createModels({ config, env, secrets: secrets.all, onNote: options.onNote, onSent: policy.load, replay: replays.open }),
    tools: harness.createToolHost(
      [
        ...tools.createTools({
          files,
          blobs,
          processes,
          isRedacted,
          secretsNow: secretsNow(user, hidden),
          http,
          commandSecrets: createCommandSecrets(config, secrets.calls),
        }),
        harness.lookupTool(blobs, options.valueKinds),
        harness.noteWriteTool,
        harness.historySearchTool(),
        harness.historyReadTool,
        ...knowledge.tools,
        ...(workspace.tools ?? []),
      ],
      mcp.source === null ? [] : [mcp.source],
      options.embedder,
    ),
    files,
    processes,
    observer,
    verifier: checks.createVerifier({
      observer,
      processes,
      blobs,
      clock,
      network: http.network,
      bounded,
      files: { cwd, roots, programFolders: (env["PATH"] ?? "").split(delimiter), userFolder: reach.sandbox === "off" ? user : null },
      confinement: (purpose, binds, joinsSession = false) => ({
        ...{ ...confinement, purpose, joinsSession },
        ...(binds === undefined ? {} : { binds }),
      }),
    }),
    policy,
    rules: { keep: async ({ rule }) => (await import("../policy/allowed-file.ts")).keepAllowed(home, rule as unknown as RuleData) },
    director: harness.createDirector({ servers: mcp.source?.servers.map(({ config: { name } }) => name) ?? [] }),
    secrets: secrets.all,
    signer,
    checkpoints: lazyCheckpoints({ parts, blobs, home, mostBytes: config.checkpoints.maxSizeMb * 1_000_000, onNote: options.onNote }),
    wakeups: createWakeups(bellOf(options)),
    bounded,
    ...(hooks === null ? {} : { hooks }),
    ...(knowledge.recall === null ? {} : { recall: knowledge.recall }),
    ...(sandbox === null ? {} : { sandbox }),
  };
  return {
    ports,
    runtime,
    remarks: replays.remarks,
    close: async () => {
      await mcp.source?.close();
      await processes.close();
      files.close();
      knowledge.close();
      await log.close();
    },
  };

  async function openSandbox(made: SandboxRecipe): Promise<Sandbox> {
    const [{ sandboxFromRecipe }, { localProvider }] = await Promise.all([
      import("@holdfast/runtime/sandbox/from-recipe"),
      import("@holdfast/node/sandbox/local-life"),
    ]);
    return sandboxFromRecipe(localProvider(processes, confinement, cwd), made, { secrets: secrets.all, clock });
  }
}
