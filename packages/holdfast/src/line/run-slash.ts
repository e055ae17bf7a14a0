import { isHoldfastError } from "@holdfast/protocol/error";
import type { StoredEvent } from "@holdfast/protocol";
import type { FoundPrompts } from "../prompts/find.ts";
import type { FoundSkills } from "../skills/find.ts";
import { fit, table, wrap } from "../render/layout.ts";
import { moment } from "../render/numbers.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import { renderPrompts } from "../render/prompts.ts";
import { renderSkills } from "../render/skills.ts";
import { renderUndone } from "../render/undo.ts";
import { renderPlan } from "../render/question.ts";
import { renderUsage } from "../render/session.ts";
import type { Style } from "../render/style.ts";
import type { OpenHost, OpenStore } from "../runtime-api.ts";
import { markOf } from "../policy/modes.ts";
import { checkFromCommand } from "../session/checks.ts";
import { undoSession } from "../session/undo.ts";
import { eventAt, pointForm } from "../undo/point.ts";
import type { SlashName } from "./slash.ts";
import { slashCommands } from "./slash.ts";

/** What the commands of line mode work on. Before the first prompt there is no session yet. */
export interface SlashContext {
  readonly current: () => { readonly host: OpenHost; readonly session: string } | null;
  readonly folders: readonly string[];
  readonly model: () => string;
  /** Throws `usage` or `no_model` for what is no usable model. */
  readonly setModel: (name: string) => Promise<void>;
  /** Turns plan mode on or off, from the next turn on. */
  readonly setPlanning: (isPlanning: boolean) => Promise<void>;
  readonly addCheck: (command: string) => Promise<void>;
  readonly checks: () => readonly string[];
  /** Goes on in a fork of the session; null where there is none yet. */
  readonly fork: (title: string) => Promise<string | null>;
  readonly prompts: () => Promise<FoundPrompts>;
  readonly skills: () => Promise<FoundSkills>;
  readonly openStore: () => Promise<OpenStore>;
  readonly style: Style;
  readonly width: () => number;
}

/** Lines to show. Errors of what was asked for are shown too, so that a mistyped word never ends line mode. */
export async function runSlash(name: Exclude<SlashName, "quit">, rest: string, context: SlashContext): Promise<string[]> {
  try {
    return await slash(name, rest, context);
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    const lines = sanitize(error.hint === undefined ? error.message : `${error.message}\n${error.hint}`);
    return wrap(lines, context.width()).map(context.style.bad);
  }
}

async function slash(name: Exclude<SlashName, "quit">, rest: string, context: SlashContext): Promise<string[]> {
  const current = context.current();
  switch (name) {
    case "help":
      return help(context.width());
    case "model":
      if (rest !== "") await context.setModel(rest);
      return [sanitizeLine(context.model())];
    case "checks": {
      const command = /^add\s+([\s\S]+)$/.exec(rest)?.[1];
      if (command !== undefined) await context.addCheck(checkFromCommand(command).command);
      const checks = context.checks();
      return checks.length === 0 ? ["no checks: /checks add CMD"] : checks.map((check) => `- ${sanitizeLine(check)}`);
    }
    case "undo": {
      if (current === null) return ["nothing to undo yet"];
      if (rest !== "" && rest !== "all" && !pointForm.test(rest))
        return ["/undo, /undo all, or /undo 2.3 for what was changed from that step on"];
      const { host, session } = current;
      const reach =
        rest === "" ? "last" : rest === "all" ? "all" : { before: eventAt(await host.ports.log.read(session, 1), session, rest) };
      const undone = await undoSession(host, session, { reach, isDry: false });
      if (undone.files.length === 0) return ["nothing to undo"];
      const { lines, notes } = renderUndone(undone, false);
      return [...lines.map((line) => paintDiff(line, context.style)), ...notes.map(context.style.dim)];
    }
    case "plan": {
      const isOff = rest === "off";
      await context.setPlanning(!isOff);
      return [isOff ? "no plan mode any more" : (markOf("plan") ?? "")];
    }
    case "steps": {
      const view = current === null ? null : await current.host.runtime.readStanding(current.host.ports, current.session);
      return view === null || view.plan.length === 0 ? ["no steps yet"] : renderPlan(view.plan, context.width());
    }
    case "diff":
      return current === null ? ["nothing has changed yet"] : diff(current.host, current.session, context.style);
    case "prompts": {
      const { lines, remarks } = renderPrompts(await context.prompts(), context.width());
      return [...lines, ...remarks];
    }
    case "skills": {
      const { lines, remarks } = renderSkills(await context.skills(), context.width());
      return [...lines, ...remarks];
    }
    case "sessions":
      return sessions(context);
    case "rename": {
      if (current === null) return ["there is no session yet: the first prompt begins it"];
      return [`now called ${sanitizeLine(await current.host.runtime.renameSession(current.host.ports, current.session, rest))}`];
    }
    case "compact": {
      if (current === null) return ["there is no conversation yet"];
      const { ports, runtime } = current.host;
      await runtime.post(ports, current.session, { type: "compaction.request", by: "the person at the terminal" });
      await runtime.drive(ports, current.session, { waiting: "return" });
      const [{ compactionsOf }, { showCompaction }] = await Promise.all([
        import("@holdfast/runtime/session/compactions"),
        import("../render/compaction.ts"),
      ]);
      const last = (await compactionsOf(ports, current.session)).at(-1);
      return last === undefined ? ["nothing was shortened"] : showCompaction(last);
    }
    case "fork": {
      const made = await context.fork(rest);
      if (made === null || current === null) return ["there is no session yet: the first prompt begins it"];
      return [`now in ${made}, a fork; the other goes on with: holdfast resume ${current.session}`];
    }
    case "cost": {
      if (current === null) return ["nothing spent yet"];
      const view = await current.host.runtime.readSession(current.host.ports, current.session);
      return renderUsage(view).map(([field, value]) => `${field}: ${value}`);
    }
  }
}

function help(width: number): string[] {
  const rows = Object.entries(slashCommands).map(([name, what]) => [`/${name}`, what]);
  return [
    ...table(rows, width),
    "",
    ...wrap("What you type while a turn runs steers it. Ctrl-C interrupts the turn; twice at an empty prompt it leaves.", width),
  ];
}

async function sessions(context: SlashContext): Promise<string[]> {
  const store = await context.openStore();
  try {
    const rows = (await store.ports.log.list({})).filter((row) => row.workspace !== null && context.folders.includes(row.workspace));
    if (rows.length === 0) return ["no sessions in this folder yet"];
    const lines = rows.slice(0, 20).map((row) => [row.session, row.status, moment(row.updatedAt), fit(sanitizeLine(row.title), 60)]);
    return [...table([["session", "status", "last change", "title"], ...lines], context.width()), "go on with one: holdfast resume ID"];
  } finally {
    await store.close();
  }
}

/** The unified diff between the start of the last turn and now. */
async function diff(host: OpenHost, session: string, style: Style): Promise<string[]> {
  const before = startManifest(await host.ports.log.read(session, 1));
  if (before === null) return ["what changed is not known: this turn took no snapshot of the files"];
  const { observer } = host.ports;
  const { manifest: after } = await observer.snapshot(before);
  const changes = await observer.changes(before, after);
  if (changes.length === 0) return ["nothing changed"];
  const lines: string[] = [];
  for (const change of changes) {
    const text = await observer.diff(before, after, change.path);
    if (text === null) lines.push(style.strong(`${change.change}  ${sanitizeLine(change.path)} (its earlier content was not kept)`));
    else
      lines.push(
        ...sanitize(text)
          .trimEnd()
          .split("\n")
          .map((line) => paintDiff(line, style)),
      );
  }
  return lines;
}

/** The manifest of the newest snapshot a turn started from, else the baseline's. */
function startManifest(events: readonly StoredEvent[]): string | null {
  const found =
    events.findLast((event) => event.type === "snapshot.recorded") ?? events.findLast((event) => event.type === "baseline.recorded");
  if (found === undefined || found.payload === null) return null;
  return (JSON.parse(found.payload) as { manifest: string | null }).manifest;
}

function paintDiff(line: string, style: Style): string {
  if (line.startsWith("+++") || line.startsWith("---")) return style.strong(line);
  if (line.startsWith("+")) return style.good(line);
  if (line.startsWith("-")) return style.bad(line);
  return line.startsWith("@@") ? style.dim(line) : line;
}
