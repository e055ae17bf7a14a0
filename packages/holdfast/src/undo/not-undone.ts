import { sanitizeLine } from "../render/sanitize.ts";
import type { ChangingCall, Journal } from "./journal.ts";

/** What a person should know of that an undo leaves as it is. */
export interface OtherCall {
  readonly tool: string;
  readonly summary: string;
}

const mostNamed = 8;
const why = { too_large: "too large to be kept", unreadable: "could not be read", no_room: "there was no room to keep it" } as const;

/** One line for each kind of thing. `others`: calls that changed no file here but may have changed something elsewhere. */
export function notUndone(journal: Journal, others: readonly OtherCall[], hasNetwork: boolean): string[] {
  const lines: string[] = [];
  const add = (what: string, names: readonly string[]): void => {
    const shown = [...new Set(names)].map(sanitizeLine);
    if (shown.length === 0) return;
    lines.push(
      `${what}: ${shown.slice(0, mostNamed).join(", ")}${shown.length > mostNamed ? ` and ${shown.length - mostNamed} more` : ""}`,
    );
  };
  for (const { checkpoint } of journal.checkpoints) {
    if (checkpoint.failed !== undefined)
      lines.push(`what one step's commands changed could not be followed: ${sanitizeLine(checkpoint.failed)}`);
  }
  const unkept = journal.checkpoints.flatMap(({ checkpoint }) => checkpoint.unkept ?? []);
  for (const reason of ["too_large", "unreadable", "no_room"] as const)
    add(
      `what these held when a command began (${why[reason]})`,
      unkept.filter((one) => one.why === reason).map(({ path }) => path),
    );
  const refs = journal.checkpoints.flatMap(({ checkpoint }) => checkpoint.refs ?? []);
  add(
    "git refs that commands moved",
    refs.map(({ ref, before, after }) => `${ref} (${short(before)} → ${short(after)})`),
  );
  const commands = journal.calls.filter(({ plan }) => plan.command !== undefined);
  add("what these recorded in git (index, commits, stash)", linesOf(commands.filter(({ plan }) => /\bgit\b/.test(plan.command ?? ""))));
  add("what these may have changed outside the workspace", linesOf(commands.filter(isBeyond)));
  if (hasNetwork) add("what these may have done over the network", linesOf(commands.filter((call) => !isBeyond(call))));
  add(
    "what happened elsewhere",
    others.map(({ tool, summary }) => `${tool} ${firstLine(summary)}`),
  );
  if (commands.length > 0) lines.push("ignored files (build output, caches, installed packages) that commands wrote");
  return lines;
}

function isBeyond({ plan }: ChangingCall): boolean {
  return plan.asks !== undefined;
}

function linesOf(calls: readonly ChangingCall[]): string[] {
  return calls.map(({ plan }) => firstLine(plan.command ?? ""));
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function short(value: string | null): string {
  if (value === null) return "none";
  return /^[0-9a-f]{40,}$/.test(value) ? value.slice(0, 8) : value.replace(/^ref: refs\/heads\//, "");
}
