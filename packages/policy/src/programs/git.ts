import { addFact, addNeed, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import type { ShellWord } from "../shell/command.ts";
import { hasExactly, hasOption, optionValues, roughOperands } from "../shell/options.ts";
import { hostsOf, networkScope } from "./hosts.ts";

/** A git call taken apart: its own options, the subcommand, and what follows. */
export interface GitCall {
  readonly before: readonly ShellWord[];
  /** Null where it isn't literal, "" where there is none. */
  readonly subcommand: string | null;
  readonly args: readonly ShellWord[];
}

const globalValued = [
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--exec-path",
  "--attr-source",
];

export function readGit(args: readonly ShellWord[]): GitCall {
  for (let i = 0; i < args.length; i++) {
    const text = args[i]!.literal;
    if (text === null) return { before: args.slice(0, i), subcommand: null, args: args.slice(i + 1) };
    if (text.startsWith("-")) {
      if (globalValued.includes(text) && text !== "--exec-path") i++;
      continue;
    }
    return { before: args.slice(0, i), subcommand: text, args: args.slice(i + 1) };
  }
  return { before: args, subcommand: "", args: [] };
}

/** Settings that only change how things look, or that switch off what would run other programs. */
const harmlessSetting =
  /^(?:color\.[\w.]+|core\.quotepath|core\.autocrlf|core\.safecrlf|advice\.\w+|user\.(?:name|email)|init\.defaultbranch|log\.\w+|diff\.(?:renames|algorithm|renamelimit|noprefix|mnemonicprefix|context)|merge\.(?:conflictstyle|renames)|column\.\w+|commit\.gpgsign=false|tag\.gpgsign=false|gc\.auto|core\.pager=(?:cat)?|core\.fsmonitor=(?:false|0)?|core\.hookspath=\/dev\/null|core\.editor=(?:true|:)|sequence\.editor=(?:true|:)|pager\.\w+=false|safe\.bareRepository=explicit)(?:=|$)/i;

export const subcommands = new Set(
  "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch filter-branch filter-repo for-each-ref format-patch fsck gc grep hash-object help init interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file merge-tree mergetool mktag mktree mv name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email shortlog show show-branch show-ref sparse-checkout stage stash status stripspace submodule svn switch symbolic-ref tag unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree write-tree instaweb daemon gui citool".split(
    " ",
  ),
);

export const judgeGit: Judge = (call, findings) => {
  const git = readGit(call.args);
  judgeGlobals(call, git, findings);
  const { subcommand, args } = git;
  if (subcommand === null || (subcommand !== "" && !subcommands.has(subcommand))) {
    addFact(findings, "unknown_program", `git ${subcommand ?? "…"} may be an alias or another program`);
    return;
  }
  judgeLoss(call, subcommand, args, findings);
  judgeRemote(call, subcommand, args, findings);
  judgeSettings(call, subcommand, args, findings);
  for (const word of [
    ...optionValues(args, ["--output", "--output-directory"]),
    ...optionValues(args, gitOutputs[subcommand]?.split(" ") ?? [], "vnU"),
    ...gitOperands(subcommand, args),
  ]) {
    addNeed(findings, "write", word);
  }
};

/** Options of subcommands whose value is written. */
const gitOutputs: Readonly<Record<string, string>> = {
  archive: "-o",
  "format-patch": "-o",
  mailsplit: "-o",
  "index-pack": "-o",
  "checkout-index": "--prefix",
  "fast-export": "--export-marks",
};

/** Operands of subcommands that are written. */
function gitOperands(subcommand: string, args: readonly ShellWord[]): readonly ShellWord[] {
  switch (subcommand) {
    case "merge-file":
      return surely(args, "-p", "--stdout") ? [] : roughOperands(args, ["-L"]).slice(0, 1);
    case "interpret-trailers":
      return has(args, "--in-place") ? roughOperands(args, ["--trailer", "--where", "--if-exists", "--if-missing"]) : [];
    case "mailinfo":
    case "pack-objects":
      return roughOperands(args);
    default:
      return [];
  }
}

function judgeGlobals(call: JudgedCall, git: GitCall, findings: Findings): void {
  git.before.forEach((word, i) => {
    const text = word.literal ?? "";
    const value = git.before[i + 1]?.literal;
    const changes =
      (text === "-c" && !(value != null && harmlessSetting.test(value))) ||
      /^-p$|^--paginate$|^--exec-path=|^--config-env|^--git-dir|^--work-tree|^-c./.test(text);
    if (changes) addFact(findings, "changed_environment", call.text);
  });
  if (git.subcommand === "clone") {
    // What it copies holds hooks.
    if (has(git.args, "--template")) addFact(findings, "changed_environment", call.text);
    for (const word of optionValues(git.args, ["-c", "--config"]))
      if (word.literal === null || !harmlessSetting.test(word.literal)) addFact(findings, "changed_environment", call.text);
  }
  const programs = ["--ext-diff", "--textconv", "--upload-pack", "--receive-pack", "--exec", "--open-files-in-pager"];
  // `--text` is whole.
  const named = git.args.filter((word) => word.literal !== "--text" && hasOption([word], ...programs));
  const runs = named.length > 0 || git.args.some((word) => word.literal?.startsWith("-O") === true);
  const isText = named.some((word) => git.args[git.args.indexOf(word) - 1]?.literal === "-e");
  const takesPrograms = ["grep", "diff", "log", "show", "fetch", "clone", "pull", "ls-remote", "push"].includes(git.subcommand ?? "");
  if (runs && !isText && takesPrograms && (git.subcommand === "grep" || git.args.some((word) => word.literal?.startsWith("--") === true))) {
    addFact(findings, "changed_environment", `${call.text} runs another program`);
  }
  if (git.args.some((word) => /^ext::|^fd::/.test(word.literal ?? "")))
    addFact(findings, "hidden_code", `${call.text} uses a transport that runs a program`);
}

const has = (args: readonly ShellWord[], ...names: string[]): boolean => hasOption(args, ...names);
/** Of what speaks for a call nothing is guessed. `e`: a value follows. */
const surely = (args: readonly ShellWord[], ...names: string[]): boolean => hasExactly(args, names, "eOmcu");

function judgeLoss(call: JudgedCall, subcommand: string, args: readonly ShellWord[], findings: Findings): void {
  const operands = roughOperands(args, ["-m", "-b", "-B", "-c", "-C", "-s", "--source", "-e", "--exclude", "-n"]);
  const words = operands.map((word) => word.literal ?? "?");
  const lose = (): void => addFact(findings, "loses_work", call.text);
  switch (subcommand) {
    case "reset":
      if (has(args, "--hard", "--merge", "--keep")) lose();
      return;
    case "clean":
      if (!surely(args, "-n", "--dry-run")) lose();
      return;
    case "checkout": {
      if (has(args, "-f", "--force", "-B", "-p", "--patch", "--ours", "--theirs", "-m", "--merge", "--pathspec-from-file")) return lose();
      if (surely(args, "-b", "--orphan", "--detach")) return;
      if (args.some((word) => word.literal === "--") && args.at(-1)?.literal !== "--") return lose();
      if (operands.length > 1 || words.some((word) => word === "." || word === "?")) return lose();
      if (operands[0] !== undefined && words[0] !== "-") addNeed(findings, "restore", operands[0]);
      return;
    }
    case "restore":
      if (!hasExactly(args, ["--staged", "-S"], "sU") || has(args, "--worktree", "-W")) lose();
      return;
    case "switch":
      if (has(args, "-f", "--force", "--discard-changes", "-C", "--force-create")) lose();
      return;
    case "stash":
      if (words[0] === "drop" || words[0] === "clear") lose();
      return;
    case "branch":
      // `-d` alone refuses what isn't merged.
      if (has(args, "-D", "-f", "--force", "-M", "-C")) lose();
      return;
    case "bundle":
      if (words[0] === "create") addNeed(findings, "write", operands[1]);
      return;
    case "tag":
      if (has(args, "-d", "--delete", "-f", "--force")) lose();
      return;
    case "reflog":
      if (words[0] === "expire" || words[0] === "delete") lose();
      return;
    case "gc":
    case "repack":
      if (args.some((word) => /^--pr(?!une=never$)/.test(word.literal ?? "?")) || has(args, "-a", "-A", "--aggressive")) lose();
      return;
    case "rm":
      if (!surely(args, "--cached", "-n", "--dry-run")) lose();
      return;
    case "mv":
      if (has(args, "-f", "--force")) lose();
      operands.forEach((word) => addNeed(findings, "write", word));
      return;
    case "worktree":
      if (words[0] === "remove" || (words[0] === "prune" && !surely(args, "-n", "--dry-run"))) lose();
      else if (words[0] === "add" || words[0] === "move") addNeed(findings, "write", operands[words[0] === "add" ? 1 : 2]);
      return;
    case "submodule":
      if (words[0] === "deinit") lose();
      return;
    case "update-ref":
    case "symbolic-ref":
      if (has(args, "-d", "--delete", "--stdin") || operands.length > 1) lose();
      return;
    case "read-tree":
      if (has(args, "--reset", "-u", "-m")) lose();
      return;
    case "notes":
    case "replace":
    case "rerere":
      if (/^(?:remove|prune|clear|forget)$/.test(words[0] ?? "") || has(args, "-d")) lose();
      return;
    case "checkout-index":
      if (has(args, "-f", "--force")) lose();
      return;
    case "sparse-checkout":
      if (/^(?:set|reapply|init)$/.test(words[0] ?? "")) lose();
      return;
    case "prune":
    case "fast-import":
    case "filter-branch":
    case "filter-repo":
      lose();
      return;
    case "init":
    case "clone":
      addNeed(findings, "write", operands[subcommand === "clone" ? 1 : 0]);
  }
}

function judgeRemote(call: JudgedCall, subcommand: string, args: readonly ShellWord[], findings: Findings): void {
  const operands = roughOperands(args, ["-b", "--branch", "--depth", "-o", "--origin", "-c", "-u", "--upload-pack", "-j", "--reference"]);
  const words = operands.map((word) => word.literal ?? "?");
  // A remote's name stands for a URL in the configuration, which can't be read here.
  const address = operands.find((word) => /:\/\/|^[\w.-]+@[\w.-]+:/.test(word.literal ?? ""));
  const hosts = address === undefined ? null : hostsOf([address]);
  const talk = (): void => addFact(findings, "network", call.text, networkScope(hosts));
  switch (subcommand) {
    case "push":
      addFact(findings, "remote_change", call.text, networkScope(hosts));
      if (
        has(args, "-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune") ||
        words.some((word) => /^\+|^:/.test(word))
      ) {
        addFact(findings, "loses_work", `${call.text} rewrites or removes what others have`);
      }
      return;
    case "clone":
      // A clone from a folder needs no network.
      if (address !== undefined || /^[^./~]*:/.test(words[0] ?? "?") || words[0] === "?") talk();
      return;
    case "fetch":
    case "pull":
    case "ls-remote":
    case "request-pull":
      talk();
      return;
    case "archive":
      if (has(args, "--remote")) talk();
      return;
    case "remote":
      if (/^(?:show|update|prune)$/.test(words[0] ?? "") || has(args, "-f")) talk();
      return;
    case "submodule":
      if (/^(?:add|update|sync)$/.test(words[0] ?? "")) talk();
      return;
    case "lfs":
      if (!/^(?:ls-files|status|env|version|track|install|uninstall)$/.test(words[0] ?? "env")) talk();
      return;
    case "send-email":
    case "svn":
      addFact(findings, "remote_change", call.text, networkScope(null));
  }
}

function judgeSettings(call: JudgedCall, subcommand: string, args: readonly ShellWord[], findings: Findings): void {
  const operands = roughOperands(args, ["-f", "--file", "--type", "--default", "--blob"]);
  const words = operands.map((word) => word.literal ?? "?");
  const change = (): void => addFact(findings, "runs_later", call.text, has(args, "--global", "--system") ? { unsandboxed: true } : {});
  switch (subcommand) {
    case "config": {
      const asks =
        hasExactly(args, ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--show-origin"], "f") ||
        /^(?:get|list)$/.test(words[0] ?? "");
      const changes =
        has(args, "--add", "--unset", "--unset-all", "--replace-all", "--rename-section", "--remove-section", "-e", "--edit") ||
        operands.length > 1;
      if (!asks && (changes || operands.length === 0)) change();
      return;
    }
    case "remote":
      if (/^(?:add|set-url|remove|rm|rename|set-head|set-branches)$/.test(words[0] ?? "")) change();
      return;
    case "branch":
      if (has(args, "-u", "--set-upstream-to", "--unset-upstream", "--edit-description")) change();
      return;
    case "lfs":
      if (/^(?:install|uninstall|track|untrack|update)$/.test(words[0] ?? "")) change();
      return;
    case "init":
      if (has(args, "--template", "--separate-git-dir")) change();
      return;
    case "submodule":
      if (/^(?:add|set-url|set-branch|init)$/.test(words[0] ?? "")) change();
      return;
    case "maintenance":
    case "instaweb":
    case "daemon":
      addFact(findings, "services", call.text, { unsandboxed: true });
      return;
    case "credential":
    case "credential-cache":
    case "credential-store":
      addFact(findings, "secret_read", call.text);
  }
}
