import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";
import { codeOptionOf } from "../programs/inline-code.ts";
import { programOf, type SimpleCommand } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { shells } from "../shell/wrapper-table.ts";
import { commandParts, groundFact, type Known, type PartsOfCall } from "./command.ts";
import type { Part } from "./part.ts";

/** What reads the input of a running command, as far as its line tells. */
type Reader =
  | { readonly type: "shell" }
  /** Runs what is typed as if it stood after these words. */
  | { readonly type: "interpreter"; readonly words: string }
  /** What is typed there acts elsewhere, or can't be read. */
  | { readonly type: "unreadable"; readonly what: string };

/**
 * Facts of what is typed to a command that runs. A shell's input is judged as the lines that it runs, an interpreter's as
 * code given on its command line. Any other program was allowed with whatever it asks for: its input is an answer.
 */
export async function typedParts(
  request: PolicyRequest,
  { command, text }: { readonly command: string; readonly text: string },
  known: Known,
): Promise<PartsOfCall> {
  const parts: Part[] = [part(groundFact(request, false))];
  const plain = withoutInterrupts(text);
  if (plain !== "") for (const reader of readersOf(command)) parts.push(...(await partsFor(reader, plain, request, known)));
  return { parts, provenRead: false };
}

/** Keys that end, interrupt or suspend, and are no part of a line: Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\. */
function withoutInterrupts(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\u0003\u0004\u001a\u001c]/g, "");
}

async function partsFor(reader: Reader, text: string, request: PolicyRequest, known: Known): Promise<readonly Part[]> {
  switch (reader.type) {
    case "shell": {
      const why = unreadable(text);
      return why === null ? (await commandParts(request, text, known, null)).parts : [typed(why)];
    }
    case "interpreter": {
      // Half a line goes on with what is typed next.
      if (!text.endsWith("\n")) return [typed("a line that isn't whole")];
      return (await commandParts(request, `${reader.words} '${text.replaceAll("'", "'\\''")}'`, known, null)).parts;
    }
    case "unreadable":
      return [typed(reader.what)];
  }
}

function typed(what: string): Part {
  return part({ kind: "typed_input", what, scope: {} });
}

function part(fact: Fact): Part {
  return { command: null, run: null, facts: [fact], touched: [] };
}

/** Why a shell at a terminal may read more in this text than it says; null where it can't. */
function unreadable(text: string): string | null {
  if (!text.endsWith("\n") || text.endsWith("\\\n")) return "a line that isn't whole";
  if (text.includes("\t")) return "a Tab, which a shell completes";
  // History expansion happens before the line is parsed.
  if (/(?:^|[^\\])![^\s=(]/m.test(text) || /^\^/m.test(text)) return "a line from the shell's history";
  return null;
}

/** Programs beyond which somebody else's shell, or one with other rights, reads on. */
const gateways = new Set(
  "ssh mosh telnet nc ncat socat sudo su doas run0 pkexec docker podman kubectl nerdctl lxc machinectl screen tmux nix-shell chroot nsenter gdb lldb ftp sftp lftp redis-cli mongosh mongo at batch ed vi vim nvim ex emacs nano".split(
    " ",
  ),
);
const databases = new Set("psql mysql mariadb sqlite3 sqlite duckdb".split(" "));
/** Of Python: what starts a prompt although it was given a file. */
const pythonPrompts = new Set(["pdb", "ipdb", "code", "IPython", "asyncio"]);

function readersOf(line: string): Reader[] {
  const parsed = parseCommand(line);
  if (parsed.problems.length > 0) return [{ type: "unreadable", what: "a program whose line can't be read" }];
  return parsed.commands.flatMap((command) => [
    ...command.via.filter((name) => gateways.has(name)).map((name): Reader => ({ type: "unreadable", what: name })),
    ...(command.isKeyword || command.isPiped || command.hereText !== null ? [] : readerOf(command)),
  ]);
}

function readerOf(command: SimpleCommand): Reader[] {
  if (command.words.length === 0) return [];
  const named = programOf(command.words);
  const program = named === "irb" || named === "pry" ? "ruby" : named;
  const texts = command.words.slice(1).map((word) => word.literal);
  if (program === null) return [{ type: "unreadable", what: command.words[0]!.text }];
  if (gateways.has(program)) return [{ type: "unreadable", what: program }];
  if (databases.has(program)) {
    const words = program === "sqlite3" || program === "sqlite" || program === "duckdb" ? `${program} :memory:` : `${program} -c`;
    return [{ type: "interpreter", words }];
  }
  if (shells.has(program)) return readsScript(texts, /^[-+][oO]$/, /^-\w*c\w*$/) ? [] : [{ type: "shell" }];
  const option = codeOptionOf(program);
  if (option === null) return [];
  const module = texts[texts.indexOf("-m") + 1];
  const isPrompt = texts.includes("-i") || texts.includes("inspect") || (texts.includes("-m") && pythonPrompts.has(module ?? ""));
  if (!isPrompt && readsScript(texts, /^-[WXr]$/, /^(?:-\w*[cepm]|--eval|--print|--version|--help)$/)) return [];
  return [{ type: "interpreter", words: `${program} ${option}` }];
}

/** Whether a file or an option gives the program what it runs, so that its input is only input. */
function readsScript(texts: readonly (string | null)[], valued: RegExp, code: RegExp): boolean {
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at];
    if (text == null) return true;
    if (text === "-s" || text === "-") return false;
    if (code.test(text)) return true;
    if (valued.test(text)) at += 1;
    else if (!/^[-+]/.test(text)) return true;
  }
  return false;
}
