import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { sha256 } from "@holdfast/runtime/hash";
import { lookAt } from "../files/missing.ts";
import { regularText } from "../files/regular.ts";
import { exactRule, rootedRules } from "./ignore-rules.ts";
import { withoutCaches } from "./own-caches.ts";
import { type Git, gitLine } from "./git.ts";
import { decodeNames, fsPath } from "./names.ts";
import { isClearlyOlder, statSignature } from "./stat-cache.ts";
import { walkFiles } from "./walk.ts";

/** A path in scope, relative to its root. `oid` is what the index holds for it, null where it is not tracked (or in conflict). */
export interface Listed {
  readonly path: string;
  readonly oid: string | null;
  readonly gitMode: string | null;
  /** Index into `Listing.repos`; -1 without git. */
  readonly repo: number;
}

export interface Listing {
  readonly files: readonly Listed[];
  has(path: string): boolean;
  /** Folders of the repositories, relative to the root: the one the root lies in ("" ), submodules, nested clones. */
  readonly repos: readonly string[];
  /** The ignore rules used, by repository folder; a later listing can be held to them. */
  readonly rules: Readonly<Record<string, string>>;
}

export interface ListPlaces {
  readonly git: Git;
  /** Folder for rule files, which git and ripgrep want as files. */
  readonly rulesDir: string;
  /** The user's home folder, for the user's own ignore file. */
  readonly home: string;
  /** The index of each repository as it was read last: most snapshots find it unchanged. */
  readonly indexes: Map<string, StagedFiles>;
  /** What was listed last below each root: most listings are the same. */
  readonly lists: Map<string, WholeList>;
}

interface WholeList {
  readonly staged: readonly StagedFiles[];
  readonly others: readonly Listed[];
  readonly files: readonly Listed[];
  has(path: string): boolean;
}

interface StagedFiles {
  /** What git printed, and for which folder and number of repository. */
  readonly printed: Buffer;
  /** The index file before git read it; null where that doesn't tell when it is another. */
  signature: string | null;
  readonly inside: string;
  readonly repo: number;
  readonly files: readonly Listed[];
  readonly paths: ReadonlySet<string>;
}

interface Lister extends ListPlaces {
  readonly root: string;
  readonly staged: StagedFiles[];
  readonly files: Listed[];
  readonly repos: string[];
  readonly rules: Record<string, string>;
  readonly given: Readonly<Record<string, string>> | null;
  readonly wasThere: ((folder: string) => boolean) | null;
}

const deepestNesting = 8;

/**
 * What is in scope below `root`: tracked and not-ignored files, by today's ignore rules or by those of `given`. Where it is
 * told which folders held files in scope then (`wasThere`), tools' own caches that came since are left out.
 */
export async function listScope(
  places: ListPlaces,
  root: string,
  given: Listing["rules"] | null,
  wasThere: Lister["wasThere"] = null,
): Promise<Listing> {
  const lister: Lister = { ...places, root, staged: [], files: [], repos: [], rules: {}, given, wasThere };
  if (!(await listRepository(lister, "", 0))) await listPlain(lister);
  let list = lister.lists.get(root);
  if (list === undefined || !isSameList(list, lister)) lister.lists.set(root, (list = wholeList(lister)));
  return { files: list.files, has: list.has, repos: lister.repos, rules: lister.rules };
}

function isSameList(list: WholeList, { staged, files }: Lister): boolean {
  const isSame = (file: Listed, n: number): boolean => file.path === files[n]?.path && file.repo === files[n].repo;
  return (
    list.staged.length === staged.length &&
    list.staged.every((one, n) => one === staged[n]) &&
    list.others.length === files.length &&
    list.others.every(isSame)
  );
}

function wholeList({ staged, files }: Lister): WholeList {
  const others = new Set(files.map((file) => file.path));
  return {
    staged,
    others: files,
    files: staged.flatMap((one) => one.files).concat(files),
    has: (path) => others.has(path) || staged.some((one) => one.paths.has(path)),
  };
}

async function listRepository(lister: Lister, prefix: string, depth: number): Promise<boolean> {
  const { git } = lister;
  const folder = prefix === "" ? lister.root : join(lister.root, prefix);
  // A repository that appeared since can't say what of it is ignored: its rules are the session's own.
  const given = lister.given === null ? null : (lister.given[prefix] ?? "");
  const others = (rules: string | null): Promise<string[] | null> => untracked(lister, folder, rules);
  const signature = indexSignature(folder);
  const known = lister.indexes.get(folder);
  const isKnown = signature !== null && known?.signature === signature;
  const [printed, listed] = await Promise.all([isKnown ? known.printed : stagedFiles(git, folder), others(given)]);
  if (printed === null || listed === null) return false;

  const repo = lister.repos.push(prefix) - 1;
  const inside = prefix === "" ? "" : `${prefix}/`;
  const staged = readIndex(lister, folder, inside, repo, printed, signature);
  lister.staged.push(staged);
  const nested = staged.files.filter((file) => file.gitMode === "160000").map((file) => file.path.slice(inside.length));
  const isTracked = (place: string): boolean => staged.files.some(({ path }) => path.startsWith(`${inside}${place}/`));
  for (const path of withoutOwnCaches(lister, inside, listed, isTracked)) {
    // Git shows a repository inside another as a folder.
    if (path.endsWith("/")) nested.push(path.slice(0, -1));
    else lister.files.push({ path: inside + path, oid: null, gitMode: null, repo });
  }
  if (given === null) {
    const tracked = staged.files.map((file) => file.path.slice(inside.length));
    lister.rules[prefix] = await todaysRules(lister, folder, tracked, listed, others);
  } else lister.rules[prefix] = given;
  for (const path of nested) {
    if (depth < deepestNesting && existsSync(fsPath(folder, `${path}/.git`))) await listRepository(lister, inside + path, depth + 1);
  }
  return true;
}

async function stagedFiles(git: Git, folder: string): Promise<Buffer | null> {
  const { code, stdout } = await git(folder, ["ls-files", "-s", "-z"]);
  return code === 0 ? stdout : null;
}

/** Of the index of a repository whose folder lies in `folder`; null where there is none, and where it may change unseen. */
function indexSignature(folder: string): string | null {
  const now = Date.now();
  const stat = lookAt(join(folder, ".git/index"));
  return stat?.isFile() === true && isClearlyOlder(stat, now) ? statSignature(stat) : null;
}

function readIndex(lister: Lister, folder: string, inside: string, repo: number, printed: Buffer, signature: string | null): StagedFiles {
  const known = lister.indexes.get(folder);
  if (known !== undefined && known.inside === inside && known.repo === repo && known.printed.equals(printed)) {
    known.signature = signature;
    return known;
  }
  const files: Listed[] = [];
  const paths = new Set<string>();
  for (const line of decodeNames(printed)) {
    const tab = line.indexOf("\t");
    const [gitMode = "", oid = "", stage = "0"] = line.slice(0, tab).split(" ");
    const path = inside + line.slice(tab + 1);
    // A file in conflict has up to three lines.
    if (paths.has(path)) continue;
    paths.add(path);
    files.push({ path, oid: stage === "0" ? oid : null, gitMode, repo });
  }
  const read = { printed, signature, inside, repo, files, paths };
  lister.indexes.set(folder, read);
  return read;
}

async function listPlain(lister: Lister): Promise<void> {
  const given = lister.given?.[""] ?? null;
  const repositories = new Set<string>();
  const walk = (rules: string | null): Promise<string[]> =>
    walkFiles(lister.root, rules === null ? null : ruleFile(lister, rules), repositories);
  const paths = await walk(given);
  const ofProject = withoutOwnCaches(lister, "", paths, () => false);
  for (const path of ofProject) lister.files.push({ path, oid: null, gitMode: null, repo: -1 });
  // They have no rules here, but are known to be there.
  for (const folder of repositories) lister.rules[folder] = "";
  lister.rules[""] = given ?? (await settleRules(lister.root, "", "", paths, [], walk));
}

function withoutOwnCaches(
  { root, given, wasThere }: Lister,
  inside: string,
  paths: readonly string[],
  isTracked: (folder: string) => boolean,
): readonly string[] {
  if (given === null || wasThere === null) return paths;
  return withoutCaches(join(root, inside), paths, (folder) => wasThere(inside + folder) || isTracked(folder));
}

async function untracked(lister: Lister, folder: string, rules: string | null): Promise<string[] | null> {
  const how = rules === null ? ["--exclude-standard"] : [`--exclude-from=${ruleFile(lister, rules)}`];
  const { code, stdout } = await lister.git(folder, ["ls-files", "-o", "-z", ...how]);
  return code === 0 ? decodeNames(stdout) : null;
}

/** The rules in force now, from the least to the most specific: the user's, the clone's, then those of each folder. */
async function todaysRules(
  lister: Lister,
  folder: string,
  tracked: readonly string[],
  others: readonly string[],
  list: (rules: string) => Promise<string[] | null>,
): Promise<string> {
  const { git } = lister;
  const [top, exclude, global] = await Promise.all([
    gitLine(git, folder, ["rev-parse", "--show-toplevel"]),
    gitLine(git, folder, ["rev-parse", "--git-path", "info/exclude"]),
    gitLine(git, folder, ["config", "--type=path", "core.excludesFile"]),
  ]);
  const userFile = global ?? join(process.env["XDG_CONFIG_HOME"] || join(lister.home, ".config"), "git/ignore");
  const fromTop = top === null ? "" : relative(top, folder).split("\\").join("/");
  let rules = "";
  rules += rootedRules("", textOf(userFile));
  if (exclude !== null) rules += rootedRules("", textOf(join(folder, exclude)) || textOf(exclude));
  const parts = fromTop === "" ? [] : fromTop.split("/");
  for (let depth = 0; depth < parts.length; depth += 1) {
    const above = parts.slice(0, depth).join("/");
    rules += rootedRules(above, rulesOf(join(top ?? folder, above, ".gitignore")));
  }
  return settleRules(folder, fromTop, rules, others, tracked, list);
}

/**
 * Adds the ignore files below `folder` to `rules` until the list they give is the tool's own. Ignore files that hide
 * themselves show up on the way; what still differs is pinned path by path.
 */
async function settleRules(
  folder: string,
  fromTop: string,
  rules: string,
  expected: readonly string[],
  tracked: readonly string[],
  list: (rules: string) => Promise<string[] | null>,
): Promise<string> {
  const below = fromTop === "" ? "" : `${fromTop}/`;
  const used = new Set<string>();
  const addFiles = (paths: readonly string[]): boolean => {
    const found = paths.filter((path) => (path === ".gitignore" || path.endsWith("/.gitignore")) && !used.has(path));
    found.sort((a, b) => a.split("/").length - b.split("/").length);
    for (const path of found) {
      used.add(path);
      rules += rootedRules((below + path).replace(/\/?\.gitignore$/, ""), rulesOf(fsPath(folder, path)));
    }
    return found.length > 0;
  };
  addFiles([...expected, ...tracked]);
  const wanted = new Set(expected);
  for (let round = 0; round < 4; round += 1) {
    const got = await list(rules);
    if (got === null) return rules;
    const extra = got.filter((path) => !wanted.has(path));
    if (addFiles(extra)) continue;
    const has = new Set(got);
    for (const path of extra) rules += exactRule(below + path.replace(/\/$/, ""));
    for (const path of expected) if (!has.has(path)) rules += `!${exactRule(below + path)}`;
    break;
  }
  return rules;
}

export function ruleFile(lister: Pick<ListPlaces, "rulesDir">, rules: string): string {
  const file = join(lister.rulesDir, sha256(rules).slice(0, 32));
  if (!existsSync(file)) {
    mkdirSync(lister.rulesDir, { recursive: true, mode: 0o700 });
    writeFileSync(file, rules, { mode: 0o600 });
  }
  return file;
}

function textOf(path: string | Buffer): string {
  return regularText(path, { followsLink: true }) ?? "";
}

/** Git reads no ignore file of a work tree through a link, and such a link may lead to what nobody should copy. */
function rulesOf(path: string | Buffer): string {
  return regularText(path, { followsLink: false }) ?? "";
}
