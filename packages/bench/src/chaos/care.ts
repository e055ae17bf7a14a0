import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Life, LifeOptions, Manner } from "./lives.ts";
import { live } from "./lives.ts";
import type { Look } from "./look.ts";
import { lookAt, ownEvents } from "./look.ts";
import { mannerFor, small } from "./tasks.ts";
import type { Addresses } from "./work.ts";
import { filesOf, stepsOf, textOf } from "./work.ts";

/** How often a command is begun anew until it has come to its end; the last times nobody kills it. */
const mostStarts = 40;
const leftAloneAfter = 15;
/** What more than one session of a workspace writes: the ledger of the commands, what a check leaves, what a recipe makes. */
const sharedFiles: readonly string[] = ["ledger", "stamp", "made"];

interface Care {
  readonly home: string;
  readonly workspace: string;
  readonly addresses: Addresses;
  readonly mayKill: () => boolean;
  readonly options: LifeOptions;
}

/** What a person does with sessions whose work is done, killed on the way and begun anew. Returns what went wrong. */
export async function careFor(looks: readonly Look[], care: Care): Promise<readonly string[]> {
  const [main, fork] = looks;
  if (main === undefined) return [];
  const { random } = care.options;
  const title = `a title ${random.whole(1_000)}`;
  const faults = await untilDone(["sessions", "rename", main.session, title], (now) => titleOf(now, main.session) === title, care);
  // What was undone refers to the content before still, so that it can't be forgotten with the edit. A fork's undo takes back
  // what it shares as well, and what it changed last stands in its session's way.
  if (editOf(main) !== null && random.chance(0.7)) {
    const look = fork !== undefined && changedFiles(fork).length > 0 ? fork : main;
    const undone = await untilDone(["undo", look.session, "--all"], hasEvent(look.session, "edits.undone"), care);
    if (fork === undefined || !undone.some(isRefusedForFork)) faults.push(...undone, ...notUndone(look, care));
  }
  // An edit is erased with its content before; its result without. A long answer is erased with the whole of it.
  const edit = random.chance(0.5) ? editOf(main) : resultOf(main);
  for (const item of [...longResultsOf(main), ...(edit === null ? [] : [edit])]) faults.push(...(await erase(main.session, item, care)));
  const verified = await live(["sessions", "verify", ...looks.map(({ session }) => session)], { type: "left alone" }, care.options);
  if (verified.code !== 0) faults.push(`sessions verify after care: ${verified.stdout}${verified.stderr}`);
  // The fork keeps what it shares.
  for (const { session } of fork === undefined ? [main] : random.chance(0.5) ? [main, fork] : [fork, main]) {
    faults.push(...(await untilDone(["sessions", "delete", session], (now) => now.every((look) => look.session !== session), care)));
  }
  // Who died after the session was gone, and before what its commands had left was.
  const repaired = await live(["doctor", "--repair"], { type: "left alone" }, care.options);
  if (/in doubt|error/.test(repaired.stderr)) faults.push(`doctor --repair: ${repaired.code} ${repaired.stdout}${repaired.stderr}`);
  for (const { session } of looks) {
    if (existsSync(join(care.home, ".holdfast/commands", session))) faults.push(`what ${session} left is there after it was deleted`);
  }
  return faults;
}

async function erase(session: string, item: Erasable, care: Care): Promise<string[]> {
  const isDone = (now: readonly Look[]): boolean =>
    now.some((look) =>
      ownEvents(look.events).some(
        (event) => event.type === "erasure.finished" && look.session === session && event.payload.itemId === item.id,
      ),
    );
  const faults = await untilDone(["sessions", "erase", session, item.id], isDone, care);
  const stored = (await lookAt(care.home)).flatMap((look) => look.stored);
  const kept = stored.filter(({ type, payload }) => type === item.in && payload?.includes(item.callId) === true);
  const isThere = kept.some(({ payload }) => payload?.includes(JSON.stringify(item.text).slice(1, -1)) === true);
  return isThere ? [...faults, `${item.id} was erased and is still there`] : faults;
}

/**
 * Whether nothing was undone for files alone that a fork, its checks and the recipe of its sandbox write too: what another
 * session changed meanwhile or since is taken back from neither, and said.
 */
function isRefusedForFork(fault: string): boolean {
  if (fault.includes("at the same time")) return true;
  const refused = [...fault.matchAll(/\/workspace\/(\S+): changed /g)].map(([, path]) => path ?? "");
  return fault.includes("undo_conflict") && refused.length > 0 && refused.every((path) => sharedFiles.includes(path));
}

/** Begins a command anew until its end can be seen in the store. */
async function untilDone(args: readonly string[], isDone: (now: readonly Look[]) => boolean, care: Care): Promise<string[]> {
  let last: Life | null = null;
  for (let starts = 0; starts < mostStarts; starts += 1) {
    const mayKill = care.mayKill() && starts < leftAloneAfter;
    const manner: Manner = mannerFor(small(...args), mayKill, care.options, false);
    last = await live(args, manner, care.options);
    // One that came to its end in the store may have died before it told so: then it is begun once more.
    if (!last.isKilled && isDone(await lookAt(care.home))) return [];
    if (!last.isKilled && last.code !== 0) break;
  }
  return [`${args.join(" ")} came to no end: ${last?.code} ${last?.stdout}${last?.stderr}`];
}

function titleOf(looks: readonly Look[], session: string): string | undefined {
  return looks.find((look) => look.session === session)?.title;
}

function hasEvent(session: string, type: string): (now: readonly Look[]) => boolean {
  return (now) => now.some((look) => look.session === session && ownEvents(look.events).some((event) => event.type === type));
}

/** Edits of a session that are said to be done and, after undo, are not as before. */
function notUndone(look: Look, { workspace, addresses }: Care): string[] {
  const changed = changedFiles(look);
  const files = stepsOf(look.branch, addresses).flatMap((step) => step.marks.flatMap((mark) => Object.entries(filesOf(mark))));
  return files.flatMap(([path, [before]]) =>
    changed.some((one) => one.endsWith(path)) && textOf(join(workspace, path)) !== before
      ? [`${path} is not as it was before, after undo`]
      : [],
  );
}

function changedFiles({ events }: Look): string[] {
  return ownEvents(events).flatMap((event) =>
    event.type === "call.settled" ? (event.payload.outcome.changed ?? []).map(({ path }) => path) : [],
  );
}

/** Something to erase, and the type of the events that hold it. */
interface Erasable {
  readonly id: string;
  readonly callId: string;
  readonly text: string;
  readonly in: "call.settled" | "sampling.settled";
}

/** The results of calls of which only a part was shown. */
function longResultsOf({ events }: Look): Erasable[] {
  return ownEvents(events).flatMap((event): Erasable[] => {
    if (event.type !== "call.settled" || event.payload.outcome.whole === undefined) return [];
    const { callId, outcome, result } = event.payload;
    return [{ id: result.id, callId, text: outcome.text, in: "call.settled" }];
  });
}

/** The result of an edit. */
function resultOf({ events }: Look): Erasable | null {
  for (const event of ownEvents(events)) {
    if (event.type !== "call.settled" || (event.payload.outcome.changed ?? []).length === 0) continue;
    const { callId, outcome, result } = event.payload;
    return { id: result.id, callId, text: outcome.text, in: "call.settled" };
  }
  return null;
}

/** The call of an edit, whose content before is kept as a blob. */
function editOf(main: Look): Erasable | null {
  const callId = resultOf(main)?.callId;
  for (const event of ownEvents(main.events)) {
    if (event.type !== "sampling.settled") continue;
    for (const item of event.payload.items) {
      if (item.kind === "tool_call" && item.callId === callId) return { id: item.id, callId, text: item.input, in: "sampling.settled" };
    }
  }
  return null;
}
