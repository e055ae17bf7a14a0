import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Git } from "../observer/git.ts";
import { setAside } from "./gitlinks.ts";
import { isWaitedFor } from "./git-waits.ts";
import { contains } from "./mounts.ts";
import type { Order } from "./git-orders.ts";
import { newlyOrdered, ordersOf } from "./git-orders.ts";
import { commonOf, gitdirIn, gitFolderOf, heldPlaces, kindOf, leadsHome, ownPlaces, realOf } from "./git-places.ts";

/**
 * Repositories below a workspace root that commands make or change. Git obeys their configuration and hooks as soon as anybody
 * uses it there, and a `git add` in the folder above is enough for `git status` to look into them.
 *
 * A place is a `.git` of any kind (folder, file that names one, link), or a folder that is a repository by itself.
 */

/** True for the names in a folder that git takes for a repository without a `.git`. */
export function isBare(names: ReadonlySet<string>): boolean {
  return names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
}

/** Changes whenever what git would obey at a place may be another; null where nothing stands there. */
export function markOfRepository(place: string): string | null {
  const kind = kindOf(place);
  if (kind === null) return null;
  const orders = JSON.stringify(ordersAt(place, kind));
  if (kind === "folder") return `${[...ownPlaces(place), ...heldPlaces(place)].map(signature).join()}\n${orders}`;
  const target = targetOf(place, kind);
  const places = target === null ? [] : [...ownPlaces(target), ...ownPlaces(commonOf(target))];
  return `${[place, ...places].map(signature).join()}\n${orders}`;
}

/** What git is to do there when its owner goes on: of the repository, and of the place's own part of it. */
function ordersAt(place: string, kind: "file" | "folder" | "link"): Order[] {
  const target = kind === "folder" ? place : targetOf(place, kind);
  return target === null ? [] : [...new Set([target, commonOf(target)])].flatMap(ordersOf);
}

/** As the mark of a place says. */
function ordersIn(mark: string): readonly Order[] {
  const at = mark.indexOf("\n");
  return at < 0 ? [] : (JSON.parse(mark.slice(at + 1)) as readonly Order[]);
}

/**
 * Renames what git would run at a place, beside it, unless a person approved of exactly that. Says of each what was done, by
 * its path. A plain repository, as `git init` and `git clone` make it, stays as it is. `mark` is what it was before.
 */
export async function disarmRepository(
  git: Git,
  root: string,
  place: string,
  mark: string,
  approved: readonly string[],
): Promise<string[]> {
  const said: string[] = [];
  // A folder that only holds a repository among others doesn't open it.
  const isOfGit = (path: string): boolean => basename(place) === ".git" && contains(place, path);
  const isApproved = (path: string): boolean => approved.some((each) => path === each || (isOfGit(each) && contains(each, path)));
  const kind = kindOf(place);
  const ordered = kind === null ? [] : newlyOrdered(ordersAt(place, kind), ordersIn(mark));
  for (const each of [...(await armedAt(git, root, place)), ...ordered]) if (!isApproved(each)) said.push(`${each} ${setAside(each)}`);
  return said;
}

async function armedAt(git: Git, root: string, place: string): Promise<readonly string[]> {
  const kind = kindOf(place);
  if (kind === null) return [];
  if (kind === "folder") return armedOf(git, root, [...ownPlaces(place), ...heldPlaces(place)]);
  const target = targetOf(place, kind);
  // What isn't there may come with the next command.
  if (target === null) return [place];
  const common = commonOf(target);
  // The root's own repository was protected from the command, as the work tree's part of it was not.
  const own = gitFolderOf(root);
  const places =
    own !== null && common === realOf(own)
      ? [join(target, "config.worktree")]
      : [...ownPlaces(target), ...ownPlaces(common)].filter((path) => basename(path) !== "commondir" || dirname(path) === common);
  return (await armedOf(git, root, places)).length === 0 ? [] : [place];
}

/** Of these places those where git would run something. */
export async function armedOf(git: Git, root: string, places: readonly string[]): Promise<readonly string[]> {
  const armed: string[] = [];
  for (const path of places) {
    const kind = kindOf(path);
    if (kind === null) continue;
    const isArmed =
      basename(path) === "hooks"
        ? kind !== "folder" || holdsHooks(path)
        : basename(path) === "commondir"
          ? !leadsHome(path)
          : kind !== "file" || (await runsPrograms(git, root, path));
    if (isArmed) armed.push(path);
  }
  return armed;
}

/** One that may not be executed yet can be made so; git's own samples are never run. */
function holdsHooks(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => !name.endsWith(".sample"));
  } catch {
    return true;
  }
}

/** True unless a configuration is known to name no program. */
async function runsPrograms(git: Git, root: string, path: string): Promise<boolean> {
  const settings = await armedSettings(git, root, { path });
  return settings === null || settings.length > 0;
}

/** What of a configuration may name programs: git reads it, as it would. Null where it can't. */
export async function armedSettings(
  git: Git,
  root: string,
  of: { readonly path: string } | { readonly text: string },
): Promise<readonly string[] | null> {
  if ("path" in of && isWaitedFor(of.path)) return null;
  const [file, options] = "path" in of ? [of.path, {}] : ["-", { input: of.text }];
  const { code, stdout } = await git(root, ["config", "--file", file, "--no-includes", "--null", "--list"], options);
  if (code !== 0) return null;
  return stdout
    .toString("utf8")
    .split("\0")
    .filter((entry) => entry !== "" && !isHarmless(entry));
}

/** `section.key`, or `section.name.key` without its name, that names no program and no file with further settings. */
const harmlessKeys = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|worktree|autocrlf|eol|safecrlf|abbrev|quotepath|compression|longpaths|sharedrepository|sparsecheckout|sparsecheckoutcone|splitindex|untrackedcache|trustctime|whitespace)$/,
  /^extensions\.(objectformat|compatobjectformat|refstorage|partialclone|worktreeconfig|preciousobjects|relativeworktrees|noop)$/,
  /^remote\.(fetch|push|mirror|prune|prunetags|tagopt|promisor|partialclonefilter|pushdefault)$/,
  /^branch\.(remote|merge|rebase|pushremote|description|autosetupmerge|autosetuprebase|sort)$/,
  /^submodule\.(active|branch|path|ignore|shallow|recurse)$/,
  /^(user|author|committer)\.(name|email|signingkey|useconfigonly)$/,
  /^(commit|tag)\.gpgsign$/,
  /^(init\.defaultbranch|push\.(default|autosetupremote|followtags)|pull\.(rebase|ff)|fetch\.(prune|prunetags|recursesubmodules))$/,
  /^(merge\.(ff|conflictstyle|renames)|rebase\.(autosquash|autostash|updaterefs)|rerere\.(enabled|autoupdate))$/,
  /^(gc\.(auto|autodetach|pruneexpire|reflogexpire)|maintenance\.(auto|strategy)|index\.\w+|advice\.\w+|color\.\w+|status\.\w+)$/,
  /^lfs\.repositoryformatversion$/,
];

/** An address with `::` names a program that fetches it. */
const addressKeys = /^(remote\.(url|pushurl)|submodule\.url)$/;

function isHarmless(entry: string): boolean {
  const end = entry.indexOf("\n");
  const [name, value] = end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
  const key = `${name.slice(0, name.indexOf("."))}${name.slice(name.lastIndexOf("."))}`.toLowerCase();
  if (addressKeys.test(key)) return !value.includes("::") && !value.startsWith("-");
  return harmlessKeys.some((pattern) => pattern.test(key));
}

/** The real folder that a `.git` file or link leads to; null where there is none. */
function targetOf(place: string, kind: "file" | "link"): string | null {
  const isFile = kind === "file" || statOf(place)?.isFile() === true;
  const named = isFile ? gitdirIn(place) : place;
  return named === undefined ? null : realOf(resolve(dirname(place), named));
}

function statOf(path: string): ReturnType<typeof lstatSync> | null {
  const real = realOf(path);
  return real === null ? null : lstatSync(real);
}

function signature(path: string): string {
  try {
    const stat = lstatSync(path, { bigint: true });
    return `${stat.ino} ${stat.size} ${stat.mode} ${stat.mtimeNs} ${stat.ctimeNs}`;
  } catch {
    return "";
  }
}
