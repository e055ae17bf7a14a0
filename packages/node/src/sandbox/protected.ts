import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { regularText } from "../files/regular.ts";
import { lookAt } from "../files/missing.ts";
import { contains } from "./mounts.ts";
import { nearestReal } from "./real.ts";

/**
 * What of a workspace root stays read-only although the root is writable, because its content runs later and outside:
 * git's hooks and configuration (`core.fsmonitor`, `core.hooksPath`, filters, aliases) at the user's next git command,
 * editors' tasks when the folder is opened, other agents' hooks when they start.
 */
export interface Protection {
  /** Writable places outside the root that git needs: the repository of a linked work tree. */
  readonly writable: readonly string[];
  /** Mounted on themselves, so that they can't be moved away and replaced. */
  readonly pinned: readonly string[];
  readonly readOnly: readonly string[];
  /**
   * Those of these places that don't exist, which no mount can keep that way: if a command makes them, the wrapper moves them
   * away when it ends. Places of one folder follow each other.
   */
  readonly absent: readonly string[];
}

/**
 * What runs when somebody opens the folder, walks into it, commits or starts another agent: without meaning to run the project.
 * What runs only where a person means to (scripts, build files, tests) or elsewhere after a push (CI) is the work itself and
 * shows among the changes (docs/decisions/0014).
 */
const projectPlaces = [
  // Editors, and debuggers that are started here.
  ".vscode",
  ".idea",
  ".zed",
  ".fleet",
  ".helix",
  ".devcontainer",
  ".devcontainer.json",
  ".exrc",
  ".vimrc",
  ".nvimrc",
  ".nvim.lua",
  ".lvimrc",
  ".dir-locals.el",
  ".dir-locals-2.el",
  ".gdbinit",
  ".lldbinit",
  // Shells that walk in.
  ".envrc",
  ".autoenv",
  ".autoenv.zsh",
  "mise.toml",
  ".mise.toml",
  "mise.local.toml",
  ".mise.local.toml",
  ".mise",
  ".config/mise",
  ".config/mise.toml",
  // Hook managers, and the settings of other version control.
  ".husky",
  ".pre-commit-config.yaml",
  ".overcommit.yml",
  "lefthook.yml",
  "lefthook.yaml",
  "lefthook.toml",
  ".lefthook.yml",
  ".lefthook.yaml",
  "lefthook-local.yml",
  ".lefthook-local.yml",
  ".hg/hgrc",
  ".jj/repo/config.toml",
  // Other agents.
  ".claude",
  ".codex",
  ".gemini",
  ".qwen",
  ".cursor",
  ".windsurf",
  ".kiro",
  ".roo",
  ".kilocode",
  ".cline",
  ".continue",
  ".junie",
  ".pi",
  ".amp",
  ".factory",
  ".aider.conf.yml",
  "crush.json",
  ".crush.json",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
] as const;

/** More folders than these are not looked into for repositories. */
const mostFolders = 300;

/** What Holdfast itself takes from a trusted project, at the next session: its config and prompts, its skills, its MCP servers. */
const ownProjectPlaces = [".holdfast", ".agents", ".mcp.json"] as const;

/** `commondir` would make git read its configuration and hooks from wherever it names. */
const gitPlaces = ["hooks", "config", "config.worktree", "commondir"] as const;

/** In a home folder that is worked in: what the user's next shell, session or login runs. */
const homePlaces = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".pam_environment",
  ".xprofile",
  ".xinitrc",
  ".gitconfig",
  ".config/git",
  ".config/fish",
  ".config/autostart",
  ".config/systemd",
  ".local/bin",
  "bin",
] as const;

/** `links` are the paths of a root that its index takes for repositories of their own (submodules). */
export function protectionOf(root: string, links: readonly string[], home: string): Protection {
  const writable: string[] = [];
  const pinned: string[] = [];
  const git: string[] = [];
  const dotGit = join(root, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder") pinned.push(dotGit);
  if (kind === "folder" || kind === null) {
    // A repository that a command makes works without its hooks and its configuration.
    git.push(...placesOf(dotGit, root));
  } else if (kind === "file") {
    git.push(dotGit);
    const linked = linkedRepository(dotGit);
    if (linked !== null) {
      writable.push(linked.common);
      git.push(...placesOf(linked.common, root), ...linked.own);
    }
  }
  for (const entry of [...links, ...repositoriesIn(root, links)].map((link) => join(root, link, ".git"))) {
    const isFolder = kindOf(entry) === "folder";
    if (isFolder) pinned.push(entry);
    git.push(...(isFolder ? ownPlaces(entry) : [entry]));
  }
  const ofHome = contains(root, home) ? homePlaces.map((name) => join(home, name)) : [];
  const own = ownProjectPlaces.map((name) => join(root, name));
  const places = [...projectPlaces.map((name) => join(root, name)), ...own, ...ofHome, ...git];
  // One that exists is hidden altogether.
  const keys = contains(root, home) ? [join(home, ".ssh")] : [];
  const kinds = new Map([...places, ...keys].map((path) => [path, kindOf(path)]));
  const readOnly = places.filter((path) => kinds.get(path) === "file" || kinds.get(path) === "folder");
  // A link itself can be replaced, whatever it leads to; only its folder can be kept.
  const linkFolders = places.filter((path) => kinds.get(path) === "link").map(dirname);
  return {
    writable,
    pinned,
    readOnly: [...new Set([...readOnly, ...linkFolders.filter((path) => path !== root)])],
    absent: inFolders([...kinds.keys()].filter((path) => kinds.get(path) === null)),
  };
}

/** Real paths, those of one folder together. */
function inFolders(paths: readonly string[]): string[] {
  const folders = new Map<string, string[]>();
  for (const path of paths) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), basename(path)]);
  return [...folders].flatMap(([folder, names]) => {
    const real = nearestReal(folder);
    return names.map((name) => join(real, name));
  });
}

/** Repositories right below a root that its index doesn't name: a folder of projects, in which people use git. */
function repositoriesIn(root: string, links: readonly string[]): string[] {
  return folderNames(root)
    .filter((name) => !name.startsWith(".") && name !== "node_modules" && !links.includes(name))
    .slice(0, mostFolders)
    .filter((name) => kindOf(join(root, name, ".git")) !== null);
}

function folderNames(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

function placesOf(gitFolder: string, root: string): string[] {
  const { files, hooks } = configsOf(join(gitFolder, "config"), root);
  return [
    ...ownPlaces(gitFolder),
    // The repository of each submodule is a git folder of its own.
    ...gitFoldersBelow(join(gitFolder, "modules")).flatMap(ownPlaces),
    ...list(join(gitFolder, "worktrees")).map((name) => join(gitFolder, "worktrees", name, "config.worktree")),
    ...[...files, ...hooks].filter((path) => path.startsWith(`${root}/`)),
  ];
}

/** Of a git config file: the files that it includes, and theirs, and the folders that it names for hooks. */
function configsOf(path: string, root: string, depth = 4): { readonly files: readonly string[]; readonly hooks: readonly string[] } {
  const text = textAt(path) ?? "";
  const values = (key: string): string[] =>
    [...text.matchAll(new RegExp(`^[^#;\\n]*?\\b${key}\\s*=\\s*"?([^"\\n]+?)"?\\s*$`, "gim"))].flatMap(([, value]) => value ?? []);
  const from = (folder: string, value: string): string[] => (value.startsWith("~") ? [] : [resolve(folder, value)]);
  // `path` stands in other sections too (submodules): one file more that stays as it is does no harm.
  const files = /^\s*\[\s*include/im.test(text) ? values("path").flatMap((value) => from(dirname(path), value)) : [];
  const deeper = depth === 0 ? [] : files.map((file) => configsOf(file, root, depth - 1));
  return {
    files: [...files, ...deeper.flatMap((each) => each.files)],
    hooks: [...values("hooksPath").flatMap((value) => from(root, value)), ...deeper.flatMap((each) => each.hooks)],
  };
}

/** Places of one repository alone. */
export function ownPlaces(gitFolder: string): string[] {
  return gitPlaces.map((name) => join(gitFolder, name));
}

/** Where the repository of a work tree is, whatever its `.git` is; null where there is none. */
export function gitFolderOf(root: string): string | null {
  const dotGit = join(root, ".git");
  switch (kindOf(dotGit)) {
    case "file": {
      const named = gitdirIn(dotGit);
      return named === undefined ? null : resolve(root, named);
    }
    case "folder":
    case "link":
      return dotGit;
    case null:
      return null;
  }
}

/** The folder that a `.git` file names, as it stands there. */
export function gitdirIn(file: string): string | undefined {
  return /^gitdir: (.+?)\s*$/.exec(textAt(file) ?? "")?.[1];
}

function gitFoldersBelow(folder: string, depth = 4): string[] {
  return list(folder).flatMap((name) => {
    const path = join(folder, name);
    if (kindOf(path) !== "folder") return [];
    if (kindOf(join(path, "HEAD")) === "file") return [path, ...gitFoldersBelow(join(path, "modules"), depth - 1)];
    return depth === 0 ? [] : gitFoldersBelow(path, depth - 1);
  });
}

/**
 * The repository that a `.git` file names, if that repository names this work tree too: a file alone, which may come with
 * any checkout, opens nothing. `own` are files of the work tree's own git folder to keep as they are.
 */
function linkedRepository(dotGit: string): { readonly common: string; readonly own: readonly string[] } | null {
  const named = gitdirIn(dotGit);
  if (named === undefined) return null;
  try {
    const gitFolder = realpathSync(resolve(dirname(dotGit), named));
    const back = textAt(join(gitFolder, "gitdir"));
    const common = textAt(join(gitFolder, "commondir"));
    if (back !== null && common !== null && realpathSync(resolve(gitFolder, back.trim())) === realpathSync(dotGit)) {
      return { common: realpathSync(resolve(gitFolder, common.trim())), own: [join(gitFolder, "commondir"), join(gitFolder, "gitdir")] };
    }
    const workTree = /^\s*worktree\s*=\s*(.+?)\s*$/im.exec(textAt(join(gitFolder, "config")) ?? "")?.[1];
    if (workTree !== undefined && realpathSync(resolve(gitFolder, workTree)) === realpathSync(dirname(dotGit)))
      return { common: gitFolder, own: [] };
    return null;
  } catch {
    return null;
  }
}

export function kindOf(path: string): "file" | "folder" | "link" | null {
  try {
    // Nearly all are missing, and an exception costs more than a look.
    const stat = lookAt(path);
    if (stat === undefined) return null;
    return stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}

export function textAt(path: string): string | null {
  return regularText(path, { followsLink: true });
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
