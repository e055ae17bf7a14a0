import { assignedBy } from "./assigned.ts";
import {
  type Command,
  type CompoundList,
  type Function as FunctionNode,
  type ParsedScript,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
  forEachChild,
} from "unbash";
import {
  type Places,
  type ProblemKind,
  type ShellAssignment,
  type ShellRedirect,
  type ShellWord,
  type SimpleCommand,
  literalWord,
  programOf,
} from "./command.ts";
import { changeFolder, either, type Flow, still } from "./places.ts";
import type { Input, Unwrapped } from "./inner.ts";
import { inputOf, isFedBy, keywordInput, noInput } from "./input.ts";
import { nothingFile, printsNothing } from "./nothing.ts";
import { holdsCommand, unwrap } from "./wrappers.ts";
import { readWord, readWords, type ShellValues } from "./word.ts";

/** What is collected while a line is walked. */
export interface Collected {
  readonly commands: SimpleCommand[];
  readonly problems: { kind: ProblemKind; what: string }[];
  changesLookup: boolean;
  /** A function moves the shell somewhere: from there on no place is known. */
  losesPlaces: boolean;
  /** The shell's own input is one that the line gives it: `exec < file`. */
  isFed: boolean;
}

export interface WalkContext {
  readonly out: Collected;
  readonly values: ShellValues;
  readonly via: readonly string[];
  readonly isPiped: boolean;
  /** True where what stands around it was given an input. */
  readonly isFed: boolean;
  /** True where what is piped is nothing. */
  readonly isFedNothing: boolean;
  readonly isBackground: boolean;
  /** Reads another line, one layer deeper: what a `-c` string or `eval` runs. */
  readonly readLine: (line: string, places: Places, context: WalkContext) => Flow;
}

const maxCommands = 400;
const maxLayers = 12;

type AnyNode = Statement["command"] | CompoundList | ParsedScript;

/** Records every simple command below `node`. Returns where the shell may be afterwards. */
export function walk(node: AnyNode, start: Places, context: WalkContext): Flow {
  const places = context.out.losesPlaces ? null : start;
  switch (node.type) {
    case "Script":
      for (const error of node.errors ?? []) problem(context, "syntax", error.message);
      return walkList(node.commands, places, context);
    case "CompoundList":
      return walkList(node.commands, places, context);
    case "Pipeline": {
      const isNegated = node.prefixes.filter((prefix) => prefix.type === "Negation").length % 2 === 1;
      if (node.commands.length === 1) {
        const flow = walk(node.commands[0]!, places, context);
        return isNegated ? { ok: flow.failed, failed: flow.ok } : flow;
      }
      node.commands.reduce((before, command, i) => {
        const isFedNothing = i === 0 ? context.isFedNothing : isQuiet(context, before);
        const start = context.out.commands.length;
        walk(command, places, { ...context, isPiped: i > 0 || context.isPiped, isFedNothing });
        return start;
      }, 0);
      return still(places);
    }
    case "AndOr": {
      let flow = walk(node.commands[0]!, places, context);
      node.operators.forEach((operator, i) => {
        const next = node.commands[i + 1];
        if (next === undefined) return;
        const then = walk(next, operator === "&&" ? flow.ok : flow.failed, context);
        flow =
          operator === "&&"
            ? { ok: then.ok, failed: either(flow.failed, then.failed) }
            : { ok: either(flow.ok, then.ok), failed: then.failed };
      });
      return flow;
    }
    case "Command":
      return walkCommand(node, places, context);
    case "Redirected": {
      const redirects = readRedirects(node.redirects, places, context);
      const here = inputOf(node.redirects, context.values);
      const at = context.out.commands.length;
      record([], [], redirects, places, { ...context, isPiped: false }, here);
      // A script inside reads the same input.
      const isText = here.hereText !== null || here.hasUnknownHere;
      const isFed = context.isFed || isText || here.fromFile;
      const flow = walk(node.command, places, { ...context, isPiped: context.isPiped || isText, isFed });
      const own = context.out.commands[at];
      if (own !== undefined) context.out.commands[at] = { ...own, printsNothing: isQuiet(context, at + 1) };
      return flow;
    }
    case "Subshell":
      walk(node.body, places, context);
      return still(places);
    case "BraceGroup":
      return walk(node.body, places, context);
    case "If": {
      let flow = walk(node.clause, places, context);
      let after = join(walk(node.then, flow.ok, context));
      for (const branch of node.elif) {
        flow = walk(branch.clause, flow.failed, context);
        after = either(after, join(walk(branch.then, flow.ok, context)));
      }
      const rest = node.else === undefined ? flow.failed : join(walk(node.else, flow.failed, context));
      return still(either(after, rest));
    }
    case "While":
      return repeated(node, places, (inside) => {
        walk(node.body, join(walk(node.clause, inside, context)), context);
      });
    case "For":
    case "Select":
      refuseGlued(node.wordlist ?? [], context);
      node.wordlist?.forEach((word) => lookInside(word, places, context));
      refuseHeldCommands(node.wordlist ?? [], context);
      record([], [{ name: node.name.value, value: null }], [], places, context, noInput);
      return repeated(node, places, (inside) => walk(node.body, inside, context));
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update]) if (part !== undefined) lookInside(part, places, context);
      record([literalWord("((")], [], [], places, context, keywordInput);
      return repeated(node, places, (inside) => walk(node.body, inside, context));
    case "Case":
      lookInside(node.word, places, context);
      for (const item of node.items) item.pattern.forEach((word) => lookInside(word, places, context));
      return repeated(node, places, (inside) => {
        for (const item of node.items) walk(item.body, inside, context);
      });
    case "Function":
      return walkFunction(node, places, context);
    case "Coproc":
      walk(node.body, places, { ...context, isPiped: true });
      return still(places);
    case "TestCommand": {
      const words = [literalWord("[[")];
      collectWords(node, words, places, context);
      record(words, [], [], places, context, keywordInput);
      return still(places);
    }
    case "ArithmeticCommand":
      if (node.expression !== undefined) lookInside(node.expression, places, context);
      record([literalWord("((")], [], [], places, context, keywordInput);
      return still(places);
  }
}

/** Whether nothing is printed by any command that was found from `start` on. */
function isQuiet({ out }: WalkContext, start: number): boolean {
  return out.commands.slice(start).every((command) => command.isWrapper || command.printsNothing);
}

function join(flow: Flow): Places {
  return either(flow.ok, flow.failed);
}

/** What runs again, or after a part of itself, may find itself elsewhere: it is judged where it begins, and where nothing is known. */
function repeated(node: SyntaxNode, places: Places, once: (inside: Places) => void): Flow {
  once(places);
  if (places === null || !movesAway(node)) return still(places);
  once(null);
  return still(null);
}

function walkList(statements: readonly Statement[], start: Places, context: WalkContext): Flow {
  let flow = still(start);
  for (const statement of statements) {
    const from = join(flow);
    if (statement.background === true) {
      walk(statement.command, from, { ...context, isBackground: true });
      flow = still(from);
    } else flow = walk(statement.command, from, context);
  }
  return flow;
}

const movers = new Set(["cd", "pushd", "popd"]);

function movesAway(node: SyntaxNode): boolean {
  if (node.type === "Command" && node.name !== undefined) {
    if (movers.has(node.name.value)) return true;
    if (["eval", "builtin", "command", "source", "."].includes(node.name.value)) return true;
  }
  let moves = false;
  forEachChild(node, (child) => {
    moves ||= movesAway(child);
  });
  return moves;
}

/** A function's body runs when it is called, anywhere; a name that it takes no longer means the program. */
function walkFunction(node: FunctionNode, places: Places, context: WalkContext): Flow {
  context.out.changesLookup = true;
  if (multiplies(node.body, node.name.value)) problem(context, "fork_bomb", `the function ${node.name.text} starts itself again and again`);
  const inside: WalkContext = { ...context, isPiped: true };
  if (!context.out.losesPlaces) walk(node.body, places, inside);
  if (movesAway(node.body)) context.out.losesPlaces = true;
  if (context.out.losesPlaces) walk(node.body, null, inside);
  return still(context.out.losesPlaces ? null : places);
}

/** A function that pipes into itself, or leaves itself behind in the background, never ends and only grows. */
function multiplies(node: SyntaxNode, name: string): boolean {
  if (node.type === "Pipeline" && node.commands.filter((command) => callsItself(command, name)).length >= 2) return true;
  if (node.type === "Statement" && node.background === true && callsItself(node.command, name)) return true;
  let found = false;
  forEachChild(node, (child) => {
    found ||= multiplies(child, name);
  });
  return found;
}

function callsItself(node: SyntaxNode, name: string): boolean {
  return node.type === "Command"
    ? node.name?.value === name
    : node.type === "Pipeline" && node.commands.some((each) => callsItself(each, name));
}

export function problem(context: WalkContext, kind: ProblemKind, what: string): void {
  if (!context.out.problems.some((known) => known.kind === kind && known.what === what)) context.out.problems.push({ kind, what });
}

/** Walks every script inside a word, an expression or a here-document: substitutions of all kinds. */
function lookInside(node: SyntaxNode, places: Places, context: WalkContext): void {
  forEachChild(node, (child) => {
    switch (child.type) {
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        if (child.script === undefined) problem(context, "syntax", "a substitution that can't be read");
        else walk(child.script, places, { ...context, isPiped: false });
        return;
      case "ParameterExpansion":
        // `${x@P}` expands the substitutions in a value; `${x:=y}` assigns.
        if (child.operation?.type === "Transform" && child.operation.operand.value === "P") {
          problem(context, "hidden_code", `${child.text} runs what a variable holds`);
        }
        if (child.operation?.type === "Unknown") problem(context, "syntax", `the expansion ${child.text}`);
        if (child.operation?.type === "Default" && child.operation.operator.endsWith("=")) {
          const value = readWord(child.operation.operand, context.values);
          record([], [{ name: child.parameter, value }], [], places, context, noInput);
        }
        break;
      case "ArrayValue":
        refuseGlued(child.elements, context);
        refuseHeldCommands(child.elements, context);
        break;
      default:
    }
    lookInside(child, places, context);
  });
}

function collectWords(node: SyntaxNode, words: ShellWord[], places: Places, context: WalkContext): void {
  if (node.type === "TestUnary" || node.type === "TestBinary") words.push(literalWord(node.operator));
  forEachChild(node, (child) => {
    if (child.type === "Word") {
      words.push(readWord(child, context.values));
      lookInside(child, places, context);
    } else collectWords(child, words, places, context);
  });
}

function readRedirects(redirects: readonly Redirection[], places: Places, context: WalkContext): ShellRedirect[] {
  return redirects.map((redirect) => {
    const { descriptor } = redirect;
    const isBeside = descriptor !== undefined && (descriptor.type !== "FileDescriptor" || descriptor.value > 2);
    if (redirect.type === "HereDoc") {
      lookInside(redirect.body, places, context);
      return { operator: redirect.body.parts === undefined ? "<<" : "<<$", isBeside, target: null };
    }
    if (redirect.target === undefined) {
      problem(context, "syntax", "a redirection without a target");
      return { operator: redirect.operator, isBeside, target: null };
    }
    lookInside(redirect.target, places, context);
    return { operator: redirect.operator, isBeside, target: readWord(redirect.target, context.values) };
  });
}

/**
 * bash reads `r<()m` as one word, the parser as three. Two words without a blank between them mean that it has split what
 * bash does not, so the line isn't understood.
 */
function refuseGlued(nodes: readonly SyntaxNode[], context: WalkContext): void {
  nodes.forEach((node, i) => {
    const before = nodes[i - 1];
    if (before !== undefined && before.end === node.pos && (node.type === "Word" || node.type === "Assignment")) {
      problem(context, "syntax", "a word that is read as several");
    }
  });
}

/** Wherever a number is wanted, bash also works out what a variable holds, and runs a command in a subscript there. */
function refuseHeldCommands(nodes: readonly SyntaxNode[], context: WalkContext): void {
  for (const node of nodes) {
    if (node.type === "Word" && holdsCommand(readWord(node, context.values))) problem(context, "hidden_code", heldCommand);
  }
}

const heldCommand = "a value that holds a subscript with a command";

/** Builtins whose `NAME=value` operands are assignments. */
const declarers = new Set(["export", "declare", "typeset", "local", "readonly", "alias"]);

function walkCommand(node: Command, places: Places, context: WalkContext): Flow {
  const assignments: ShellAssignment[] = [];
  const words: ShellWord[] = [];
  refuseGlued([...node.prefix, ...(node.name === undefined ? [] : [node.name]), ...node.suffix], context);
  for (const each of [...node.prefix, ...(node.name === undefined ? [] : [node.name]), ...node.suffix]) {
    if (each.type === "Word") {
      words.push(...readWords(each, context.values));
      lookInside(each, places, context);
    } else if (each.type === "Assignment") {
      lookInside(each, places, context);
      const value: Word | null = each.value.type === "Word" ? each.value : null;
      const read = value === null ? null : readWord(value, context.values);
      if (words.length > 0) {
        const literal = read?.literal ?? null;
        const text = literal === null || read?.fromHome === true ? null : `${each.name}=${literal}`;
        words.push({ text: each.text, literal: text, guesses: text === null ? [] : [text], pattern: text, fromHome: false });
      }
      if (words.length === 0 || declarers.has(words[0]!.literal ?? "")) assignments.push({ name: each.name, value: read });
    }
  }
  const input = { ...inputOf(node.redirects, context.values), isPiped: context.isPiped };
  return record(words, assignments, readRedirects(node.redirects, places, context), places, context, input);
}

/** `command :` and `env true`, behind which a redirection stands as well. */
function wrapsNothing({ inner, isTransparent }: Unwrapped): boolean {
  return isTransparent && inner.every((each) => each.type === "words" && printsNothing(each.words, true));
}

/** Puts a command on the list, and after it whatever it runs itself. */
function record(
  words: readonly ShellWord[],
  assignments: readonly ShellAssignment[],
  redirects: readonly ShellRedirect[],
  places: Places,
  context: WalkContext,
  input: Input,
): Flow {
  const { out } = context;
  if (out.commands.length >= maxCommands || context.via.length > maxLayers) {
    problem(context, "too_complex", "more commands than can be judged");
    return still(null);
  }
  const program = programOf(words);
  if (
    program !== null &&
    (["source", ".", "alias", "unalias", "trap", "hash", "enable", "shopt"].includes(program) ||
      [...assignments, ...assignedBy(words)].some((each) => each.name === "PATH"))
  ) {
    out.changesLookup = true;
  }
  if (assignments.some(({ value }) => value !== null && holdsCommand(value))) problem(context, "hidden_code", heldCommand);
  const isPiped = input.hereText === null && !input.hasUnknownHere && !input.fromFile && input.isPiped;
  const unwrapped = unwrap(words, { ...input, isPiped });
  const isFedNothing =
    (isPiped && context.isFedNothing) ||
    input.hereText === "" ||
    redirects.some(({ operator, target }) => operator === "<" && target?.literal === nothingFile);
  const isFed = isFedBy(input, redirects, { isPiped, isFedNothing, isAround: context.isFed || out.isFed });
  if (isFed && program === "exec" && words.length === 1) out.isFed = true;
  out.commands.push({
    words,
    assignments,
    redirects,
    via: context.via,
    isWrapper: unwrapped?.isTransparent === true,
    isKeyword: input === keywordInput,
    places,
    hereText: input.hereText,
    isPiped,
    isFed,
    isFedNothing,
    printsNothing: input !== keywordInput && (printsNothing(words, !isFedNothing) || (unwrapped !== null && wrapsNothing(unwrapped))),
    isBackground: context.isBackground,
  });
  if (program !== null && movers.has(program)) return changeFolder(program, words.slice(1), places);
  if (unwrapped === null) return still(places);
  let flow = still(places);
  const inside: WalkContext = { ...context, via: [...context.via, program ?? "?"], isFed };
  for (const inner of unwrapped.inner) {
    const { movesTo } = unwrapped;
    const from = movesTo !== undefined ? changeFolder("cd", [movesTo], places).ok : unwrapped.losesPlace ? null : places;
    if (inner.type === "hidden") problem(context, "hidden_code", inner.what);
    else if (inner.type === "words") flow = record(inner.words, inner.assignments, [], from, inside, input);
    else flow = context.readLine(inner.line.literal ?? "", from, inside);
  }
  // Only `command cd`, `builtin cd` and `eval` move the shell itself.
  const movesShell = program === "command" || program === "builtin" || program === "eval";
  return movesShell ? flow : still(places);
}
