import type { DriveEnd } from "@holdfast/runtime";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { renderEnding } from "../render/ending.ts";
import { createJsonEvents, jsonLine, withoutHidden } from "../render/json-events.ts";
import { fit, wrap } from "../render/layout.ts";
import { createProgress } from "../render/progress.ts";
import { sanitizeLine, sanitizeOutput } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import { markOf } from "../policy/modes.ts";
import { version } from "../version.ts";
import type { driveTurn } from "./drive-turn.ts";
import type { ReadySession } from "./start.ts";

/** Where a turn is shown while it runs, and how it ended. */
export interface Shown {
  readonly onEvent: NonNullable<Parameters<typeof driveTurn>[2]["onEvent"]>;
  end(end: DriveEnd, session: string | null): void;
}

/** One JSON event a line on stdout. */
export function showJson(io: Io, ready: ReadySession): Shown {
  const events = createJsonEvents(ready.checks);
  events.remember(ready.earlier);
  io.stdout.write(jsonLine(events.thread(ready.session, ready.mode)));
  return {
    onEvent: (event) => {
      for (const line of events.take(event)) io.stdout.write(jsonLine(line));
    },
    end: (end) => {
      for (const line of events.end(end)) io.stdout.write(jsonLine(line));
      for (const remark of ready.host.remarks()) io.stderr.write(`${sanitizeLine(remark)}\n`);
    },
  };
}

/** JSON for a program, as it is; at a terminal what could control it is escaped and the JSON means the same. Null for no JSON. */
function asJson(message: string, isTTY: boolean): string | null {
  try {
    JSON.parse(message);
  } catch {
    return null;
  }
  return isTTY ? withoutHidden(message.trim().replaceAll("\r", "\n")) : message.trim();
}

/** Progress on stderr, the final message alone on stdout. */
export function showProgress(io: Io, ready: ReadySession, isQuiet: boolean): Shown {
  const style = createStyle(usesColour(io.stderr, io.env));
  const width = () => Math.max(40, io.stderr.columns);
  const print = (lines: readonly string[]) => {
    if (lines.length > 0) io.stderr.write(`${lines.join("\n")}\n`);
  };
  const progress = createProgress({ style, width, outputLines: 6, showsAnswer: true, checks: ready.checks });
  // What was proposed before is named where it goes on; it was shown then.
  for (const event of ready.earlier) progress(event);
  const mark = markOf(ready.mode);
  // That nothing confines the session is told however quiet it is to be.
  if (mark !== null && (!isQuiet || ready.mode === "full")) print(wrap(mark, width()).map(style.care));
  if (!isQuiet) {
    print([
      style.dim(fit(`holdfast ${version} · ${sanitizeLine(ready.model)} · session ${ready.session}`, width())),
      style.dim(fit(sanitizeLine(ready.workspace.cwd), width())),
      ...ready.notes.flatMap((note) => wrap(note, width()).map(style.dim)),
    ]);
  }
  return {
    onEvent: (event) => {
      const lines = progress(event);
      // That something may have happened is told however quiet it is to be.
      const isDoubt = event.type === "call.settled" && event.payload.outcome.status === "in_doubt";
      if (!isQuiet || isDoubt) print(lines);
    },
    end: (end, session) => {
      const message = end.report?.message ?? "";
      if (message !== "")
        io.stdout.write(`${(ready.isStructured ? asJson(message, io.stdout.isTTY) : null) ?? sanitizeOutput(message).trimEnd()}\n`);
      print(renderEnding(end, { style, width: width(), session, showsResume: true }));
      print(ready.host.remarks().flatMap((remark) => wrap(sanitizeLine(remark), width())));
    },
  };
}
