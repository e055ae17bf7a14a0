import { nameOf } from "./paths.ts";
import { simpleCommands, type Words } from "./shell-words.ts";

/** Programs that say something of the files they are given, by themselves. What compares two of them may be given the expected one. */
export const lookers: ReadonlySet<string> = new Set("[ [[ test grep egrep fgrep rg jq cat head tail wc ls stat file find".split(" "));
/** Further ones that run nothing of what they are given. */
const runsNone = new Set(
  (
    "echo printf cp mv rm ln mkdir rmdir touch chmod chown sed awk sort uniq tr cut tee diff cmp basename dirname realpath readlink tar zip gzip " +
    "curl wget rsync scp export set unset local readonly declare typeset return exit kill wait sleep for while until case function alias type which git"
  ).split(" "),
);
/** Checkers, which read it. */
const checkers = new Set(
  (
    "tsc vue-tsc eslint oxlint biome prettier oxfmt dprint stylelint standard xo jshint knip ruff mypy flake8 pylint pyright black isort bandit " +
    "shellcheck shfmt rubocop"
  ).split(" "),
);

const wrappers = new Set([
  "env",
  "time",
  "nice",
  "exec",
  "command",
  "xvfb-run",
  "cross-env",
  "sudo",
  "nohup",
  "stdbuf",
  "npx",
  "bunx",
  "timeout",
  "if",
  "then",
  "else",
  "do",
  "!",
  "{",
  "dotenv",
  "nyc",
  "c8",
  "xargs",
]);
/** Managers of environments, and the words behind which they are given a command. */
const givers: Readonly<Record<string, readonly string[]>> = {
  uv: ["run"],
  poetry: ["run"],
  pdm: ["run"],
  rye: ["run"],
  hatch: ["run"],
  pipenv: ["run"],
  coverage: ["run"],
  bundle: ["exec"],
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x"],
  mise: ["exec", "x"],
};
export const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"]);
export const folderFlags = new Set(["-C", "--prefix", "--cwd", "--dir", "--directory"]);
const managers = new Set(["npm", "pnpm", "yarn", "bun"]);
/** Programs that lead to tests whatever they are called with. */
const runners = new Set(
  "make gmake just task ninja cmake ctest rake cargo go gradle mvn ant dotnet tox nox prove bats bazel swift mix sbt zig phpunit rspec env timeout time nice xargs git".split(
    " ",
  ),
);
const shorthand: Readonly<Record<string, string>> = {
  t: "test",
  tst: "test",
  it: "test",
  start: "start",
  stop: "stop",
  restart: "restart",
  test: "test",
};
/** Subcommands of package managers that run no script of the project. */
const managing = new Set([
  "install",
  "i",
  "ci",
  "add",
  "remove",
  "update",
  "exec",
  "dlx",
  "x",
  "audit",
  "pack",
  "publish",
  "link",
  "config",
  "cache",
  "why",
  "ls",
  "list",
  "outdated",
  "init",
  "create",
  "version",
]);
/** Programs whose first plain argument is the script they run. */
const interpreters = /^(?:node|deno|bun|tsx|ts-node|python[\d.]*|pypy3?|ruby|perl|php|lua|Rscript|swift|java|elixir|bats|pwsh)$/;
/** Words between an interpreter and its script: `deno run`, `go run`. */
const subcommands = new Set(["run", "test", "watch"]);
/** Flags that name a file which directs the run. */
export const fileFlags =
  /^(?:-[cfr]|--(?:config|conf|rcfile|file|makefile|require|import|setup|opts|loader|experimental-loader|reporter|test-reporter|env-file|project)[\w-]*)$/;
/** Flags that name a folder of such files. */
export const rulesFlag = /^--(?:rules-?dir|plugins-?dir)$/;
/** Other files count by their name: what a line names besides is mostly what it tests. */
export const looksLikeTest = /test|spec|check|verify|assert|e2e|expect|golden|fixture|snapshot/i;
/** A script that holds tests, by its name or folder. */
export const testLike = /(?:^|[/_.-])(?:tests?|t|specs?|e2e|bats)(?=[/_.-])/i;
/** Variables that hold options, or a script that is run first. */
export const directing: Readonly<Record<string, string>> = {
  NODE_OPTIONS: "node",
  BUN_OPTIONS: "bun",
  RUBYOPT: "ruby",
  BASH_ENV: "sh",
  ENV: "sh",
  PYTHONSTARTUP: "python3",
};
/** A command without the programs and variables that stand before it. */
export function unwrap(words: Words): Words {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    const given = givers[word]?.includes(words[at + 1] ?? "") === true;
    if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) at += 1;
    else if (given || wrappers.has(word)) {
      at += given ? 2 : 1;
      while (/^-|^\d+[smh]?$/.test(words[at] ?? "")) at += 1;
      // `uv run --directory sub python3 …`: the value of a flag stands before the command.
      const next = words.findIndex((one, index) => index >= at && isRunner(nameOf(one)));
      if (given && next > at && words[at - 1]?.startsWith("-") === true) at = next;
    } else if (word === "yarn" && words[at + 1] === "node") at += 1;
    else break;
  }
  return words.slice(at);
}

export function isInterpreter(program: string): boolean {
  return interpreters.test(program);
}

/** Whether a program is none that is known: it may run what it is given. */
export function mayRunAny(words: Words): boolean {
  const program = nameOf(words[0] ?? "");
  return (
    !isRunner(program) &&
    !lookers.has(program) &&
    !runsNone.has(program) &&
    !checkers.has(program) &&
    scriptNames(words).length === 0 &&
    !/[$=]/.test(program)
  );
}

/** The command that a program which is none of the known is given: `flock .lock node x.js`; `KILL 60 sh x.sh`, from `timeout -s`. */
export function given(words: Words): Words {
  const at = mayRunAny(words) ? words.findIndex((word, index) => index > 0 && startsOthers(nameOf(word))) : -1;
  return at < 0 ? words : words.slice(at);
}

function startsOthers(program: string): boolean {
  return shells.has(program) || managers.has(program) || interpreters.test(program) || checkers.has(program) || /^g?make$/.test(program);
}

/** Flags behind which an interpreter is given code, or a module's name, in place of a script. */
export const givesCode = /^-(?:[A-Za-z]*e|E|p|c|m)$|^--(?:eval|print)$/;
/** Runners whose every plain argument is a file of tests. */
const takesTests = /^(?:prove|bats|rspec|phpunit)$/;

/** Where the scripts stand that a shell, an interpreter or a runner of scripts is given, among the words that `exists` holds for. */
export function scriptsIn(words: Words, exists: (word: string) => boolean): ReadonlySet<number> {
  const program = nameOf(words[0] ?? "");
  const found = new Set<number>();
  const isShell = shells.has(program);
  const isSourcing = program === "source" || program === ".";
  const takesMany = takesTests.test(program) || words.includes("--test");
  if (!isShell && !isSourcing && !takesMany && !interpreters.test(program)) {
    if (program === "go" && words[1] === "run") found.add(2);
    return found;
  }
  for (let at = 1; at < words.length; at += 1) {
    const [word = "", before = ""] = [words[at], words[at - 1]];
    if (isShell ? /^-[a-z]*c$/.test(word) : givesCode.test(word)) break;
    if (word.startsWith("-") || (at === 1 && subcommands.has(word))) continue;
    // A flag's value is no file of the workspace, or one that directs the run.
    const isFile = exists(word);
    if (isFile) found.add(at);
    if ((isFile || !before.startsWith("-")) && !fileFlags.test(before) && !takesMany) break;
  }
  return found;
}

/** A program that leads to tests, whatever it is given. */
export function isRunner(program: string): boolean {
  return shells.has(program) || managers.has(program) || runners.has(program) || interpreters.test(program);
}

/** A program found by name that runs no tests is, where it was there from the start, what is tested. */
export function isTested(program: string): boolean {
  return !isRunner(program) && !looksLikeTest.test(program);
}

/** What an install runs of a package's own scripts, with their pre and post scripts. */
const aroundInstalls = ["install", "prepublish", "prepare", "pack"];

/** Runners of the scripts of many packages. */
const manyPackages = new Set(["turbo", "lerna", "nx", "lage", "wsrun", "rush", "moon"]);

/** The package.json scripts that one command runs. */
export function scriptNames(words: Words): string[] {
  const [program = "", ...rest] = words;
  const name = nameOf(program);
  if (name === "node") {
    const at = rest.findIndex((word) => word === "--run" || word.startsWith("--run="));
    const script = at < 0 ? undefined : rest[at]?.includes("=") ? rest[at]?.slice(6) : rest[at + 1];
    return script === undefined ? [] : [script];
  }
  if (["npm-run-all", "run-s", "run-p", "npm-run-all2"].includes(name)) return rest.filter((word) => !word.startsWith("-"));
  if (["concurrently", "conc"].includes(name)) {
    return rest.flatMap((word) =>
      /^(npm|pnpm|yarn|bun):/.test(word) ? [word.slice(word.indexOf(":") + 1)] : simpleCommands(word).flatMap(scriptNames),
    );
  }
  // `nx run app:test`, `nx run-many -t test lint`, `turbo test`: words too many name no script.
  if (manyPackages.has(name)) return rest.filter((word) => !word.startsWith("-")).flatMap((word) => word.split(/[:,]/));
  if (!managers.has(name)) return [];
  const plain = rest.filter((word, index) => !word.startsWith("-") && !takesValue(rest[index - 1]));
  const [command = "", script] = plain;
  if (/^(?:i|ci|install|add|pack|publish|link)$/.test(command) || (name === "yarn" && command === "")) return [...aroundInstalls];
  if (command === "run" || command === "run-script" || command === "rum") return script === undefined ? [] : [script];
  const short = shorthand[command];
  if (short !== undefined) return [short];
  return name === "npm" || command === "" || managing.has(command) ? [] : [command];
}

function takesValue(flag: string | undefined): boolean {
  return flag !== undefined && (folderFlags.has(flag) || ["-w", "--workspace", "--filter", "-F"].includes(flag));
}
