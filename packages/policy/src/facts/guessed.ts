import { isJudged, mayRunOperands } from "../programs/known.ts";
import type { ShellWord, SimpleCommand } from "../shell/command.ts";

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

/** Lines that an unknown program's operands may be. */
export function guessedLines(command: SimpleCommand): string[] {
  if (command.words.length < 2 || !mayRunOperands(command)) return [];
  const args = command.words.slice(1);
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
  if (line === undefined || !/\s/.test(line)) return null;
  const name = /^(?:\w+=\S*\s+)*([^\s;&|]+)/.exec(line)?.[1] ?? "";
  return name === "cd" || isProgram(name) ? line : null;
}
