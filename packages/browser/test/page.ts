/** What the browser test loads into a page: the whole core around an in-memory workspace, and one scripted session in it. */
import { createVerifier } from "@holdfast/checks";
import { createDirector, createToolHost } from "@holdfast/harness";
import { createScriptModel, parseScript } from "@holdfast/models";
import { createPolicy } from "@holdfast/policy";
import { defaultLimits, type Item, type Settings } from "@holdfast/protocol";
import { createSession, drive, findChainFault, post, readSession, redactionMark, type Ports } from "@holdfast/runtime";
import { createMemoryBlobs, createMemoryLog } from "@holdfast/stores";
import { createTools } from "@holdfast/tools";
import { createMemoryFiles } from "../src/index.ts";
import { clock, createPageObserver, createPageProcesses, createPageSigner, createPageWakeups, ids } from "./page-ports.ts";

export interface PageJob {
  readonly files: Readonly<Record<string, string>>;
  /** YAML of a scripted model. */
  readonly script: string;
  readonly prompt: string;
}

export interface PageResult {
  readonly standing: string;
  readonly message: string;
  readonly changes: readonly string[];
  /** Content of every file afterwards. */
  readonly files: Readonly<Record<string, string>>;
  readonly results: readonly { readonly status: string; readonly text: string }[];
  readonly events: readonly string[];
  readonly chainFault: unknown;
}

const settings: Settings = {
  model: "script/page",
  effort: null,
  sandbox: "workspace-write",
  network: "none",
  approvals: "deny",
  isTrusted: false,
  limits: defaultLimits,
  takesBaseline: true,
  acceptCheckChanges: [],
};

async function run(job: PageJob): Promise<PageResult> {
  const files = await createMemoryFiles({ files: job.files });
  const blobs = createMemoryBlobs();
  const log = createMemoryLog();
  const processes = createPageProcesses();
  const observer = createPageObserver(files, blobs);
  const model = createScriptModel(parseScript(job.script, "page"), { id: "script/page", clock });
  const ports: Ports = {
    log,
    blobs,
    clock,
    ids,
    model: async () => model,
    tools: createToolHost(createTools({ files, blobs, processes: null, isRedacted: (text) => text.includes(redactionMark) })),
    files,
    processes,
    observer,
    verifier: createVerifier({
      observer,
      processes,
      blobs,
      clock,
      files,
      confinement: (purpose) => ({ mode: "workspace-write", network: "none", scope: {}, roots: [files.cwd], purpose }),
    }),
    policy: createPolicy(),
    director: createDirector(),
    secrets: { get: async () => null, values: () => [] },
    signer: await createPageSigner(),
    wakeups: createPageWakeups(),
  };
  const session = await createSession(ports, { roots: [...files.roots], cwd: files.cwd, settings, title: "in a page", checks: [] });
  await post(ports, session, { type: "input.send", parts: [{ type: "text", text: job.prompt }] });
  const events: string[] = [];
  const end = await drive(ports, session, { waiting: "return", onEvent: (event) => events.push(event.type) });
  const view = await readSession(ports, session);
  return {
    standing: end.standing,
    message: end.report?.message ?? "",
    changes: end.report?.changes.map(({ path, change }) => `${change} ${path}`) ?? [],
    files: await contents(files),
    results: view.items.flatMap((item: Item) => (item.kind === "tool_result" ? [{ status: item.status, text: item.text }] : [])),
    events,
    chainFault: findChainFault(await log.read(session, 1)),
  };
}

async function contents(files: Awaited<ReturnType<typeof createMemoryFiles>>): Promise<Record<string, string>> {
  const entries = files.paths().map(async (path) => {
    const { bytes } = await files.read((await files.identify(path)).real, 2 ** 20);
    return [path, new TextDecoder().decode(bytes)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

Object.assign(globalThis, { run });
