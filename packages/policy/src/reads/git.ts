import type { ShellWord } from "../shell/command.ts";
import { type OptionTable, type ReadOptions, readOptions } from "../shell/options.ts";
import { readGit } from "../programs/git.ts";

/*
 * git reads run other programs only where the configuration names one: core.fsmonitor, diff.external, a textconv or
 * filter driver, a pager. Files of the work tree can select a driver, but not define it, so what runs is what the person
 * set up for their own `git status`. A pager is started only for a terminal, which a command never has. What could bring
 * another configuration isn't proven: -c, --git-dir, --work-tree, --exec-path, GIT_* variables, another folder (-C or cd:
 * a bare repository hidden in the work tree has a configuration of its own), --ext-diff and --textconv. That `git status`
 * may refresh its index is no change that anyone sees.
 */

const output =
  "oneline abbrev-commit no-abbrev-commit decorate=? no-decorate graph stat=? shortstat numstat dirstat=? name-only name-status summary patch no-patch raw patch-with-stat color=? no-color word-diff=? color-words=? pretty=? format= date= reverse all branches=? tags=? remotes=? first-parent merges no-merges follow full-history topo-order date-order author-date-order since= until= after= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp max-count= skip= unified= ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines minimal patience histogram diff-algorithm= find-renames=? find-copies=? no-renames diff-filter= pickaxe-regex pickaxe-all cached staged merge-base check exit-code quiet abbrev=? full-index binary text relative=? no-relative compact-summary function-context inter-hunk-context= source left-right cherry-pick cherry-mark notes=? no-notes walk-reflogs no-ext-diff no-textconv no-prefix src-prefix= dst-prefix= submodule=? ignore-submodules=? no-index null simplify-by-decoration ancestry-path boundary count parents children left-only right-only min-parents= max-parents= encoding= clear-decorations".split(
    " ",
  );
const logLike: OptionTable = { flags: "#pusqzgiEFPwbaWrmct", valued: "nUSGLl", long: output };

const forms: Readonly<Record<string, OptionTable>> = {
  status: {
    flags: "sbvz",
    attached: "u",
    long: "short branch show-stash porcelain=? long verbose untracked-files=? ignored=? ignore-submodules=? column=? no-column ahead-behind no-ahead-behind renames no-renames null".split(
      " ",
    ),
  },
  log: { ...logLike, valued: "nUSGLl", flags: `${logLike.flags}M` },
  show: { ...logLike, flags: `${logLike.flags}M` },
  diff: { ...logLike, flags: `${logLike.flags}MRB` },
  whatchanged: logLike,
  shortlog: { flags: "snec#", long: ["summary", "numbered", "email", "no-merges", "since=", "until=", "group=", "all"] },
  "rev-parse": {
    long: "show-toplevel abbrev-ref=? short=? verify quiet git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup symbolic symbolic-full-name all branches=? tags=? remotes=? show-object-format".split(
      " ",
    ),
    flags: "q",
  },
  "ls-files": {
    flags: "cdmosuktvzi",
    valued: "xX",
    long: "cached deleted modified others ignored stage unmerged killed exclude-standard exclude= error-unmatch full-name directory no-empty-directory eol deduplicate recurse-submodules abbrev=?".split(
      " ",
    ),
  },
  "ls-tree": { flags: "drtlz", long: ["name-only", "name-status", "full-name", "full-tree", "long", "abbrev=?", "object-only"] },
  blame: {
    flags: "wMCslnpebtfc",
    valued: "L",
    long: [
      "porcelain",
      "line-porcelain",
      "incremental",
      "show-name",
      "show-number",
      "show-email",
      "since=",
      "date=",
      "root",
      "abbrev=",
      "score-debug",
    ],
  },
  "cat-file": { flags: "tsep", long: ["batch-check=?", "batch-all-objects", "follow-symlinks"] },
  "merge-base": { flags: "a", long: ["all", "octopus", "is-ancestor", "fork-point", "independent"] },
  "rev-list": { ...logLike, long: [...output, "objects", "max-age=", "min-age=", "disk-usage=?"] },
  describe: {
    long: ["all", "tags", "contains", "abbrev=", "candidates=", "exact-match", "long", "match=", "exclude=", "always", "first-parent"],
  },
  "for-each-ref": {
    flags: "s",
    long: [
      "count=",
      "sort=",
      "format=",
      "points-at=",
      "merged=?",
      "no-merged=?",
      "contains=?",
      "no-contains=?",
      "ignore-case",
      "omit-empty",
    ],
  },
  "show-ref": {
    flags: "hdsq",
    long: ["head", "tags", "heads", "branches", "dereference", "verify", "quiet", "hash=?", "abbrev=?", "exists"],
  },
  "name-rev": { long: ["tags", "refs=", "name-only", "always", "all"] },
  "check-ignore": { flags: "qvnz", long: ["quiet", "verbose", "non-matching", "no-index", "stdin"] },
  "check-attr": { flags: "az", long: ["all", "cached"] },
  "count-objects": { flags: "vH", long: ["verbose", "human-readable"] },
  "diff-tree": { ...logLike, long: [...output, "root", "no-commit-id"] },
  "diff-index": logLike,
  "diff-files": logLike,
  grep: {
    flags: "#nilLcwvhHEFGPIaqorWpz",
    valued: "eABCm",
    long: "line-number ignore-case files-with-matches files-without-match name-only count word-regexp invert-match extended-regexp fixed-strings perl-regexp basic-regexp text cached untracked no-index no-exclude-standard all-match quiet break heading column show-function function-context only-matching max-depth= threads= after-context= before-context= context= color=? no-color and or not max-count= recursive no-recursive null full-name".split(
      " ",
    ),
  },
  "range-diff": { long: ["creation-factor=", "no-dual-color", "left-only", "right-only", "stat", "no-patch"], flags: "s" },
  cherry: { flags: "v", long: ["verbose", "abbrev=?"] },
  var: {},
  version: { long: ["build-options"] },
};

/** Options that make `branch` and `tag` list. */
const lists = /^(?:list|l|contains|no-contains|merged|no-merged|points-at)$/;
const listing: OptionTable = {
  flags: "avrl#",
  long: "list all remotes verbose show-current contains=? no-contains=? merged=? no-merged=? sort= points-at= format= column=? no-column color=? no-color abbrev= ignore-case".split(
    " ",
  ),
};

/** Formats that show signatures run the program that the configuration names for them. */
function asksForSignatures(read: ReadOptions): boolean {
  return read.options.some(({ value }) => /%G|%\(signature/.test(value?.literal ?? ""));
}

function isPlainLog(args: readonly ShellWord[]): boolean {
  const read = readOptions(args, logLike);
  return read !== null && !asksForSignatures(read);
}

/** Its path operands where a git call is proven to only read; null elsewhere. */
export function readGitPaths(args: readonly ShellWord[], isAtStart: boolean): ShellWord[] | null {
  const git = readGit(args);
  const { subcommand } = git;
  if (subcommand === null) return null;
  const before = git.before.map((word) => word.literal);
  if (subcommand === "") return before.length === 1 && before[0] === "--version" ? [] : null;
  if (!isAtStart || !before.every((word) => word === "--no-pager" || word === "--no-optional-locks" || word === "-P")) return null;
  const form = forms[subcommand];
  if (form !== undefined) {
    const read = readOptions(git.args, form);
    if (read === null || asksForSignatures(read)) return null;
    if (subcommand === "grep" && read.options.some((option) => option.name === "no-index"))
      return read.options.some((option) => option.name === "e") ? [...read.operands] : read.operands.slice(1);
    return subcommand === "diff" && read.options.some((option) => option.name === "no-index") ? [...read.operands] : [];
  }
  const words = git.args.map((word) => word.literal ?? "?");
  switch (subcommand) {
    case "branch":
    case "tag": {
      const read = readOptions(git.args, { ...listing, flags: subcommand === "tag" ? "ln#" : listing.flags! });
      if (read === null || asksForSignatures(read)) return null;
      // An operand without a listing option would create a branch or a tag.
      return read.operands.length === 0 || read.options.some(({ name }) => lists.test(name)) ? [] : null;
    }
    case "remote":
      return words.length === 0 ||
        (words.length === 1 && words[0] === "-v") ||
        (words[0] === "get-url" && words.every((word) => !word.startsWith("-") || word === "--all"))
        ? []
        : null;
    case "stash":
      return (words[0] === "list" && isPlainLog(git.args.slice(1))) ||
        (words[0] === "show" && words.slice(1).every((word) => /^(?:stash@\{\d+\}|\d+|-p|--stat|--name-only)$/.test(word)))
        ? []
        : null;
    case "worktree":
      return words[0] === "list" && words.slice(1).every((word) => /^(?:-v|--verbose|--porcelain|-z)$/.test(word)) ? [] : null;
    case "reflog":
      return isPlainLog(words[0] === "show" ? git.args.slice(1) : git.args) &&
        !words.some((word) => /^(?:expire|delete|exists|drop)$/.test(word))
        ? []
        : null;
    case "config":
      return /^(?:--get|--get-all|--get-regexp|get)$/.test(words[0] ?? "") && words.length === 2 && !words[1]!.startsWith("-") ? [] : null;
    default:
      return null;
  }
}
