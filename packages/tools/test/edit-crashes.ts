import * as fs from "node:fs";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createFiles, type FilesOptions } from "@holdfast/node/files/index";
import type { CallOutcome, CallPlan } from "@holdfast/protocol/call";
import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import type { CallContext, CallIntent, Tool } from "@holdfast/runtime/ports/tool-host";
import { createMemoryBlobs } from "@holdfast/stores/memory";
import { createTools } from "../src/index.ts";

type Operations = NonNullable<FilesOptions["operations"]>;

const before: Readonly<Record<string, string | null>> = {
  "a.txt": "a before\n",
  "sub/b.txt": "b before\n",
  "gone.txt": "gone\n",
  "new/c.txt": null,
};
const after: Readonly<Record<string, string | null>> = {
  "a.txt": "a after\n",
  "sub/b.txt": "b after\n",
  "gone.txt": null,
  "new/c.txt": "c\n",
};
const names = Object.keys(before);
const patch = `*** Begin Patch
*** Update File: a.txt
@@
-a before
+a after
*** Update File: sub/b.txt
@@
-b before
+b after
*** Delete File: gone.txt
*** Add File: new/c.txt
+c
*** End Patch`;

/** What the file system does at one of its operations that change something. */
export const editFaults = {
  killed: "the process is killed before this operation",
  "killed again": "the process is killed half-way through the patch, and the one that completes it before this operation",
  refused: "this operation is refused (the disk is full, or fails)",
  "refused from there on": "this and all later ones are refused (the file system has become read-only)",
} as const;
export type EditFault = keyof typeof editFaults;
export const editFaultNames = Object.keys(editFaults) as EditFault[];

/** One operation of the edit engine, and what became of the patch for each fault there. */
export interface EditRow {
  readonly operation: string;
  readonly ends: Readonly<Partial<Record<EditFault, string>>>;
}

export interface EditTable {
  readonly rows: readonly EditRow[];
  readonly wrong: readonly string[];
  /** Names of the operations that were met. */
  readonly met: ReadonlySet<string>;
}

/** A patch of four files (two changed, one deleted, one made in a new folder), met by every fault at every operation. */
export async function makeEditTable(): Promise<EditTable> {
  const wrong: string[] = [];
  const met = new Set<string>();
  const clean = await watch(null, null);
  const middle = clean.operations.findLastIndex(({ name }) => name === "renameSync");
  const half = await watch({ at: middle, isLasting: true }, null);
  const firsts = await endsOf("killed", clean.operations);
  const refused = await endsOf("refused", clean.operations);
  const lasting = await endsOf("refused from there on", clean.operations);
  const again = await endsOf("killed again", half.resumed);
  const rows = clean.operations.map(({ label }, at): EditRow => {
    const ends = { killed: firsts[at] ?? "", refused: refused[at] ?? "", "refused from there on": lasting[at] ?? "" };
    return { operation: label, ends };
  });
  const later = half.resumed.map(({ label }, at): EditRow => ({
    operation: `completing: ${label}`,
    ends: { "killed again": again[at] ?? "" },
  }));
  return { rows: [...rows, ...later], wrong, met };

  async function endsOf(fault: EditFault, operations: readonly Operation[]): Promise<string[]> {
    const ends: string[] = [];
    for (const [at, { label }] of operations.entries()) {
      const isLasting = fault !== "refused";
      const isSecond = fault === "killed again";
      const seen = await watch(isSecond ? { at: middle, isLasting } : { at, isLasting }, isSecond ? { at, isLasting } : null);
      for (const one of [...seen.operations, ...seen.resumed]) met.add(one.name);
      wrong.push(...seen.wrong.map((one) => `${fault}, operation ${at} (${label}): ${one}`));
      // What dies tells nothing; what is refused goes on living, and says it.
      ends.push(fault === "killed" || isSecond ? seen.found : seen.told === uncertain ? `${uncertain}; ${seen.found}` : seen.told);
    }
    return ends;
  }
}

interface Operation {
  readonly name: string;
  readonly label: string;
}
interface Meeting {
  readonly at: number;
  readonly isLasting: boolean;
}
interface Watched {
  /** What the process that met the fault told, or that it could not tell. */
  readonly told: string;
  /** What the next one found. */
  readonly found: string;
  readonly operations: readonly Operation[];
  /** Those of the process that completed it. */
  readonly resumed: readonly Operation[];
  readonly wrong: readonly string[];
}

/** Runs the patch in a process that meets a fault, lets the next one find out and go on (it may meet another), and then a third. */
async function watch(first: Meeting | null, second: Meeting | null): Promise<Watched> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-edits-")));
  const root = join(base, "work");
  const blobs = createMemoryBlobs();
  const wrong: string[] = [];
  try {
    for (const name of names) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      if (before[name] === null) rmSync(dirname(join(root, name)), { recursive: true });
      else writeFileSync(join(root, name), before[name] ?? "");
    }
    const one = process(base, root, blobs, first);
    const intent = await intend(one.tool, one.context);
    const told = await attempt(one.tool, intent, one.context);
    check("after the fault");
    const two = process(base, root, blobs, second);
    let found = await goOn(two, { ...intent, attempt: 1 });
    if (second !== null) {
      check("after the second fault");
      const three = process(base, root, blobs, null);
      found = await goOn(three, { ...intent, attempt: 2 });
      three.close();
    }
    const isDone = told === "applied" || told === "killed" || found !== "not changed";
    if (isDone) for (const name of names) if (contentOf(root, name) !== after[name]) wrong.push(`${name} was not brought to its end`);
    const left = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".holdfast-"));
    if (left.length > 0) wrong.push(`left behind: ${left.join(", ")}`);
    one.close();
    two.close();
    return { told, found, operations: one.operations, resumed: two.operations, wrong };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }

  /** Each file by itself is as before or as after, so it can always be told which. */
  function check(when: string): void {
    for (const name of names) {
      const now = contentOf(root, name);
      if (now !== before[name] && now !== after[name]) wrong.push(`${when}, ${name} holds ${JSON.stringify(now)}`);
    }
  }
}

/** What recovery does: look, and where it is not as after, run the next attempt. */
async function goOn({ tool, context }: Process, intent: CallIntent): Promise<string> {
  const finding = await tool.probe?.(intent, context);
  switch (finding?.type) {
    case "happened":
      return "all changed";
    case "not_happened":
      await attempt(tool, { ...intent, attempt: intent.attempt + 1 }, context);
      return "not changed";
    case "resume":
      await attempt(tool, { ...intent, attempt: intent.attempt + 1 }, context);
      return "partly changed: completed";
    default:
      return `unknown: ${JSON.stringify(finding)}`;
  }
}

/** The engine can't tell: then the call goes by its class, and is looked at. */
const uncertain = "uncertain";

async function attempt(tool: Tool, intent: CallIntent, context: CallContext): Promise<string> {
  try {
    return toldBy(await tool.run(intent, context, new AbortController().signal));
  } catch {
    return uncertain;
  }
}

function toldBy({ status, text }: CallOutcome): string {
  if (status === "completed") return "changed";
  return text.startsWith("Nothing was changed") ? "nothing changed, told so" : `${status}: ${text}`;
}

async function intend(tool: Tool, context: CallContext): Promise<CallIntent> {
  const plan = (await tool.plan({ patch }, context)) as CallPlan;
  const prepared = await tool.prepare?.(plan, context);
  if (prepared === undefined || "type" in prepared) throw new Error("the patch was refused");
  return { callId: context.callId, name: "apply_patch", plan, attempt: 1, key: "key", scope: {}, prepared: prepared.prepared };
}

interface Process {
  readonly tool: Tool;
  readonly context: CallContext;
  readonly operations: Operation[];
  close(): void;
}

/** A process of its own, as far as files go: its own engine, locks and operations. */
function process(base: string, root: string, blobs: BlobStore, met: Meeting | null): Process {
  const operations: Operation[] = [];
  const watched = watchedOperations(operations, met);
  const files = createFiles({ cwd: root, roots: [{ id: "main", path: root }], lockDir: join(base, "locks"), operations: watched });
  const tool = createTools({ files, blobs, processes: null, isRedacted: () => false }).find(({ spec }) => spec.name === "apply_patch");
  if (tool === undefined) throw new Error("there is no apply_patch");
  const context: CallContext = {
    session: "session_1",
    ancestors: [],
    callId: "call_1",
    cwd: root,
    confinement: { mode: "off", network: "none", scope: {}, roots: [root], purpose: "session" },
    history: async () => [],
    seenDigest: () => null,
    task: () => null,
    output: () => null,
    limits: { commandMs: 600_000, mutatingCallMs: 15_000 },
    handOver: async () => undefined,
    emit: () => undefined,
  };
  return { tool, context, operations, close: () => files.close() };
}

/** The real operations, written down, of which one or all from one on are refused. Refused for good is what death looks like from outside. */
function watchedOperations(seen: Operation[], met: Meeting | null): Operations {
  const opened = new Map<number, string>();
  return new Proxy(fs as Operations, {
    get(target, name: keyof Operations) {
      return (...args: never[]) => {
        const [what] = args as readonly unknown[];
        const subject = typeof what === "number" ? (opened.get(what) ?? "") : describe(String(what));
        const at = seen.push({ name, label: `${verbOf(name)} ${subject}` }) - 1;
        if (met !== null && (at === met.at || (met.isLasting && at > met.at)))
          throw Object.assign(new Error("injected"), { code: "EROFS" });
        const result = (target[name] as (...all: never[]) => unknown)(...args);
        if (name === "openSync") opened.set(result as number, subject);
        return result;
      };
    },
  });
}

function verbOf(name: string): string {
  return name.replace(/Sync$/, "");
}

/** The file that a path stands for, without the names that differ from run to run. */
function describe(path: string): string {
  const name = basename(path);
  const own = /^\.holdfast-[0-9a-f]+-(\d+)\.(new|old)$/.exec(name);
  const file = own === null ? names.find((one) => basename(one) === name) : names[Number(own[1])];
  return own === null ? (file ?? `folder ${name}`) : `${own[2]} content of ${file}`;
}

function contentOf(root: string, name: string): string | null {
  return existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : null;
}

/** The table as Markdown. */
export function renderEditTable({ rows }: EditTable): string {
  return [
    ...Object.entries(editFaults).map(([fault, meaning]) => `- **${fault}**: ${meaning}.`),
    "",
    `| operation | ${editFaultNames.join(" | ")} |`,
    `|---|${editFaultNames.map(() => "---|").join("")}`,
    ...grouped(rows).map(({ operation, ends }) => `| ${operation} | ${editFaultNames.map((fault) => ends[fault] ?? "").join(" | ")} |`),
  ].join("\n");
}

/** Operations in a row that have the same ends are told in one. */
function grouped(rows: readonly EditRow[]): EditRow[] {
  const groups: { readonly ends: EditRow["ends"]; readonly operations: string[] }[] = [];
  for (const { operation, ends } of rows) {
    const last = groups.at(-1);
    if (last !== undefined && JSON.stringify(last.ends) === JSON.stringify(ends)) last.operations.push(operation);
    else groups.push({ ends, operations: [operation] });
  }
  return groups.map(({ ends, operations }) => {
    const [first, ...others] = operations;
    const more = others.length === 0 ? "" : ` … ${others.at(-1)} (${operations.length})`;
    return { operation: `${first}${more}`, ends };
  });
}
