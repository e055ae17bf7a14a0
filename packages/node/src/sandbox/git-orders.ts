import { readdirSync } from "node:fs";
import { join } from "node:path";
import { heldIn, kindOf, textAt } from "./git-places.ts";

/**
 * What git does when its owner goes on with what was begun: it keeps that in files that it writes itself all the time, so no
 * mount can hold them. Most of it only names commits. This is the rest: words by which git runs a program, writes a file
 * that is named there, or fetches from and sends to a repository that no configuration names (whose hooks it runs).
 */
export interface Order {
  /** The file that says so, or the link by which it is found. */
  readonly place: string;
  readonly text: string;
}

/** Of a repository, of those that it holds, and of its parts of work trees. */
export function ordersOf(gitFolder: string): Order[] {
  const { modules, worktrees } = heldIn(gitFolder);
  return [gitFolder, ...modules, ...worktrees].flatMap(ordersIn);
}

/** Where something is ordered that wasn't before. */
export function newlyOrdered(orders: readonly Order[], before: readonly Order[]): string[] {
  const old = new Set(before.map(keyOf));
  return [...new Set(orders.filter((order) => !old.has(keyOf(order))).map(({ place }) => place))];
}

function keyOf({ place, text }: Order): string {
  return JSON.stringify([place, text]);
}

function ordersIn(gitFolder: string): Order[] {
  const orders: Order[] = [];
  const inFolder = (name: string, files: readonly string[] | null, orderedBy: (file: string, text: string) => readonly string[]): void => {
    const folder = join(gitFolder, name);
    const kind = kindOf(folder);
    // Git makes no links here, and what one leads to can change at any time.
    if (kind === "link") orders.push({ place: folder, text: "link" });
    if (kind !== "folder") return;
    for (const file of files ?? list(folder)) {
      const place = join(folder, file);
      const inner = kindOf(place);
      if (inner === null || (inner === "folder" && files === null)) continue;
      const text = inner === "file" ? textAt(place) : null;
      const found = text === null ? [`unread ${inner}`] : orderedBy(file, text);
      orders.push(...found.map((each) => ({ place, text: each })));
    }
  };
  inFolder("rebase-merge", ["git-rebase-todo", "strategy"], (file, text) =>
    file === "strategy" ? strategiesOf([text]) : programsOf(text),
  );
  inFolder("rebase-apply", ["apply-opt"], (_, text) => (isPlainApply.test(text) ? [] : [text]));
  inFolder("sequencer", ["opts"], (_, text) =>
    strategiesOf([...text.matchAll(/\bstrategy[ \t]*=([^\n]*)/gi)].map(([, value = ""]) => value)),
  );
  // Older forms of a remote's configuration. Git reads them still, and writes none.
  for (const name of ["remotes", "branches"]) inFolder(name, null, (_, text) => [text]);
  return orders;
}

/** Of the lines of a rebase only these run something: `x` is short for `exec`. */
function programsOf(todo: string): string[] {
  return [...new Set(todo.split("\n").filter((line) => /^\s*(?:exec|x)(?:\s|$)/.test(line)))];
}

/** Any other is a program of that name, or at that path. */
const ownStrategies: ReadonlySet<string> = new Set(["", "ort", "recursive", "resolve", "octopus", "ours", "subtree"]);

function strategiesOf(named: readonly string[]): string[] {
  return named.map((name) => name.trim()).filter((name) => !ownStrategies.has(name));
}

/** What `git am` passes on to `git apply`, each in quotes. Others of its options write to a file that they name. */
const isPlainApply =
  /^(?:\s*'-(?:-(?:whitespace|include|exclude|directory)=[^']*|-(?:ignore-space-change|ignore-whitespace|reject)|[Cp]\d+)')*\s*$/;

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
