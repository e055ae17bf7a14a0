import { matcher } from "./glob.ts";
import { type Flow, flows, takesLines, withFolders } from "./flows.ts";
import { isCode, isCommandLine, isSuite, judgesOf, loadsOf, placesOf, quotedTexts, sourceFolder } from "./loads.ts";
import { foldersOf, type Line, type NamedInput, pathsOf } from "./named-paths.ts";
import { folderOf, nameOf, resolvePath } from "./paths.ts";
import {
  directing,
  fileFlags,
  folderFlags,
  given,
  givesCode,
  isInterpreter,
  isRunner,
  isTested,
  lookers,
  looksLikeTest,
  mayRunAny,
  rulesFlag,
  scriptNames,
  scriptsIn,
  shells,
  testLike,
  unwrap,
} from "./programs.ts";
import { includedBy, recipesOf } from "./recipes.ts";
import { runWords, takesNoFiles, withoutPatterns } from "./runs.ts";
import { simpleCommands, type Words } from "./shell-words.ts";
import { binsOf, parseObject, scriptsOf } from "./parts.ts";

/** What a check's command names, directly or through the scripts it runs. Paths are relative to the root it runs in. */
export interface Named {
  /** Existing files in scope: the script that is run, and what its line names. */
  readonly files: ReadonlySet<string>;
  /** Globs whose matches a runner is given, so that all of them are tests. */
  readonly globs: ReadonlySet<string>;
  /** Globs whose matches are read, compiled or listed: what is tested may be among them. */
  readonly read: ReadonlySet<string>;
  /** Paths the line names that are not in scope; ignored build output may be among them. */
  readonly others: ReadonlySet<string>;
  /** Names of package.json scripts. */
  readonly scripts: ReadonlySet<string>;
  /** Programs that are run by their names alone, so that they are looked for. */
  readonly programs: ReadonlySet<string>;
  /** Files that a plain program such as grep looks at: they are what is tested. */
  readonly looked: ReadonlySet<string>;
  /** Programs that a script starts and that are a part of the test, by their text. */
  readonly suites: ReadonlySet<string>;
  /** More was named than is followed. */
  readonly isCut: boolean;
  /** The command with all scripts it leads to: says which tools are at work. */
  readonly text: string;
}

const mostFollowed = 1_000;
const mostBases = 6;
/** A file whose lines a shell reads. */
const isShellFile = /(?:\.(?:sh|bash|zsh|ksh|bats)|(?:^|\/)[^./]+)$/;

export async function findNamed(input: NamedInput): Promise<Named> {
  const found = {
    files: new Set<string>(),
    globs: new Set<string>(),
    read: new Set<string>(),
    others: new Set<string>(),
    scripts: new Set<string>(),
    programs: new Set<string>(),
    looked: new Set<string>(),
    suites: new Set<string>(),
    text: input.command,
    isCut: false,
  };
  const followed = new Set<string>();
  /** Of variables, as far as they are plain. */
  const values = new Map<string, string>();
  /** What was read once, and what is past the bound, is not read again. */
  const isNew = (key: string): boolean => {
    if (followed.has(key)) return false;
    found.isCut ||= followed.size >= mostFollowed;
    followed.add(key);
    return followed.size <= mostFollowed;
  };

  const followScripts = async (name: string): Promise<void> => {
    if (found.scripts.has(name)) return;
    found.scripts.add(name);
    const isMany = name.includes("*") ? matcher([name]) : null;
    for (const path of input.packages) {
      const home = folderOf(path);
      const content = parseObject((await input.text(path)) ?? "") ?? {};
      for (const [key, value] of Object.entries(content["config"] ?? {})) values.set(`npm_package_config_${key}`, String(value));
      for (const [key, lines] of scriptsOf(content)) {
        if (isMany?.(key)) await followScripts(key);
        if (![name, `pre${name}`, `post${name}`].includes(key)) continue;
        for (const line of lines) {
          found.text += `\n${line}`;
          if (/\brun-(?:script-)?os\b/.test(line)) await followScripts(`${name}:*`);
          // The targets of a project.json run at the top.
          await followText(line, {
            bases: nameOf(path) === "package.json" ? [home] : [input.folder, home],
            home,
            isScriptFile: false,
            isTest: false,
          });
        }
      }
    }
  };

  /** A package's own program whose name says that it tests. */
  const followBin = async (program: string): Promise<void> => {
    if (isTested(program) || isRunner(program) || lookers.has(program) || !isNew(`bin ${program}`)) return;
    for (const path of input.packages) {
      const script = binsOf(parseObject((await input.text(path)) ?? "") ?? {}).get(program);
      const file = script === undefined ? null : resolvePath(folderOf(path), script);
      if (file === null || !input.has(file)) continue;
      found.files.add(file);
      await followLoads(file, input.folder);
    }
  };

  /**
   * What a script of another language loads from its own folder is part of it, and so is what it starts by a line in quotes;
   * what it loads from elsewhere it may test.
   */
  const followLoads = async (path: string, base: string): Promise<void> => {
    const home = folderOf(path);
    if (sourceFolder.test(path) || !isNew(`load ${path}`)) return;
    const text = await input.text(path);
    if (text === null) return;
    const isOwn = (one: string): boolean => home !== "" && one.startsWith(`${home}/`) && input.has(one);
    for (const loaded of loadsOf(text, home).filter(isOwn)) {
      found.files.add(loaded);
      await followLoads(loaded, base);
    }
    const line: Line = { bases: [base, home], home, isScriptFile: true, isTest: false };
    for (const one of quotedTexts(text)) {
      if (isCommandLine(one)) await followText(one, line);
      else
        for (const named of one.includes(" ") ? [] : pathsOf(one, line, false, input).filter(input.has)) await followStarted(named, base);
    }
  };

  /** A program that a script starts is more often what it tests than part of the test; its name decides, or its text. */
  const followStarted = async (path: string, base: string): Promise<void> => {
    if (isShellFile.test(path) && path.includes(".") && !sourceFolder.test(path)) return followShell(path, base);
    if (!testLike.test(path) && !(input.suites?.has(path) ?? isSuite(path, (await input.text(path)) ?? "", input.has))) return;
    if (!testLike.test(path)) found.suites.add(path);
    found.files.add(path);
    await followLoads(path, base);
  };

  /** Code that a line hands over. A module at the top is what is tested, where its name does not say otherwise. */
  const followCode = async (code: string, line: Line, isCaptured: boolean): Promise<void> => {
    for (const one of quotedTexts(code).filter(isCommandLine)) await followText(one, line);
    if (isCaptured) return;
    const isMeant = (path: string): boolean => input.has(path) && (path.includes("/") || looksLikeTest.test(path));
    for (const base of line.bases) for (const path of new Set(judgesOf(code, base).filter(isMeant))) await followStarted(path, base);
  };

  const followShell = async (path: string, base: string): Promise<void> => {
    found.files.add(path);
    if (!isNew(path)) return;
    const text = await input.text(path);
    if (text === null) return;
    found.text += `\n${text}`;
    await followText(text, { bases: [base], home: folderOf(path), isScriptFile: true, isTest: testLike.test(path) });
  };

  /** The recipes of make and its like are lines of the check. A plain one is the command itself. */
  const followRecipes = async (words: Words, bases: readonly string[]): Promise<void> => {
    const kind = recipesOf(words[0] ?? "");
    if (kind === null) return;
    const given = words.findIndex((word) => /^(?:-f|--file|--makefile|--justfile|--taskfile|-t|--taskfile)$/.test(word));
    const names = given > 0 ? [words[given + 1] ?? ""] : kind.files;
    const file = bases.flatMap((base) => names.map((name) => resolvePath(base, name) ?? "")).find(input.has);
    if (file === undefined || !isNew(`${file} ${words.join(" ")}`)) return;
    const base = bases[0] ?? "";
    const pending = [file];
    const seen = new Set<string>();
    let text = "";
    for (let next = pending.shift(); next !== undefined && seen.size < mostFollowed; next = pending.shift()) {
      if (seen.has(next)) continue;
      seen.add(next);
      found.files.add(next);
      const part = (await input.text(next)) ?? "";
      text += `${part}\n`;
      if (kind.isProgram === true) await followLoads(next, base);
      for (const name of includedBy(part))
        pending.push(...[base, folderOf(file)].map((one) => resolvePath(one, name) ?? "").filter(input.has));
    }
    for (const line of kind.lines(text, words)) {
      found.text += `\n${line}`;
      await followText(line, { bases, home: folderOf(file), isScriptFile: kind.isLoose || /[|<>`]|\$\(|^\s*\[/.test(line), isTest: false });
    }
  };

  /** `sh $(sed -n 's/^suite=//p' ci.conf)`: what a file that says which scripts are run names. */
  const followValues = async (file: string, base: string): Promise<void> => {
    for (const value of ((await input.text(file)) ?? "").split(/[\s"'`=:,;()[\]{}]+/).slice(0, mostFollowed)) {
      const path = resolvePath(base, value) ?? "";
      if (!input.has(path) || found.files.has(path) || sourceFolder.test(path)) continue;
      found.files.add(path);
      await followShell(path, base);
    }
  };

  const followText = async (raw: string, start: Line): Promise<void> => {
    const text = withoutPatterns(withFolders(raw));
    const flow: Flow = { ...flows(text), run: runWords(text) };
    let { bases } = start;
    for (const all of simpleCommands(text)) {
      let isFirst = true;
      for (const word of all) {
        const [, name, value = ""] = /^([A-Za-z_]\w*)=(.+)$/s.exec(word) ?? [];
        const directed = directing[name ?? ""];
        if (directed !== undefined) await followText(`${directed} ${value}`, { ...start, bases });
        isFirst &&= name !== undefined || word === "export";
        if (name !== undefined && isFirst && !value.includes("$")) values.set(name, value);
      }
      const words = unwrap(all).map((word) => {
        const filled = word.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, a?: string, b?: string) => values.get(a ?? b ?? "") ?? whole);
        if (flow.run.has(word)) flow.run.add(filled);
        return filled;
      });
      const inner = given(words);
      if (inner !== words && !words[0]?.includes("/")) found.programs.add(words[0] ?? "");
      await followCommand(inner, { ...start, bases }, flow);
      const [program, target] = words;
      if (program === "cd" && target !== undefined) bases = [...new Set(foldersOf(target, { ...start, bases }, input))].slice(0, mostBases);
    }
  };

  const followCommand = async (words: Words, line: Line, { fed, captured, run }: Flow): Promise<void> => {
    const [program = ""] = words;
    if (program === "cd") return;
    // A value that holds a whole line: `RUN="sh test/x.sh"`, `$RUN`.
    if (program.includes(" ") && !program.includes("$") && isCommandLine(program)) return followText(program, line);
    if (!program.includes("/")) {
      found.programs.add(program);
      await followBin(program);
    }
    const flag = words.findIndex((word) => folderFlags.has(word));
    const moved = flag > 0 ? line.bases.flatMap((base) => resolvePath(base, words[flag + 1] ?? "") ?? []) : [];
    const here: Line = moved.length > 0 ? { ...line, bases: moved } : line;
    for (const name of scriptNames(words)) await followScripts(name);
    await followRecipes(words, here.bases);
    const isShell = shells.has(nameOf(program));
    const isSourcing = program === "." || program === "source";
    const mayRun = mayRunAny(words);
    const files = words.map((word, index) => {
      const paths = pathsOf(word, here, words[index - 1] === "-m", input);
      // `node checks`, `node checks/all`: as the language finds it.
      const isLoose = index > 0 && isInterpreter(nameOf(program)) && !paths.some(input.has);
      const places = isLoose ? paths.flatMap((path) => placesOf(nameOf(path), folderOf(path))).filter(input.has) : [];
      return places.length > 0 ? places : paths;
    });
    const scripts = scriptsIn(words, (word) => files[words.indexOf(word)]?.some(input.has) === true);
    const base = here.bases[0] ?? "";
    for (const [index, word] of words.entries()) {
      const before = words[index - 1] ?? "";
      if (isShell && /^-[a-z]*c$/.test(before)) {
        await followText(word, here);
        continue;
      }
      if (isInterpreter(nameOf(program)) && before !== "-m" && givesCode.test(before)) {
        await followCode(word, here, captured.has(word));
        continue;
      }
      // `script -qec "node x.js"`.
      if (mayRun && index > 0 && word.includes(" ") && isCommandLine(word)) await followText(word, here);
      const isScript = scripts.has(index) || (before === "-m" && isInterpreter(nameOf(program)));
      const directs = index > 0 && (fileFlags.test(before) || fileFlags.test(word.split("=")[0] ?? ""));
      for (const path of files[index] ?? []) {
        const isFed = fed.has(word);
        if (input.has(path)) {
          if (index > 0 && lookers.has(program) && !fileFlags.test(before) && !isFed) found.looked.add(path);
          const isRun = index === 0 || isFed || (isScript && (isShell || !here.isScriptFile || (isSourcing && !here.isTest)));
          if (isRun || directs || looksLikeTest.test(nameOf(path))) {
            found.files.add(path);
            if (isRun && (isShell || (isFed ? isShellFile.test(path) : !isInterpreter(nameOf(program))))) await followShell(path, base);
          } else if (
            (isScript || (mayRun && isCode(path))) &&
            !isSourcing &&
            !captured.has(word) &&
            words.slice(index + 1).every((one) => one.startsWith("-"))
          )
            await followStarted(path, base);
          if ((isRun && !isShell) || directs) await followLoads(path, base);
          if (isFed && !isShellFile.test(path)) await followValues(path, base);
        } else if (rulesFlag.test(before) || rulesFlag.test(word.split("=")[0] ?? "")) found.globs.add(`${path}/**`);
        else if (/[*?[{]/.test(path)) {
          if (run.has(word)) found.globs.add(path);
          else if (!takesNoFiles.has(nameOf(program)) && (index > 0 || path.includes("/"))) found.read.add(path);
        } else if ((word.includes("/") || index > 0) && !path.startsWith("//")) found.others.add(path);
      }
    }
  };

  await followText(input.command, { bases: [input.folder], home: input.folder, isScriptFile: false, isTest: false });
  // `grep -v '^#' cases.txt | while read …`: what goes through a loop is what others are tested with.
  return takesLines.test(found.text) ? { ...found, looked: new Set() } : found;
}
