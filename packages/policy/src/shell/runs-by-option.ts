import type { ShellWord } from "./command.ts";
import { cutWord, optionValues } from "./options.ts";

/** Options of a program whose value is a command line that it runs. */
interface RunningOptions {
  readonly names: readonly string[];
  /** Other letters with a value, in which a cluster ends; null where letters don't stand together. */
  readonly valued?: string | null;
  /** True where what is run gets further words, as the names of files. */
  readonly appends?: true;
  /** True where the value stands right behind its option, or isn't there. */
  readonly joined?: true;
  /** What begins such a value; without it, it is none. */
  readonly marked?: RegExp;
}

const list = (text: string): string[] => text.split(" ");
const packs: RunningOptions = { names: list("--upload-pack --receive-pack --exec"), appends: true };

/** By a program's name, for git with its subcommand. */
const table: ReadonlyMap<string, RunningOptions> = new Map<string, RunningOptions>([
  ["git rebase", { names: ["-x", "--exec"], valued: "sXCSr" }],
  ["git difftool", { names: ["-x", "--extcmd"], valued: "tUSGOl", appends: true }],
  ["git clone", { names: ["-u", "--upload-pack"], valued: "objc", appends: true }],
  ...list("fetch pull push ls-remote archive fetch-pack send-pack").map((name) => [`git ${name}`, packs] as const),
  ["git grep", { names: ["-O", "--open-files-in-pager"], valued: "eABCmf", appends: true, joined: true }],
  [
    "git filter-branch",
    { names: list("--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter") },
  ],
  ["git send-email", { names: list("--sendmail-cmd --to-cmd --cc-cmd --header-cmd"), appends: true }],
  ["go", { names: ["-exec", "-toolexec", "-vettool"], valued: null, appends: true }],
  ["tar", { names: list("-I -F --use-compress-program --info-script --new-volume-script --to-command"), valued: "bCfgHKLNTVX" }],
  ["bsdtar", { names: ["--use-compress-program"] }],
  ["tar more", { names: ["--checkpoint-action"], marked: /^exec=/ }],
  ["cpio", { names: ["--rsh-command"] }],
  ["rsync", { names: ["-e", "--rsh"], valued: "fBTM", appends: true }],
  ...list("bat batcat ag ack delta mysql mariadb").map((name) => [name, { names: ["--pager"] }] as const),
  ["sort", { names: ["--compress-program"] }],
  ["split", { names: ["--filter"] }],
  ["man", { names: ["-P", "--pager"], valued: "CRLmMseEprHTX" }],
  ["zip", { names: ["--unzip-command", "-TT"], appends: true }],
  ["strace", { names: ["-o", "--output"], valued: "abeEIOpPsSuUX", marked: /^[|!]/ }],
  ...list("ssh scp sftp").map(
    (name) => [name, { names: ["-o"], valued: "bcDeEFiIJlLmOpQRSwWX", marked: /^(?:Proxy|Local|KnownHosts)Command[= ]\s*/i }] as const,
  ),
  ...list("scp sftp").map((name) => [`${name} more`, { names: ["-S"], valued: "bcDFiJlopPRX", appends: true }] as const),
  ["wget", { names: ["--use-askpass"], appends: true }],
]);

/** Lines that a program is told to run by its options. `name`: its own, for git with the subcommand. */
export function linesByOption(name: string, args: readonly ShellWord[]): ShellWord[] {
  return [...readLines(name, args), ...readLines(`${name} more`, args)];
}

function readLines(name: string, args: readonly ShellWord[]): ShellWord[] {
  const options = table.get(name);
  if (options === undefined) return [];
  const { names, valued = "", marked, joined } = options;
  const words = joined === true ? args.map((word) => [word]) : [args];
  return words
    .flatMap((part) => optionValues(part, names, valued))
    .flatMap((word) => {
      if (marked === undefined) return [word];
      const start = marked.exec(word.literal ?? word.text.replace(/^["']/, ""))?.[0].length;
      return start === undefined ? [] : [cutWord(word, start)];
    })
    .map((word) => (options.appends === true ? withMore(word) : word));
}

function withMore(word: ShellWord): ShellWord {
  return word.literal === null ? word : { ...word, text: `${word.text} …`, literal: `${word.literal} "$@"` };
}
