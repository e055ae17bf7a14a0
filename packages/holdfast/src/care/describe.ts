import { bytes, plural } from "../render/numbers.ts";
import type { Salvage } from "@holdfast/stores/sqlite";
import type { ContentsLook } from "@holdfast/stores/file-blobs";
import { isLostMark } from "./kept-stores.ts";
import type { CareLook } from "./look.ts";

/** What is damaged, and what can go: a sentence each, as they stand behind "can be taken away". */
export function damageOf({ store }: CareLook): string | null {
  if (store.type !== "damaged") return null;
  return `the session store is damaged: ${store.problems.join("; ")}`;
}

export function leftoversOf({ store, aside, left, blobs, deadLocks }: CareLook): string[] {
  const found: string[] = [];
  if (store.type === "whole") {
    if (store.strayRows > 0 && aside.length === 0) found.push(`${plural(store.strayRows, "row")} in the store that belong to no session`);
    if (store.erasures.length > 0) found.push(`${plural(store.erasures.length, "erasure")} begun and not finished`);
  }
  if (deadLocks > 0) found.push(`${plural(deadLocks, "lock")} of processes that are dead`);
  if (aside.length === 0) {
    const size = left.commands.reduce((sum, one) => sum + one.bytes, 0);
    if (left.commands.length > 0)
      found.push(`what the commands of ${plural(left.commands.length, "session")} left that are gone (${bytes(size)})`);
    if (blobs !== null && blobs.orphans > 0) found.push(`${plural(blobs.orphans, "blob")} to which nothing refers (${bytes(blobs.bytes)})`);
  }
  if (left.held.length > 0) found.push(`${plural(left.held.length, "network namespace")} held for processes that are dead`);
  if (left.paths.length > 0) found.push(`${plural(left.paths.length, "leftover")} of writes and servers that were killed`);
  return found;
}

/** What is worth knowing, and nobody can mend. */
export function remarksOn({ store, aside, contents, logs }: CareLook): string[] {
  return [
    ...(logs === null || logs.cut.length === 0
      ? []
      : [`saved in part by an earlier repair, to be read or forked: ${named(logs.cut)} (holdfast sessions delete takes one away)`]),
    ...(logs === null || logs.lost.length === 0
      ? []
      : [`content that nothing erased is gone: ${named(logs.lost.map(({ session, fault }) => `event ${fault.seq} of ${session}`))}`]),
    ...(contents === null || store.type !== "whole" ? [] : lostContents(contents, store.contents)),
    ...aside.map((path) =>
      isLostMark(path)
        ? `the session store was gone or empty, beside what its sessions left: nothing of that is taken away while ${path} is there. Put the store back, then delete that mark; delete it as well where you need nothing of those sessions`
        : `${path} is kept; while it is there nothing is taken away that it may refer to. Delete it when you need it no more`,
    ),
  ];
}

/** How much of the logs was looked at; null where nothing was. */
export function lookedAt({ logs, contents }: CareLook): string | null {
  if (logs === null || logs.looked + logs.unseen === 0) return null;
  const left = [
    ...(logs.unseen === 0 ? [] : [`the logs of ${logs.unseen} that changed before`]),
    ...(contents === null || contents.unread === 0 ? [] : [plural(contents.unread, "older blob")]),
  ];
  const unseen = left.length === 0 ? "" : `; not looked at: ${left.join(", ")} (holdfast doctor --repair reads all)`;
  return `those of ${plural(logs.looked, "session")} hold together${unseen}`;
}

export const lostSalt = "the salt of the content store is lost or damaged, so none of its contents can be checked";

/** Those that are missing and those that are damaged, with the sessions that refer to them, which miss the most first. */
function lostContents({ missing, damaged }: ContentsLook, sessionsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const said = (ids: readonly string[], how: string): string[] => {
    if (ids.length === 0) return [];
    const counts = new Map<string, number>();
    for (const id of ids) for (const session of sessionsOf.get(id) ?? []) counts.set(session, (counts.get(session) ?? 0) + 1);
    const by = [...counts].sort(([, a], [, b]) => b - a).map(([session, count]) => `${session} (${count})`);
    return [
      `${plural(ids.length, "blob")} that sessions refer to ${how}: images, outputs or earlier contents of files are lost. Of ${named(by)}`,
    ];
  };
  return [...said(missing, "can't be found"), ...said(damaged, damaged.length === 1 ? "is damaged" : "are damaged")];
}

const mostNamed = 5;

function named(all: readonly string[]): string {
  const more = all.length - mostNamed;
  return [...all.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

export function salvaged({ aside, whole, partial, setAside, damaged }: Salvage): string {
  const parts = partial.map(({ session, events, of }) => `${session} (${events} of ${of} events)`);
  const messages = setAside.map(({ session, number }) => `message ${number} of ${session}`);
  return [
    `saved what could be read of the damaged store: ${plural(whole.length, "session")} whole`,
    ...(parts.length === 0 ? [] : [`; in part, to be read or forked: ${parts.join(", ")}`]),
    ...(damaged.includes("sessions") ? ["; others may be lost"] : []),
    ...(messages.length === 0 ? [] : [`; set aside, as they can't be read: ${named(messages)}`]),
    ...(damaged.includes("inbox") ? ["; messages that waited may be lost"] : []),
    `. The damaged one is kept as ${aside}`,
  ].join("");
}
