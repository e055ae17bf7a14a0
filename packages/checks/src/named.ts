import { matcher } from "./glob.ts";
import { folderOf, nameOf, resolvePath } from "./paths.ts";
import { simpleCommands, type Words } from "./shell-words.ts";
import { parseObject } from "./parts.ts";

/** What a check's command names, directly or through the scripts it runs. Paths are relative to the root it runs in. */
export interface Named {
  /** Existing files in scope: the script that is run, and what its line names. */
  readonly files: ReadonlySet<string>;
  /** Globs and folders that the line gives to a runner, as globs. */
  readonly globs: ReadonlySet<string>;
  /** Paths the line names that are not in scope; ignored build output may be among them. */
  readonly others: ReadonlySet<string>;
  /** Names of package.json scripts. */
  readonly scripts: ReadonlySet<string>;
  /** Programs that are run by their names alone, so that they are looked for. */
  readonly programs: ReadonlySet<string>;
  /** Files that a plain program such as grep looks at: they are what is tested. */
  readonly looked: ReadonlySet<string>;
  /** The command with all scripts it leads to: says which tools are at work. */
  readonly text: string;
}

export interface NamedInput {
  readonly command: string;
  /** Where it runs, below the root. */
  readonly folder: string;
  has(path: string): boolean;
  /** All files named package.json. */
  readonly packages: readonly string[];
  text(path: string): Promise<string | null>;
}

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
]);
const shells = new Set(["sh", "bash", "dash", "zsh"]);
const folderFlags = new Set(["-C", "--prefix", "--cwd", "--dir", "--directory"]);
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
const subcommands = new Set(["run", "test"]);
/** Flags that name a file which directs the run. */
const fileFlags = /^(?:-[cfr]|--(?:config|conf|rcfile|file|makefile|require|import|setup|opts|loader|env-file|project)[\w-]*)$/;
/** Other files count by their name: what a line names besides is mostly what it tests. */
const looksLikeTest = /test|spec|check|verify|assert|e2e|expect|golden|fixture|snapshot/i;
/** A script that holds tests, by its name or folder. */
const testLike = /(?:^|[/_.-])(?:tests?|t|specs?|e2e|bats)(?=[/_.-])/i;
const deepest = 6;
/** A script that takes data apart and uses each piece. */
const takesLines = /\b(?:read|mapfile|readarray|xargs|parallel|awk)\b|\bfor\s+\w+\s+in\b/;
/** Programs that say something of the files they are given, by themselves. What compares two of them may be given the expected one. */
const lookers = new Set([
  "[",
  "[[",
  "test",
  "grep",
  "egrep",
  "fgrep",
  "rg",
  "jq",
  "cat",
  "head",
  "tail",
  "wc",
  "ls",
  "stat",
  "file",
  "find",
]);
/** Folders of what is tested. */
export const sourceFolder = /^(?:.*\/)?(?:src|lib|app|pkg|internal)\//;
const codeEndings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".py", ".rb", ".pl", ".pm"];

export async function findNamed(input: NamedInput): Promise<Named> {
  const found = {
    files: new Set<string>(),
    globs: new Set<string>(),
    others: new Set<string>(),
    scripts: new Set<string>(),
    programs: new Set<string>(),
    looked: new Set<string>(),
    text: input.command,
  };
  const followed = new Set<string>();

  const followScripts = async (name: string, depth: number): Promise<void> => {
    if (found.scripts.has(name) || depth > deepest) return;
    found.scripts.add(name);
    const isMany = name.includes("*") ? matcher([name]) : null;
    for (const path of input.packages) {
      const content = parseObject((await input.text(path)) ?? "");
      const scripts = content?.["scripts"];
      if (typeof scripts !== "object" || scripts === null) continue;
      for (const [key, line] of Object.entries(scripts)) {
        if (isMany?.(key)) await followScripts(key, depth + 1);
        if (typeof line !== "string" || ![name, `pre${name}`, `post${name}`].includes(key)) continue;
        found.text += `\n${line}`;
        await followLine(line, folderOf(path), depth + 1);
      }
    }
  };

  /** What a script of another language loads from its own folder is part of it; what it loads from elsewhere it may test. */
  const followLoads = async (path: string, depth: number): Promise<void> => {
    const home = folderOf(path);
    if (home === "" || sourceFolder.test(`${home}/`) || followed.has(path) || depth > deepest) return;
    followed.add(path);
    const text = await input.text(path);
    for (const loaded of text === null ? [] : loadsOf(text, home).filter((one) => one.startsWith(`${home}/`) && input.has(one))) {
      found.files.add(loaded);
      await followLoads(loaded, depth + 1);
    }
  };

  const followFile = async (path: string, folder: string, isScript: boolean, depth: number): Promise<void> => {
    found.files.add(path);
    if (!isScript || followed.has(path) || depth > deepest) return;
    followed.add(path);
    const text = await input.text(path);
    if (text === null) return;
    found.text += `\n${text}`;
    await followLine(text, folder, depth + 1, true, testLike.test(path));
  };

  /**
   * A program that a script file starts is more often what it tests than part of the test, and so is what a test sources;
   * its name decides. What another script sources is part of that script.
   */
  const followLine = async (line: string, start: string, depth: number, isScriptFile = false, isTest = false): Promise<void> => {
    let folder = start;
    for (const all of simpleCommands(line)) {
      const words = unwrap(all);
      const [program = ""] = words;
      if (program === "cd" && words[1] !== undefined) {
        folder = resolvePath(folder, words[1]) ?? folder;
        continue;
      }
      if (!program.includes("/")) found.programs.add(program);
      const flag = words.findIndex((word) => folderFlags.has(word));
      const base = flag > 0 ? (resolvePath(folder, words[flag + 1] ?? "") ?? folder) : folder;
      for (const name of scriptNames(words)) await followScripts(name, depth);
      const isShell = shells.has(nameOf(program));
      const script = scriptIndex(words);
      const isSourcing = program === "." || program === "source";
      for (const [index, word] of words.entries()) {
        if (isShell && words[index - 1]?.match(/^-[a-z]*c$/)) {
          await followLine(word, base, depth + 1, isScriptFile, isTest);
          continue;
        }
        for (const path of pathsOf(word, base, words[index - 1] === "-m")) {
          if (input.has(path)) {
            if (index > 0 && lookers.has(program) && !fileFlags.test(words[index - 1] ?? "")) found.looked.add(path);
            const isRun = index === 0 || (index === script && (isShell || !isScriptFile || (isSourcing && !isTest)));
            const directs = fileFlags.test(words[index - 1] ?? "") || fileFlags.test(word.split("=")[0] ?? "");
            if (isRun || directs || looksLikeTest.test(nameOf(path)))
              await followFile(path, base, isRun && (isShell || !interpreters.test(nameOf(program))), depth);
            if (isRun && !isShell) await followLoads(path, depth);
          } else if (/[*?[{]/.test(path)) found.globs.add(path);
          else if (word.includes("/") || index > 0) found.others.add(path);
        }
      }
    }
  };

  await followLine(input.command, input.folder, 0);
  // `grep -v '^#' cases.txt | while read …`: what goes through a loop is what others are tested with.
  return takesLines.test(found.text) ? { ...found, looked: new Set() } : found;
}

/** Files that the lines of a JavaScript, Python, Perl or Ruby file in `folder` may load from beside it. */
function loadsOf(text: string, folder: string): string[] {
  const relative = [...text.matchAll(/["'`](\.{1,2}\/[^"'`\n]+)["'`]/g)].map(([, path = ""]) => path);
  const modules = [...text.matchAll(/^\s*(?:from|import)\s+\.?([\w.]+)/gm)].map(([, name = ""]) => `./${name.replaceAll(".", "/")}`);
  return [...relative, ...modules].flatMap((one) => {
    const path = resolvePath(folder, one);
    if (path === null) return [];
    const stem = path.replace(/\.[cm]?js$/, "");
    return [path, ...codeEndings.flatMap((ending) => [`${stem}${ending}`, `${path}/index${ending}`]), `${path}/__init__.py`];
  });
}

/** Where the script stands that an interpreter or a shell is given; -1 where there is none. */
function scriptIndex(words: Words): number {
  const program = nameOf(words[0] ?? "");
  if (!shells.has(program) && !interpreters.test(program) && program !== "source" && program !== ".") {
    return program === "go" && words[1] === "run" ? 2 : -1;
  }
  return words.findIndex(
    (word, index) =>
      index > 0 && !word.startsWith("-") && !(index === 1 && subcommands.has(word)) && !fileFlags.test(words[index - 1] ?? ""),
  );
}

/** A command without the programs and variables that stand before it. */
export function unwrap(words: Words): Words {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    if (/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) at += 1;
    else if (wrappers.has(word)) {
      at += 1;
      while (/^-|^\d+[smh]?$/.test(words[at] ?? "")) at += 1;
    } else break;
  }
  return words.slice(at);
}

/** A program that leads to tests, whatever it is given. */
export function isRunner(program: string): boolean {
  return shells.has(program) || managers.has(program) || runners.has(program) || interpreters.test(program);
}

/** A program found by name that runs no tests is, where it was there from the start, what is tested. */
export function isTested(program: string): boolean {
  return !isRunner(program) && !looksLikeTest.test(program);
}

/** The package.json scripts that one command runs. */
function scriptNames(words: Words): string[] {
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
  if (!managers.has(name)) return [];
  const plain = rest.filter((word, index) => !word.startsWith("-") && !takesValue(rest[index - 1]));
  const [command = "", script] = plain;
  if (command === "run" || command === "run-script" || command === "rum") return script === undefined ? [] : [script];
  const short = shorthand[command];
  if (short !== undefined) return [short];
  return name === "npm" || command === "" || managing.has(command) ? [] : [command];
}

function takesValue(flag: string | undefined): boolean {
  return flag !== undefined && (folderFlags.has(flag) || ["-w", "--workspace", "--filter", "-F"].includes(flag));
}

/** The paths that a word may mean: itself, the value of a flag, a Python module. */
function pathsOf(word: string, folder: string, isModule: boolean): string[] {
  const value = /^--?[\w-]+=(.+)$/.exec(word)?.[1] ?? word;
  if (value.startsWith("-") || value === "" || value === "." || value.includes("$") || value.includes("://")) return [];
  // `tests/test_a.py::test_one` names a test in a file.
  const names = isModule
    ? [`${value.replaceAll(".", "/")}.py`, `${value.replaceAll(".", "/")}/__main__.py`]
    : [value.split("::")[0] ?? value];
  return names.flatMap((name) => {
    const path = name.startsWith("/") ? null : resolvePath(folder, name);
    return path === null || path === "" ? [] : [path];
  });
}
