import { onlyReads } from "../programs/databases.ts";
import { readGit } from "../programs/git.ts";
import { programOf, type SimpleCommand } from "../shell/command.ts";
import { type Inner, isInput } from "../shell/inner.ts";
import { noInput } from "../shell/input.ts";
import { parseCommand } from "../shell/parse.ts";
import { unwrap } from "../shell/wrappers.ts";
import { isTrustedName, provenReads } from "./prove.ts";
import { readForms } from "./table.ts";

/** Beside those that are proven to only read: programs that pass on what they are given, or keep it as the text that it is. */
const passing = new Set(
  "tee sponge tail less more most bat batcat column fmt fold rev paste base64 base32 xxd od hexdump gzip gunzip zcat bzip2 xz zstd iconv expand unexpand pr join split csplit tsort shuf numfmt comm diff cmp shasum sha224sum sha384sum sha512sum b2sum cksum sum pbcopy xclip wl-copy strings tr".split(
    " ",
  ),
);

/** Programs that read no input, whatever there is. */
const deaf = new Set(
  "rm rmdir mkdir touch chmod chown chgrp ln cp mv truncate kill pkill sleep seq test [ [[ cd pushd popd export unset set shift wait exit return local declare readonly read mapfile readarray ( ((".split(
    " ",
  ),
);

/** Programs that take their input only where a word of theirs says so. */
const onlyAsked = new Set(["git", "gh", "glab", "curl"]);
const gitReaders =
  /^(?:am|apply|fast-import|mktree|mktag|credential[\w-]*|hash-object|unpack-objects|index-pack|pack-objects|update-index|receive-pack|upload-pack|upload-archive|shell|cvsserver|daemon|http-backend|remote-\w+|send-email|imap-send|bundle)$/;

const sqlClients = new Set("psql mysql mariadb sqlite3 sqlite duckdb".split(" "));

/**
 * Whether a command is given an input that may be more to it than text to look through: statements, a script, what is to
 * be applied, made or sent. Its words say nothing of that, so who allowed the words didn't allow it.
 */
export function actsOnInput(command: SimpleCommand): boolean {
  return command.isFed && command.words.length > 0 && !command.isKeyword && mayAct(command);
}

function mayAct(command: SimpleCommand): boolean {
  const program = programOf(command.words);
  if (program === null || !isTrustedName(command.words[0]!.literal!)) return true;
  // What is read becomes words of what it runs.
  if (program === "xargs") return innerOf(command).some((each) => each.type !== "words" || !takesText(programOf(each.words)));
  const inner = innerOf(command);
  if (inner.length > 0) return inner.some((each) => mayActInside(each, command));
  if (takesText(program) || deaf.has(program) || provenReads({ ...command, redirects: [], assignments: [] }) !== null) return false;
  if (onlyAsked.has(program)) return asksForInput(program, command);
  return !(sqlClients.has(program) && command.words.length === 1 && command.hereText !== null && onlyReads(command.hereText));
}

function takesText(program: string | null): boolean {
  return program !== null && (readForms.has(program) || passing.has(program));
}

function innerOf({ words }: SimpleCommand): readonly Inner[] {
  return unwrap(words, { ...noInput, fromFile: true, isGiven: true })?.inner ?? [];
}

function mayActInside(inner: Inner, command: SimpleCommand): boolean {
  if (inner.type === "hidden") return true;
  if (inner.type === "words") return inner.words.length > 0 && mayAct({ ...command, words: inner.words, isWrapper: false });
  const parsed = parseCommand(inner.line.literal ?? "");
  return inner.line.literal === null || parsed.problems.length > 0 || parsed.commands.some((each) => each.words.length > 0 && mayAct(each));
}

/** `-`, `-F-`, `data=@-`, `--stdin`, `/dev/stdin`; a folder's dot is curl's input too. */
function asksForInput(program: string, { words }: SimpleCommand): boolean {
  const args = words.slice(1);
  if (program === "git" && gitReaders.test(readGit(args).subcommand ?? "")) return true;
  return args.some(
    ({ literal }) =>
      literal === null ||
      /-$|stdin|\/fd\/|^--batch/.test(literal) ||
      isInput.test(literal) ||
      (program === "curl" && /^(?:-T)?\.$/.test(literal)),
  );
}
