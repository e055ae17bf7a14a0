import { nearest } from "../cli/nearest.ts";

export const slashCommands = {
  help: "this list",
  model: "/model shows the model, /model PROVIDER/NAME changes it from the next turn on",
  checks: "/checks lists the checks, /checks add CMD adds one",
  undo: "takes back what the last turn changed (/undo all: the session; /undo 2.3: from that step on)",
  plan: "plans only, and asks you to accept the plan: /plan PROMPT plans that, /plan alone what comes next, /plan off leaves it",
  steps: "the model's steps for this session",
  diff: "what changed in the last turn",
  prompts: "reusable prompts; /NAME ARGS uses one",
  skills: "instructions for kinds of work; /NAME ARGS or $NAME ARGS uses one",
  sessions: "the sessions of this folder",
  rename: "/rename TITLE gives this session another title",
  compact: "shortens the conversation: the model goes on with the session's state",
  fork: "goes on in a fork of this session, which stays as it is (/fork TITLE names the fork)",
  cost: "tokens and cost of this session",
  quit: "leaves; the session stays and can be gone on with",
} as const;

export type SlashName = keyof typeof slashCommands;

/** These only look, so they may be used while a turn runs. */
export const usableDuringTurn: readonly SlashName[] = ["help", "steps", "cost", "quit"];

export type Typed =
  | { readonly type: "prompt"; readonly text: string }
  | { readonly type: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly type: "unknown"; readonly name: string; readonly rest: string; readonly near: string | null };

/** What a line means. An unknown name may be that of a reusable prompt. A path such as `/etc/hosts` at the start of a prompt is no command. Pure. */
export function readTyped(line: string): Typed {
  const match = /^\/([a-z0-9][a-z0-9_-]*)(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (match === null) return { type: "prompt", text: line.trim() };
  const name = match[1] === "exit" || match[1] === "q" ? "quit" : (match[1] ?? "");
  const rest = (match[2] ?? "").trim();
  if (Object.hasOwn(slashCommands, name)) return { type: "command", name: name as SlashName, rest };
  return { type: "unknown", name, rest, near: nearest(name, Object.keys(slashCommands)) };
}
