import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CallOutcome, ToolCall } from "@holdfast/protocol";
import type { Look } from "./look.ts";
import { ownEvents } from "./look.ts";
import type { Shops } from "./shops.ts";
import type { Tally } from "./tally.ts";
import { count } from "./tally.ts";
import type { Addresses, Mark } from "./work.ts";
import { filesOf, stepsOf, textOf } from "./work.ts";

/** Where effects are counted. */
export interface World {
  readonly place: string;
  readonly workspace: string;
  readonly counted: string;
  readonly shops: Shops;
  readonly addresses: Addresses;
}

/** Judges each effect of a session by what the world says and by what its log says. Returns what is wrong. */
export function judge(look: Look, world: World, tally: Tally): readonly string[] {
  const steps = stepsOf(look.branch, world.addresses);
  const calls = callsOf(look);
  const marks = steps.flatMap((step) => step.marks);
  const faults = marks.flatMap((mark) => {
    const outcome = calls.find(({ call }) => call.input.includes(mark.said ?? mark.name))?.outcome;
    return faultsOfMark(mark, outcome, timesOf(mark, world), tally).map((fault) => `${mark.name}: ${fault}`);
  });
  const unsettled = calls.filter(({ times }) => times !== 1);
  const told = textOf(join(dirname(world.counted), "told")) ?? "";
  const ended = ownEvents(look.events).flatMap((event) => (event.type === "turn.ended" ? [event.payload.turnId] : []));
  const unheard = world.addresses.hasHooks ? ended.filter((turn) => !told.includes(turn)) : [];
  const left = readdirSync(world.workspace).filter((name) => name.startsWith(".holdfast-"));
  return [
    ...faults,
    ...unsettled.map(({ call, times }) => `call ${call.callId} (${call.name}) was settled ${times} times`),
    ...unheard.map((turn) => `the hook of stop was never told that ${turn} had ended`),
    ...left.map((name) => `${name} was left behind`),
  ];
}

/** How often an effect has happened; null for half of one, which must never be. */
function timesOf({ name, kind, ...more }: Mark, world: World): number | null {
  const { workspace } = world;
  switch (kind) {
    case "http":
      return world.shops.sold(world.place, name);
    case "mcp": {
      const lines = (textOf(world.counted) ?? "").split("\n").filter((line) => line.split(" ")[1] === name);
      // The one that knows keys counts the same key once.
      return more.replay === "keyed" ? new Set(lines).size : lines.length;
    }
    case "command":
      return (textOf(join(workspace, "ledger")) ?? "").split("\n").filter((line) => line === name).length;
    case "commit": {
      const subjects = execFileSync("git", ["-C", workspace, "log", "--all", "--format=%s"], { encoding: "utf8" });
      return subjects.split("\n").filter((line) => line === name).length;
    }
    case "edit":
    case "write":
    case "patch": {
      const files = Object.entries(filesOf({ name, kind, ...more }));
      const is = (which: 0 | 1): boolean => files.every(([path, texts]) => textOf(join(workspace, path)) === texts[which]);
      return is(1) ? 1 : is(0) ? 0 : null;
    }
  }
}

function faultsOfMark(mark: Mark, outcome: CallOutcome | undefined, times: number | null, tally: Tally): string[] {
  const name = `${mark.replay} ${mark.kind}`;
  count(tally.effects, name);
  if (times === null) return untold("it was done by half");
  if (times > 1) {
    count(tally.duplicates, mark.replay);
    return [`it was done ${times} times`];
  }
  if (outcome === undefined) return times > 0 ? untold("it was done and has no settlement") : [];
  if (outcome.status === "in_doubt") {
    count(tally.inDoubt, name);
    return outcome.text.includes("may have happened") || outcome.exitCode === null ? [] : untold("it is in doubt and the model isn't told");
  }
  if (outcome.status === "completed") {
    if (times === 0 && mark.isOptional !== true) return untold("it is said to be done, and was not");
    const isTrue = mark.exitCode === undefined || outcome.task !== undefined || outcome.exitCode === mark.exitCode;
    return isTrue ? [] : untold(`it is said to have exited ${outcome.exitCode}`);
  }
  // A command that was ended on the way says so: it may have come as far as its mark.
  const isPartly = mark.kind === "command" || mark.kind === "commit" ? outcome.exitCode !== undefined : false;
  return times > 0 && !isPartly ? untold(`it was done and is said to be ${outcome.status}: ${outcome.text.slice(0, 100)}`) : [];

  function untold(fault: string): string[] {
    count(tally.untold, name);
    return [fault];
  }
}

interface SettledCall {
  readonly call: ToolCall;
  readonly outcome: CallOutcome | undefined;
  readonly times: number;
}

function callsOf({ events }: Look): SettledCall[] {
  const own = ownEvents(events);
  const settled = own.flatMap((event) => (event.type === "call.settled" ? [event.payload] : []));
  const calls = own.flatMap((event) =>
    event.type === "sampling.settled" ? event.payload.items.flatMap((item) => (item.kind === "tool_call" ? [item] : [])) : [],
  );
  return calls.map((call) => {
    const ends = settled.filter(({ callId }) => callId === call.callId);
    return { call, outcome: ends[0]?.outcome, times: ends.length };
  });
}
