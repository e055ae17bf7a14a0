import { readGit } from "../programs/git.ts";
import { couldBeProcess, couldBeSecret, secretPlace } from "../programs/secrets.ts";
import type { ShellWord } from "../shell/command.ts";
import { cutWord, hasOption } from "../shell/options.ts";
import { addFact, type Findings, type JudgedCall } from "./fact.ts";
import { isBelow, normalise } from "./place.ts";

/** Programs whose words are no paths, or that judge their paths themselves. */
export const noPaths = new Set(
  "echo printf true false : basename dirname realpath which type command test [ [[ export alias unset seq date tr kill rm mv cp ln install mkdir rmdir touch chmod chown chgrp truncate shred dd rimraf unlink exit return cd pushd popd set shift local declare read wait sleep history".split(
    " ",
  ),
);
const onlyTakesText = new Set("echo printf true false : test [ [[ type which command basename dirname kill export alias".split(" "));
/** Programs that show names and sizes, not contents: a secret file may be seen, a folder of them not listed. */
export const showsNames = new Set("ls stat find fd tree du file readlink wc".split(" "));
/** Programs that go through a whole folder: of a home, that shows everything in it. */
const walksFolders = new Set("rg ag ack grep egrep fgrep zgrep git-grep tar zip rsync 7z".split(" "));
const patternFirst = new Set("grep egrep fgrep git-grep rg ag ack sed awk gawk jq yq perl ruby node python python3".split(" "));

/** Variables by whose names secrets are handed to programs. */
const secretVariable =
  /\$\{?(?!\w*(?:_FILE|_PATH|_NAME|_DIR)\b)[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|_PASS\b)[A-Z0-9_]*\b/;

export function judgeSecrets(call: JudgedCall, findings: Findings, home: string | null): void {
  const shown = call.args.find(
    (word) => word.literal === null && word.guesses.length === 0 && secretVariable.test(word.text.replace(/'[^']*'/g, "")),
  );
  if (shown !== undefined) addFact(findings, "secret_read", `${call.text} uses ${shown.text}`);
  if (!onlyTakesText.has(call.program)) judgeProcesses(call, findings);
  if (noPaths.has(call.program)) return;
  if (call.program === "git") {
    judgeGitSecrets(call, findings, home);
    const git = readGit(call.args);
    // Without an index it goes through folders as grep does.
    if (git.subcommand === "grep" && hasOption(git.args, "--no-index"))
      judgeReadWords({ ...call, program: "git-grep", args: git.args }, findings, home);
    return;
  }
  judgeReadWords(call, findings, home);
}

const gitShows = /^(?:log|diff|diff-tree|diff-index|diff-files|show|whatchanged|format-patch|stash|blame|annotate|grep|cat-file|archive)$/;
/** Options of git whose value is a text to look for. */
const gitTexts = /^(?:-[SGe]|-[a-zA-Z]*m|--(?:grep|author|committer|message))$/;
/** Subcommands that put a file into the repository, from where it goes wherever that does. */
const gitKeeps = /^(?:add|stage|commit|update-index|hash-object)$/;
/** The file that an option of git names: `-L1,2:.env`, `--pathspec-from-file=.env`. */
const gitFile = /^(?:-L.*:|--(?:pathspec-from-file|file)=)([^:]+)$/;

/** Files of git's history and index: `.env`, `HEAD:.env`, `:1:.env`, `:(top).env`, `'*.env'`. */
function judgeGitSecrets(call: JudgedCall, findings: Findings, home: string | null): void {
  const git = readGit(call.args);
  const shows = gitShows.test(git.subcommand ?? "") || gitKeeps.test(git.subcommand ?? "");
  let isPattern = git.subcommand === "grep" && !git.args.some((word) => word.literal === "-e");
  const isSecret = git.args.some((word, i) => {
    const written = word.literal ?? word.pattern ?? "";
    const text = (shows ? gitFile.exec(written)?.[1] : undefined) ?? written;
    if (text.startsWith("-") || text.includes("://")) return false;
    // What is left out, and what is looked for, isn't shown.
    if (/^:(?:\([^)]*exclude|\/*[!^])/.test(text) || gitTexts.test(git.args[i - 1]?.literal ?? "")) return false;
    if (isPattern) {
      isPattern = false;
      return false;
    }
    if (shows && secretPlace(text, home) !== null) return true;
    const path = text.replace(shows ? /^(?:[^\s:]*:)?(?:\d:)?(?:\([^)]*\)|\/)*/ : /^[^\s:]+:/, "");
    if (path !== text && secretPlace(path, home) !== null) return true;
    return shows && /[*?[]/.test(path) && !/\s/.test(path) && couldBeSecret(path);
  });
  if (isSecret) addFact(findings, "secret_read", call.text);
}

function judgeReadWords(call: JudgedCall, findings: Findings, home: string | null): void {
  let isFirst = patternFirst.has(call.program) && !call.args.some((word) => /^(?:-\w*[ef]|--regexp.*|--file.*)$/.test(word.literal ?? ""));
  for (const [i, word] of call.args.entries()) {
    const text = word.literal ?? word.text;
    const isGlob = /^(?:-\w*g|--i?glob)$/.test(call.args[i - 1]?.literal ?? "");
    if (isFirst && !isGlob && !text.startsWith("-")) {
      isFirst = false;
      continue;
    }
    const isHome =
      walksFolders.has(call.program) &&
      (word.literal === null ? word.guesses : [word.literal]).some((value) => isWholeHome(value, word.fromHome, home));
    if (isHome || isSecretWord(word, home, showsNames.has(call.program))) {
      addFact(findings, "secret_read", `${call.text} reads ${word.text}`);
      return;
    }
  }
}

/** `cd /proc/1`, `find /proc -name environ`: what is there is another process's, by whatever it is read. */
function judgeProcesses({ program, args, texts, text }: JudgedCall, findings: Findings): void {
  const isShown = !showsNames.has(program) && args.some((word) => couldBeProcess(word.text));
  const isEntered =
    (program === "cd" || program === "pushd") &&
    args.some(({ literal, guesses }) =>
      [literal ?? "", ...guesses].some((value) => /^\/proc\/\w+(?:\/|$)/.test(value) && secretPlace(value, null)),
    );
  const isSought =
    (program === "find" || program === "fd") &&
    texts.some((each) => /^\/proc\/*$/.test(each)) &&
    texts.some((each) => /^(?:-exec(?:dir)?|-ok|-[xX]|.*\benviron|mem)$/.test(each));
  if (isShown || isEntered || isSought) addFact(findings, "secret_read", `${text} reads what a process holds`);
}

function isWholeHome(value: string, fromHome: boolean, home: string | null): boolean {
  const plain = normalise(value);
  return (fromHome && (plain === "~" || plain === "")) || plain === "/" || (home !== null && plain.startsWith("/") && isBelow(home, plain));
}

function isSecretWord(word: ShellWord, home: string | null, onlyFolders: boolean): boolean {
  // `--file=~/x`, `@~/x` and `file://…` are paths too.
  const start = /^(?:--?[\w-]+=|@|file:\/\/|\w+=@?)/.exec(word.literal ?? "")?.[0].length ?? 0;
  const path = start > 0 ? cutWord(word, start) : word;
  const values = path.literal === null ? path.guesses : [path.literal];
  const found = values.map((value) => secretPlace(normalise(value), home));
  if (found.some((place) => place === "folder" || (place === "file" && !onlyFolders))) return true;
  return path.literal === null && path.pattern !== null && !onlyFolders && couldBeSecret(path.pattern);
}
