import type { Stats } from "node:fs";
import { lstat, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Inspection, StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Checkpoints } from "@holdfast/runtime";
import { readManifest } from "@holdfast/node/observer/manifest";
import { sha256 } from "@holdfast/runtime/hash";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { findWorkspace, isWithin } from "../config/workspace.ts";
import type { SessionFile } from "../inspect/file-states.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Hosts, OpenHost, SessionView } from "../runtime-api.ts";
import { newestSession, sessionById } from "../session/find-session.ts";
import type { Setup } from "../session/start.ts";
import { openSetup } from "../session/start.ts";

const spec: CommandSpec = {
  name: "inspect",
  summary: "Shows what a session did and why: goal, each action with its decision, what was expected and observed, checks, outcome.",
  usage: ["holdfast inspect [SESSION] [--turn N] [--json]", "holdfast inspect [SESSION] --why FILE[:LINE] [--json]"],
  flags: {
    turn: { kind: "string", value: "N", help: "only the Nth turn" },
    why: { kind: "string", value: "FILE[:LINE]", help: "which action last changed it, who let it, and what was verified after it" },
    json: { kind: "boolean", help: "one JSON object" },
  },
  words: { min: 0, max: 1, named: "session ID" },
  notes: [
    "Without a SESSION: the newest of this folder. Everything follows from the session's log and what it points to; no model is asked.",
    "An edit says itself what it changed. Of a command it is known by what the files were before and after; where other commands ran meanwhile, all of them are named, and where nothing of the session's ran, it says so.",
  ],
  examples: [
    ["holdfast inspect ses_01J", "the whole causal line"],
    ["holdfast inspect --why src/login.js:1", "who wrote this line, and was it tested?"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const why = given.value("why");
  const wanted = given.value("turn");
  if (wanted !== undefined && !/^[1-9]\d{0,8}$/.test(wanted))
    throw usage(spec, `--turn ${JSON.stringify(wanted)} is not a whole number above 0`);
  if (wanted !== undefined && why !== undefined) throw usage(spec, "--turn doesn't belong to --why");
  const setup = await openSetup(io);
  const { view, stored, hasCompany } = await readLog(given, io, hosts, setup);
  const { inspectSession } = await import("@holdfast/runtime/inspect/inspect");
  const inspection = inspectSession(view, stored);
  const { renderInspection, renderWhy } = await import("../render/inspection.ts");
  const width = Math.min(io.stdout.columns, 120);
  const tell = (type: string, value: object, lines: readonly string[]): void =>
    io.stdout.write(given.has("json") ? jsonLine({ type, ...value }) : `${lines.join("\n")}\n`);
  if (why !== undefined) {
    const found = await answerWhy(why, io, hosts, setup, { view, stored, hasCompany, inspection });
    tell("session.why", found, renderWhy(found, width));
    return 0;
  }
  const inspected = await toldOfOthers(io, hosts, setup, { view, stored, hasCompany, inspection });
  const turns = wanted === undefined ? inspected.turns : inspected.turns.filter(({ number }) => number === Number(wanted));
  if (wanted !== undefined && turns.length === 0) throw usage(spec, `there are ${inspected.turns.length} turns`);
  const shown = { ...inspected, turns };
  tell("session.inspected", shown, renderInspection(shown, width));
  return 0;
}

interface Read {
  readonly view: SessionView;
  readonly stored: readonly StoredEvent[];
  /** Another session was at work at the same time. */
  readonly hasCompany: boolean;
}

async function readLog(given: Arguments, io: Io, hosts: Hosts, setup: Setup): Promise<Read> {
  const store = await hosts.openStore(setup);
  try {
    const [id] = given.words;
    const row =
      id === undefined ? await newestSession(store.ports, await findWorkspace(".", io.cwd, io.env)) : await sessionById(store.ports, id);
    const view = await store.runtime.readSession(store.ports, row.session);
    const stored = await store.ports.log.read(row.session, 1);
    const { hasCompany } = await import("../inspect/meanwhile.ts");
    return { view, stored, hasCompany: await hasCompany(store.ports.log, row.session, stored) };
  } finally {
    await store.close();
  }
}

async function answerWhy(
  asked: string,
  io: Io,
  hosts: Hosts,
  setup: Setup,
  { view, stored, inspection }: Read & { readonly inspection: Inspection },
) {
  const { name, line } = await fileNamed(asked, io.cwd);
  const isInside = (place: string): boolean => view.roots.some((root) => isWithin(root.path, place));
  const path = await realPlace(resolve(io.cwd, name), isInside);
  if (!isInside(path)) throw new HoldfastError("path_outside", `${sanitizeLine(path)} is in no folder of ${view.row.session}`);
  const { host, isThere } = await openThere(io, hosts, setup, view);
  try {
    const { whyChanged } = await import("../inspect/why.ts");
    const file: SessionFile = {
      path,
      roots: view.roots,
      now: isThere ? await digestNow(path) : undefined,
      ...(await scopeNow(host, view, path, isThere)),
    };
    const found = await whyChanged({
      inspection,
      events: view.events,
      file,
      line,
      blobs: host.ports.blobs,
      checkpoints: isThere ? host.ports.checkpoints : withoutTrees(host.ports.checkpoints),
      stored,
      home: io.env["HOME"] ?? "",
      log: host.ports.log,
    });
    if (inspection.damage === null) return found;
    const { describeDamage } = await import("../render/log-fault.ts");
    return { ...found, says: [describeDamage(inspection.damage), ...found.says] };
  } finally {
    await host.close();
  }
}

/** A host for the session's folders, as far as they are there. */
async function openThere(io: Io, hosts: Hosts, setup: Setup, view: SessionView) {
  const isThere = (await Promise.all(view.roots.map((root) => stat(root.path).catch(() => null)))).every(
    (found) => found?.isDirectory() === true,
  );
  const place = isThere ? { cwd: view.cwd ?? io.cwd, roots: view.roots } : { cwd: io.cwd, roots: [] };
  return { host: await hosts.openHost({ ...setup, config: { ...setup.config, hooks: {}, mcp: {} } }, place), isThere };
}

/** With what other sessions changed at the same time, where there were any. */
async function toldOfOthers(
  io: Io,
  hosts: Hosts,
  setup: Setup,
  { view, stored, hasCompany, inspection }: Read & { readonly inspection: Inspection },
): Promise<Inspection> {
  if (!hasCompany) return inspection;
  const { host, isThere } = await openThere(io, hosts, setup, view);
  try {
    const checkpoints = isThere ? host.ports.checkpoints : withoutTrees(host.ports.checkpoints);
    if (checkpoints === undefined) return inspection;
    const { withMeanwhile } = await import("../inspect/meanwhile.ts");
    return await withMeanwhile(inspection, stored, view.roots, host.ports.log, checkpoints);
  } finally {
    await host.close();
  }
}

/** Whole trees are told of the folders there are: without them, there are none to be had. */
function withoutTrees(checkpoints: Checkpoints | undefined): Checkpoints | undefined {
  return checkpoints === undefined ? undefined : { ...checkpoints, tree: async () => null };
}

/** A name that ends in a colon and digits is a line, unless there is a file of that very name. */
async function fileNamed(asked: string, cwd: string): Promise<{ readonly name: string; readonly line: number | null }> {
  const parts = /^(.+):(\d{1,9})$/s.exec(asked);
  if (parts === null || (await lstat(resolve(cwd, asked)).catch(() => null)) !== null) return { name: asked, line: null };
  if (Number(parts[2]) === 0) throw usage(spec, `--why ${JSON.stringify(asked)}: lines are counted from 1`);
  return { name: parts[1] ?? "", line: Number(parts[2]) };
}

/**
 * As the log names files: links followed, also of one that is no longer there, but none that leads out of the workspace: that is
 * a file itself, and what was below its name before is no file of where it leads.
 */
async function realPlace(path: string, isInside: (path: string) => boolean): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null && isInside(real)) return real;
  const folder = dirname(path);
  const place = folder === path ? path : join(await realPlace(folder, isInside), basename(path));
  return real === null || isInside(place) ? place : real;
}

/** What stands at a place of `realPlace`; null where nothing does, also where only a link leads there. */
async function lookAt(path: string): Promise<Stats | null> {
  const folder = dirname(path);
  if ((await realpath(folder).catch(() => null)) !== folder) return null;
  return lstat(path).catch(() => null);
}

async function digestNow(path: string): Promise<string | null | undefined> {
  const found = await lookAt(path);
  if (found === null) return null;
  if (found.isSymbolicLink()) return sha256(await readlink(path, "buffer"));
  if (!found.isFile()) throw new HoldfastError("usage", `${sanitizeLine(path)} is no file`);
  const bytes = await readFile(path).catch(() => null);
  return bytes === null ? undefined : sha256(bytes);
}

/** Whether the file counts as one of the workspace's, and the digest of all of these as they are now. */
async function scopeNow(
  host: OpenHost,
  view: SessionView,
  path: string,
  isThere: boolean,
): Promise<Pick<SessionFile, "isInScope" | "subject">> {
  const baseline = view.events.findLast((event) => event.type === "baseline.recorded");
  if (!isThere) return { isInScope: true, subject: null };
  const { observer, verifier, blobs } = host.ports;
  const scope = baseline?.type === "baseline.recorded" ? baseline.payload : { manifest: null, inputs: null };
  const { manifest } = await observer.snapshot(scope.manifest);
  const listed = await readManifest(manifest, (blob) => blobs.get(blob));
  const places = new Map(view.roots.map((root) => [root.id, root.path]));
  const isListed = listed !== null && listed.records.some((one) => join(places.get(one.root) ?? "", one.path) === path);
  const isGone = (await lookAt(path)) === null;
  return { isInScope: isListed || isGone, subject: await verifier.subject(scope) };
}

export const command: Command = { ...spec, run };
