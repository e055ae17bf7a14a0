import { appendFileSync, existsSync, rmSync } from "node:fs";
import { uptime } from "node:os";
import { disarmNewLinks } from "../sandbox/gitlinks.ts";
import type { ListGitlinks } from "../sandbox/gitlinks.ts";
import type { Git } from "../observer/git.ts";
import { disarmHeld } from "../sandbox/git-held.ts";
import { disarmReplaced } from "../sandbox/replaced.ts";
import { forgetAbsent, removeIntruders } from "../sandbox/intruders.ts";
import { scrubFile } from "../secrets/scrub.ts";
import type { RunGroup } from "./cgroup.ts";
import type { RunFolder } from "./folders.ts";
import { readGiven } from "./given.ts";
import { bootId } from "./identity.ts";
import { endOfRun, noteLimited, readStart } from "./records.ts";
import { killTree } from "./tree.ts";
import type { Watch } from "./watch.ts";

/** What is left to do once a command has ended. */
export interface SettledRun {
  readonly folder: RunFolder;
  /** What its processes carry. */
  readonly mark: string;
  readonly gitlinks: ListGitlinks;
  readonly git: Git;
  readonly watch: Watch;
  /** What the kernel holds it in; null where the watch does. */
  readonly group: RunGroup | null;
  /** What no record may keep, as it is known at the end of a run. */
  readonly secrets: () => readonly string[];
}

/** What follows a command's end: first of all its secrets go. How it ended is its exit record's to say, whatever fails here. */
export async function settleRun(run: SettledRun): Promise<void> {
  const { folder, git, gitlinks, secrets } = run;
  // In the sandbox it ends with its wrapper, a moment later: nothing is written any more after the rest was looked at.
  if (isLost(folder) && existsSync(folder.absent))
    await attempt(folder, "end what is left of it", () => killTree({ root: null, mark: run.mark, isConfined: true, isOrphaned: true }));
  await attempt(folder, "take the secrets out of this output", () => {
    const given = readGiven(folder);
    scrubFile(folder.output, given.length === 0 ? secrets() : [...secrets(), ...given]);
    rmSync(folder.given, { force: true });
  });
  await attempt(folder, "move away what must not stay", () => takeAway(folder));
  await attempt(folder, "note the limit that it passed", () => noteLimit(run));
  await attempt(folder, "look at the repositories that it named to git", () => disarmNewLinks(folder.links, folder.output, gitlinks));
  await attempt(folder, "look at the repositories that the workspace's own hold", async () => {
    for (const text of await disarmHeld(folder.held, git)) tell(folder, text);
  });
  await attempt(folder, "look at what was replaced while it ran", async () => {
    for (const text of await disarmReplaced(folder.kept, git)) tell(folder, text);
  });
}

/** What a command made that would run later; a wrapper that got to its exit record has seen to it. */
function takeAway(folder: RunFolder): void {
  if (!existsSync(folder.absent)) return;
  if (isLost(folder)) {
    const start = readStart(folder);
    const isOfThisBoot = start.type === "taken" && start.bootId === bootId();
    // What came after a restart is its owner's.
    const until = isOfThisBoot ? Number.POSITIVE_INFINITY : Date.now() - uptime() * 1000;
    for (const text of removeIntruders(folder.absent, folder.removed, until)) tell(folder, text);
  }
  forgetAbsent(folder.absent);
}

function isLost(folder: RunFolder): boolean {
  return (endOfRun(folder)?.end.type ?? "lost") === "lost";
}

/** Does a part of it. One that fails is told at the end of the output, and the rest goes on. */
export async function attempt(folder: RunFolder, what: string, step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    tell(folder, `could not ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function tell(folder: RunFolder, text: string): void {
  try {
    appendFileSync(folder.output, `holdfast: ${text}\n`);
  } catch {
    // There is nobody else to tell.
  }
}

/** What the kernel ended for its group is told like what the watch ended. A program that did without more processes goes on. */
function noteLimit({ folder, group, watch }: SettledRun): void {
  const passed = group?.passed() ?? watch.passed(folder);
  const end = passed === null ? null : endOfRun(folder)?.end;
  if (passed === null || end == null || (end.type === "exited" && end.exitCode === 0) || existsSync(folder.limited)) return;
  noteLimited(folder, passed);
}
