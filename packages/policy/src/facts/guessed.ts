import { isJudged, mayRunOperands } from "../programs/known.ts";
import { isLoopback } from "../programs/hosts.ts";
import { taskJudges } from "../programs/targets.ts";
import { toolVariable } from "../programs/variables.ts";
import { programOf, type ShellWord, type SimpleCommand } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { shells } from "../shell/wrapper-table.ts";

/*
 * Nobody knows all programs that run others. Of one that isn't known at all, operands that read as a command line are
 * judged as if it ran them. That only ever adds a question: an operand may be a name that happens to be a program's.
 */

/** Programs whose names are words that other programs take as subcommands and names: counted only behind `--`. */
const ordinary = new Set(
  "install unlink trash wipe script split find sort patch stack snap port mix pod swift go n dart choco conan lein elm shards carthage fish view ex ed code idea subl open start explorer import say lp date kill init mount route service screen at batch env set export declare typeset readonly command time exec pass op vault security age ksm defaults ping host http https lt mc mail transfer finger repo fossil gt sl now render fly stripe twilio jira linear slack tea hub flux tilt surge nomad consul packer okta railway supabase firebase goose atlas migrate flask diesel task just cap mage turbo pants buck claude codex gemini cursor amp crush qwen copilot llm drill notation crane stern croc wormhole tor links firefox chromium playwright cypress puppeteer helmfile serverless skill refinery influx mongo r node R".split(
    " ",
  ),
);

/** Options whose value is text or a name. */
const takesText =
  /^(?:--(?:message|title|body|text|description|names?|label|grep|pattern|filter|only|db|database|dialect|driver|provider|engine|client|type|lang(?:uage)?|tool|format|target|platform|runtime|env|package|plugin|adapter|backend|template|preset|parser|linter|formatter|test-runner))$/;

const systemFolder = /^\/(?:[\w.+-]+\/)*s?bin\/(?=[^/]+$)/;

function isProgram(text: string): boolean {
  const name = text.replace(systemFolder, "");
  return !name.includes("/") && !ordinary.has(name) && isJudged(name);
}

/** Lines that a command may run besides: those in settings that it is given, and the operands of an unknown program. */
export function guessedLines(command: SimpleCommand): string[] {
  const lines = settingLines(command);
  return command.words.length < 2 || !(mayRunOperands(command) || isSshHere(command))
    ? lines
    : [...lines, ...operandLines(command.words.slice(1))];
}

function isSshHere({ words }: SimpleCommand): boolean {
  return programOf(words) === "ssh" && words.some(({ literal }) => isLoopback((literal ?? "").replace(/^.*@/, "")));
}

/** Names of tools, as makefiles have them. */
const tools = /^(?:RM|CP|MV|LN|SED|TAR|CURL|WGET|GIT|INSTALL|MKDIR|exec\.executable)$/;
const takesSettings = (program: string): boolean => taskJudges.has(program) || /^(?:cmake|configure|meson|scons)$/.test(program);

/** `make TEST='rm -rf src'`, `make CC=rm`, `FINDER='git push' tool`. */
function settingLines({ words, assignments }: SimpleCommand): string[] {
  const program = programOf(words);
  if (program === null) return [];
  const given = assignments.flatMap(({ name, value }) => (value?.literal == null ? [] : [{ name, value: value.literal }]));
  const operands = takesSettings(program) ? words.slice(1).flatMap(({ literal }) => settingIn(literal ?? "")) : [];
  return [...given, ...operands].flatMap(({ name, value }) => {
    if (/\s/.test(value)) return lineOf(value) ?? [];
    const tool = value.slice(value.lastIndexOf("/") + 1);
    const isTool = (toolVariable.test(name) || tools.test(name)) && isProgram(tool) && !shells.has(tool);
    return isTool ? [`${tool} "$@"`] : [];
  });
}

const elsewhere = /^(?:ssh|autossh|mosh|docker|podman|nerdctl|kubectl|oc|lxc|limactl)$/;

/** What is run on another machine, or in a container: `ssh host rm a` is meant by a rule against `rm`. */
export function runElsewhere(command: SimpleCommand): SimpleCommand[] {
  if (!elsewhere.test(programOf(command.words) ?? "")) return [];
  const args = command.words.slice(1);
  const lines = [...operandLines(args), ...args.slice(1).flatMap(({ literal }) => (literal === null ? [] : (lineOf(literal) ?? [])))];
  return lines.flatMap((line) => parseCommand(line, null).commands);
}

/** The module that python runs, under its own name: `python -m pytest` is meant by a rule against `pytest`. */
export function moduleRun(command: SimpleCommand): SimpleCommand[] {
  if (!/^python[\d.]*$/.test(programOf(command.words) ?? "")) return [];
  const at = command.words.findIndex(({ literal }) => literal === "-m");
  const isOwn = at > 0 && command.words.slice(1, at).every(({ literal }) => literal?.startsWith("-") === true);
  return isOwn && at + 1 < command.words.length ? [{ ...command, words: command.words.slice(at + 1) }] : [];
}

function settingIn(text: string): { name: string; value: string }[] {
  const found = /^(?:-[DP])?([A-Za-z_][\w.]*)=([\s\S]+)$/.exec(text);
  return found === null ? [] : [{ name: found[1]!, value: found[2]! }];
}

function operandLines(args: readonly ShellWord[]): string[] {
  const found: string[] = [];
  const end = args.findIndex((word) => word.literal === "--");
  const first = args.findIndex((word, i) => word.literal !== null && isProgram(word.literal) && !isNamed(args, i, /^-[tn]$/));
  const behind = args[end + 1]?.literal;
  if (end >= 0 && behind != null && /^[\w./+-]+$/.test(behind)) found.push(textFrom(args, end + 1));
  if (first >= 0 && first < args.length - 1) found.push(textFrom(args, first));
  args.forEach((word, i) => {
    const line = lineIn(word);
    if (line !== null && !isNamed(args, i, /^-[mtn]$/)) found.push(line);
  });
  return found;
}

function isNamed(args: readonly ShellWord[], at: number, short: RegExp): boolean {
  const before = args[at - 1]?.literal ?? "";
  return takesText.test(before) || short.test(before);
}

function textFrom(args: readonly ShellWord[], from: number): string {
  return args
    .slice(from)
    .map((word) => word.text)
    .join(" ");
}

/** A word that holds a whole line: `'git push'`, `--exec='git push'`. */
function lineIn(word: ShellWord): string | null {
  const text = word.literal ?? /^"(.*)"$/s.exec(word.text)?.[1];
  const line = text?.replace(/^--?[\w-]+=["']?/, "").trim();
  return line === undefined ? null : lineOf(line);
}

function lineOf(line: string): string | null {
  if (!/\s/.test(line)) return null;
  const name = /^(?:\w+=\S*\s+)*([^\s;&|]+)/.exec(line)?.[1] ?? "";
  return name === "cd" || isProgram(name) ? line : null;
}
