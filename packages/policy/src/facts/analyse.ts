import { deviceJudge } from "../programs/files.ts";
import { judgeGit } from "../programs/git.ts";
import { interpreterJudge } from "../programs/inline-code.ts";
import { judgeTables, mayRunOperands } from "../programs/known.ts";
import { networkScope } from "../programs/hosts.ts";
import { socketHost } from "../programs/network.ts";
import { judgeNamed, judgeOutputs, judgeWritten } from "../programs/outputs.ts";
import { couldBeProcess } from "../programs/secrets.ts";
import { addByName, isDelivery } from "../programs/targets.ts";
import { assignedBy } from "../shell/assigned.ts";
import { changesWhatRuns, onlyTunes } from "../programs/variables.ts";
import { provenReads } from "../reads/prove.ts";
import { readForms } from "../reads/table.ts";
import { literalWord, programOf, type ParsedCommand, type ShellRedirect, type SimpleCommand, textOf } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { readRunner } from "../shell/runners.ts";
import { shells } from "../shell/wrapper-table.ts";
import { guessedLines, moduleRun, runElsewhere } from "./guessed.ts";
import { followLinks } from "./links.ts";
import { judgeRenamed } from "./renamed.ts";
import { ownScripts } from "./scripts.ts";
import { judgeSecrets, noPaths, showsNames } from "./secret-words.ts";
import { addFact, addNeed, type Fact, type FactKind, type Findings, type JudgedCall, type PathNeed, type Run } from "./fact.ts";

/**
 * Something that a line does, with what is true of it: a command's words with what it reads; what its redirections write;
 * what its assignments change. Rules are applied to each subject alone, so that a rule about words says nothing about a
 * file behind `>`; the strictest answer stands for the line.
 */
export interface Subject {
  /** Null for what is true of the line as a whole. */
  readonly command: SimpleCommand | null;
  /** For the words of a command: what rules about words are asked of. */
  readonly run: Run | null;
  readonly facts: readonly Fact[];
  readonly needs: readonly PathNeed[];
}

export interface Analysis {
  readonly subjects: readonly Subject[];
  /** True where every command is proven to only read, except that its paths are still to be resolved. */
  readonly onlyReads: boolean;
}

const problemFacts: Readonly<Record<ParsedCommand["problems"][number]["kind"], FactKind>> = {
  syntax: "unparsed",
  too_complex: "too_complex",
  hidden_characters: "hidden_characters",
  hidden_code: "hidden_code",
  fork_bomb: "fork_bomb",
};

/** Finds what is true of a parsed line. Pure: nothing is looked up; paths are left as needs. */
export function analyse(parsed: ParsedCommand, home: string | null, depth = 0): Analysis {
  const subjects: Subject[] = [];
  let onlyReads = parsed.problems.length === 0 && !parsed.changesLookup;
  const problems = parsed.problems.map((each): Fact => ({ kind: problemFacts[each.kind], what: each.what, scope: {} }));
  if (problems.length > 0 || parsed.commands.length === 0) subjects.push({ command: null, run: null, facts: problems, needs: [] });
  const scripts = ownScripts(parsed.commands);
  for (const command of parsed.commands) {
    const words: Findings = { facts: [], needs: [] };
    const reads = provenReads(command);
    if (reads === null) onlyReads = false;
    judgeWords(command, words, home);
    const mayRun =
      depth < maxGuessed
        ? [...judgeGuessed(command, scripts.get(command), words, home, depth), ...moduleRun(command), ...runElsewhere(command)]
        : [];
    const use = showsNames.has(programOf(command.words) ?? "") ? "list" : "read";
    for (const word of reads ?? []) addNeed(words, use, word);
    const written = judgeRedirects(command, words, emptiedBy(command, parsed.commands));
    const assigned = judgeAssignments(command);
    for (const findings of [written, assigned]) if (findings !== null) subjects.push({ command, run: null, ...findings });
    // A wrapper that only runs what else is on the list needs no answer of its own.
    const isSilent = (command.isWrapper || command.words.length === 0) && words.facts.length === 0 && words.needs.length === 0;
    if (isSilent && (command.isWrapper || written !== null || assigned !== null)) continue;
    const run = command.words.length === 0 ? null : { command, isSure: !parsed.changesLookup && parsed.problems.length === 0, mayRun };
    subjects.push({ command, run, ...words });
  }
  return { subjects: followLinks(subjects, parsed.commands), onlyReads };
}

const maxGuessed = 3;
/** Text that isn't a line after all. */
const noLine: readonly FactKind[] = ["unparsed", "unknown_program"];

/** Returns what the lines would run, to any depth. */
function judgeGuessed(
  command: SimpleCommand,
  script: string | undefined,
  words: Findings,
  home: string | null,
  depth: number,
): SimpleCommand[] {
  return [...guessedLines(command), ...(script === undefined ? [] : [script])].flatMap((line) => {
    const { subjects } = analyse(parseCommand(line, command.places), home, depth + 1);
    for (const { facts, needs } of subjects) {
      words.facts.push(...facts.filter(({ kind }) => !noLine.includes(kind)).map((each) => ({ ...each, isGuess: true })));
      // What it reads is no matter: reads are judged where the words stand.
      words.needs.push(...needs.filter(({ use }) => use !== "read" && use !== "list").map((each) => ({ ...each, isGuess: true })));
    }
    return subjects.flatMap(({ run }) => (run === null ? [] : [run.command, ...run.mayRun]));
  });
}

/** What assignments change; null where there are none, or none that any program acts upon. */
function judgeAssignments(command: SimpleCommand): Findings | null {
  if (programOf(command.words) === "alias") return null;
  const named = assignedBy(command.words).filter((each) => changesWhatRuns(each) !== null);
  const told = [...command.assignments.filter((each) => command.words.length === 0 || !onlyTunes(each)), ...named];
  if (told.length === 0) return null;
  const findings: Findings = { facts: [], needs: [] };
  for (const assignment of told) {
    const why = changesWhatRuns(assignment);
    if (why !== null) addFact(findings, "changed_environment", why);
  }
  return findings;
}

function judgeWords(command: SimpleCommand, findings: Findings, home: string | null): void {
  const program = programOf(command.words);
  if (command.words.length === 0) return;
  if (program === null || !/^[\w.+@:[\]!/~-]*$|^\(\($/.test(program) || program === "") {
    addFact(findings, "unknown_program", `${command.words[0]!.text} isn't a program's plain name`);
    return;
  }
  const args = command.words.slice(1);
  const call: JudgedCall = { command, program, args, texts: args.map((word) => word.literal ?? ""), text: textOf(command) };
  if (program === "git") judgeGit(call, findings);
  for (const judges of judgeTables) judges.get(program)?.(call, findings);
  interpreterJudge(program)?.(call, findings);
  deviceJudge(program)?.(call, findings);
  judgeScript(call, findings);
  judgeSecrets(call, findings, home);
  const runner = readRunner(program, command.words);
  if (runner?.mayFetch === true) addFact(findings, "network", `${call.text} may fetch what it runs`, networkScope(null));
  if (runner != null && runner.unlessInstalled !== null)
    addNeed(findings, "installed", literalWord(`node_modules/.bin/${runner.unlessInstalled}`));
  if (command.words[0]!.literal?.startsWith("/etc/") === true) addFact(findings, "services", call.text, { unsandboxed: true });
  judgeUnknown(call, findings);
  judgeRenamed(call, findings);
  judgeWritten(call, findings);
  if (mayRunOperands(command)) judgeNamed(call, findings);
  if (!readForms.has(program) && !noPaths.has(program)) judgeOutputs(call, findings);
  const lasts =
    command.isBackground &&
    (command.via.some((name) => name === "nohup" || name === "setsid") || program === "nohup" || program === "setsid");
  if (lasts || program === "disown") addFact(findings, "outlives", call.text);
}

/** A tool that nobody here knows, told to deliver. */
function judgeUnknown(call: JudgedCall, findings: Findings): void {
  const { program } = call;
  const [first = ""] = call.texts;
  if (!/^(?:deploy|publish|release|push|upload|login|logout|install|uninstall|destroy|provision|promote|rollback)$/.test(first)) return;
  const isKnown =
    program === "git" || interpreterJudge(program) !== null || judgeTables.some((judges) => judges.has(program)) || readForms.has(program);
  if (!isKnown && !/^(?:echo|printf|grep|rg|man|help|which|type|alias|export|test|\[|\[\[)$/.test(program)) addByName(findings, call);
}

/** A script's name tells what it delivers, as a task's does. */
function judgeScript(call: JudgedCall, findings: Findings): void {
  const isPath = call.command.words[0]?.literal?.includes("/") === true;
  const runsScript = shells.has(call.program) || interpreterJudge(call.program) !== null;
  const path = isPath ? call.program : runsScript ? call.texts.find((text) => text !== "" && !text.startsWith("-")) : undefined;
  if (path === undefined || path.startsWith("/usr/") || !/^[\w./-]+$/.test(path)) return;
  // Python's setup.py builds unless its words say otherwise, which `judgePythonModule` reads.
  if (/(?:^|\/)setup\.py$/.test(path)) return;
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  if ((isPath || /\.\w+$/.test(path)) && isDelivery(name)) addByName(findings, call);
}

/** Nothing is kept there, and nothing new is opened. */
const quietTargets = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);
const dups = /^(?:\d+-?|-)$/;

/** Which redirections of a command leave an empty file: nothing of the line prints to what they open. */
function emptiedBy(command: SimpleCommand, commands: readonly SimpleCommand[]): (redirect: ShellRedirect) => boolean {
  const isMove = programOf(command.words) === "exec" && command.words.length === 1;
  // What `exec` opens is the shell's from there on.
  const prints = isMove
    ? commands.slice(commands.indexOf(command) + 1).some((each) => !each.isWrapper && !each.printsNothing)
    : !command.printsNothing;
  const usesOthers = commands.some((each) =>
    each.redirects.some(({ operator, target }) => operator === ">&" && !/^[012-]$/.test(target?.literal ?? "")),
  );
  return ({ operator, isBeside }) => /^(?:&?>|>[|&])$/.test(operator) && (isBeside ? !usesOthers : !prints);
}

/** Adds what is read through redirections to `words`. Returns what they open and write; null where that is nothing. */
function judgeRedirects(command: SimpleCommand, words: Findings, empties: (redirect: ShellRedirect) => boolean): Findings | null {
  const written: Findings = { facts: [], needs: [] };
  for (const redirect of command.redirects) {
    const { operator, target } = redirect;
    if (target === null || operator.startsWith("<<") || quietTargets.has(target.literal ?? "")) continue;
    const isDup = operator === ">&" || operator === "<&";
    if (isDup && target.literal !== null && dups.test(target.literal)) continue;
    for (const guess of target.literal === null ? target.guesses : [target.literal]) {
      const host = socketHost(guess);
      if (host !== null)
        addFact(
          written,
          operator === "<" ? "network" : "remote_change",
          `${operator} ${target.text} opens a connection`,
          networkScope(host === "?" ? null : [host]),
        );
    }
    if (operator === "<" && couldBeProcess(target.text)) addFact(words, "secret_read", `${target.text} is what a process holds`);
    if (operator === "<" && target.literal !== null && !target.literal.startsWith("/dev/")) addNeed(words, "read", target);
    else if (operator.startsWith("<") && operator !== "<>") addNeed(written, "read", target);
    else addNeed(written, empties(redirect) ? "truncate" : "write", target);
  }
  return written.facts.length === 0 && written.needs.length === 0 ? null : written;
}
