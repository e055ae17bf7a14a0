import type { ShellWord } from "../shell/command.ts";
import type { OptionTable, ReadOptions } from "../shell/options.ts";

/** A program that only reads, as long as it is called with these options. Anything else about it isn't proven. */
export interface ReadForm extends OptionTable {
  /**
   * What its operands are. `files`: paths to read; `pattern`: a text, then paths; `text`: only words; `none`: it takes
   * none; a number: at most so many paths (a further one would be written: `uniq in out`).
   */
  readonly operands: "files" | "pattern" | "text" | "none" | number;
  /** Options whose value is the pattern, so that all operands are paths. */
  readonly patternOptions?: readonly string[];
  /** Options whose value is a path that is read. */
  readonly fileOptions?: readonly string[];
  readonly accepts?: (read: ReadOptions) => boolean;
}

const text = (word: ShellWord): string => word.literal ?? "";
const all = (read: ReadOptions, test: (word: string) => boolean): boolean => read.operands.every((word) => test(text(word)));

const hashes: ReadForm = {
  flags: "bctwz",
  long: ["binary", "check", "text", "zero", "ignore-missing", "quiet", "status", "strict", "tag"],
  operands: "files",
};
const grep: ReadForm = {
  flags: "#EFGPivwxycLlqsbHhnTUZaIrRz",
  valued: "ABCemfdD",
  long: "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count files-without-match files-with-matches only-matching quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null null-data text recursive dereference-recursive line-buffered color=? colour=? regexp= file= max-count= after-context= before-context= context= include= exclude= exclude-dir= exclude-from= binary-files= directories= devices= label=".split(
    " ",
  ),
  operands: "pattern",
  patternOptions: ["e", "f", "regexp", "file"],
  fileOptions: ["f", "file", "exclude-from"],
};
/** `-o` is "only matching" in grep. */
const grepWithO: ReadForm = { ...grep, flags: `${grep.flags}o` };

/** What each of these may be called with, and still only read. Checked against the GNU tools, ripgrep 15 and jq 1.7. */
export const readForms: ReadonlyMap<string, ReadForm> = new Map<string, ReadForm>([
  [
    "ls",
    {
      flags: "#aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1",
      valued: "ITw",
      long: "all almost-all author escape ignore-backups color=? colour=? directory dired classify=? file-type format= full-time group-directories-first no-group human-readable si dereference dereference-command-line hide= hyperlink=? indicator-style= inode ignore= kibibytes dereference-command-line-symlink-to-dir numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero".split(
        " ",
      ),
      operands: "files",
    },
  ],
  [
    "cat",
    {
      flags: "AbeEnstTuv",
      long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting".split(" "),
      operands: "files",
    },
  ],
  ["tac", { flags: "br", valued: "s", operands: "files" }],
  ["nl", { flags: "p", valued: "bdfhilnsvw", operands: "files" }],
  ["head", { flags: "#qvz", valued: "cn", long: ["bytes=", "lines=", "quiet", "silent", "verbose", "zero-terminated"], operands: "files" }],
  // Not -f: it doesn't end by itself.
  [
    "tail",
    {
      flags: "#qvz",
      valued: "cn",
      long: ["bytes=", "lines=", "quiet", "silent", "verbose", "zero-terminated"],
      operands: "files",
      accepts: (read) => all(read, (word) => !/^\+\d*f/.test(word)),
    },
  ],
  ["wc", { flags: "clLmw", long: ["bytes", "chars", "lines", "max-line-length", "words", "total="], operands: "files" }],
  ["grep", grepWithO],
  ["egrep", grepWithO],
  ["fgrep", grepWithO],
  [
    "rg",
    {
      flags: "#FiIsSvwxclLnNopqHaUuP.0",
      valued: "ABCefgjmrtTMdE",
      long: "fixed-strings ignore-case case-sensitive smart-case invert-match word-regexp line-regexp count count-matches files-with-matches files-without-match files line-number no-line-number only-matching pretty quiet with-filename no-filename hidden no-ignore no-ignore-vcs no-ignore-parent no-config unrestricted text multiline multiline-dotall pcre2 follow heading no-heading column no-messages null trim vimgrep json stats type-list passthru passthrough crlf block-buffered line-buffered byte-offset one-file-system sort= sortr= color= colors= context= after-context= before-context= context-separator= regexp= file= glob= iglob= max-count= max-columns= max-depth= max-filesize= threads= replace= type= type-not= encoding= engine= path-separator= regex-size-limit= dfa-size-limit= version help".split(
        " ",
      ),
      operands: "pattern",
      patternOptions: ["e", "f", "regexp", "file", "files", "type-list"],
      fileOptions: ["f", "file"],
    },
  ],
  ["pwd", { flags: "LP", operands: "none" }],
  ["cd", { flags: "LPe", operands: 1 }],
  ["echo", { operands: "text", flags: "neE" }],
  ["printf", { operands: "text" }],
  ["true", { operands: "text" }],
  ["false", { operands: "text" }],
  [":", { operands: "text" }],
  [
    "stat",
    { flags: "Lfts", valued: "c", long: ["dereference", "file-system", "format=", "printf=", "terse", "cached="], operands: "files" },
  ],
  [
    "file",
    {
      flags: "bhiLNnprsv0",
      valued: "eFP",
      long: ["brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference", "extension"],
      operands: "files",
    },
  ],
  [
    "du",
    {
      flags: "0aAbcDhHklLmsSx",
      valued: "dBtX",
      long: [
        "all",
        "apparent-size",
        "bytes",
        "total",
        "human-readable",
        "si",
        "summarize",
        "max-depth=",
        "block-size=",
        "exclude=",
        "one-file-system",
        "threshold=",
        "inodes",
        "time=?",
        "separate-dirs",
      ],
      operands: "files",
    },
  ],
  [
    "df",
    {
      flags: "ahHiklPTv",
      valued: "Btx",
      long: [
        "all",
        "human-readable",
        "si",
        "inodes",
        "local",
        "portability",
        "total",
        "type=",
        "exclude-type=",
        "print-type",
        "output=?",
        "block-size=",
      ],
      operands: "files",
    },
  ],
  ["which", { flags: "as", operands: "text" }],
  ["type", { flags: "aftpP", operands: "text" }],
  ["command", { flags: "vV", operands: "text" }],
  // A bare operand would set the clock.
  [
    "date",
    {
      flags: "uR",
      attached: "I",
      valued: "dr",
      long: ["date=", "reference=", "utc", "universal", "iso-8601=?", "rfc-3339=", "rfc-email"],
      operands: "text",
      fileOptions: ["r", "reference"],
      accepts: (read) => all(read, (word) => word.startsWith("+")),
    },
  ],
  [
    "uname",
    { flags: "asnrvmpio", long: ["all", "kernel-name", "nodename", "kernel-release", "machine", "operating-system"], operands: "none" },
  ],
  ["basename", { flags: "az", valued: "s", long: ["multiple", "suffix=", "zero"], operands: "text" }],
  ["dirname", { flags: "z", long: ["zero"], operands: "text" }],
  [
    "realpath",
    {
      flags: "eLmPqsz",
      long: [
        "canonicalize-existing",
        "canonicalize-missing",
        "logical",
        "physical",
        "quiet",
        "no-symlinks",
        "zero",
        "relative-to=",
        "relative-base=",
      ],
      operands: "text",
    },
  ],
  [
    "readlink",
    { flags: "femnqsvz", long: ["canonicalize", "canonicalize-existing", "canonicalize-missing", "no-newline"], operands: "text" },
  ],
  [
    "sort",
    {
      flags: "bcCdfghiMnRrsuVmz",
      valued: "ktS",
      long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort reverse stable unique version-sort zero-terminated merge check=? key= field-separator= buffer-size= parallel= sort=".split(
        " ",
      ),
      operands: "files",
    },
  ],
  [
    "uniq",
    {
      flags: "cdDiuz",
      valued: "fsw",
      long: [
        "count",
        "repeated",
        "all-repeated=?",
        "ignore-case",
        "unique",
        "zero-terminated",
        "skip-fields=",
        "skip-chars=",
        "check-chars=",
        "group=?",
      ],
      operands: 1,
    },
  ],
  [
    "cut",
    {
      flags: "nsz",
      valued: "bcdf",
      long: ["bytes=", "characters=", "delimiter=", "fields=", "complement", "only-delimited", "output-delimiter=", "zero-terminated"],
      operands: "files",
    },
  ],
  ["tr", { flags: "cCdst", long: ["complement", "delete", "squeeze-repeats", "truncate-set1"], operands: "text" }],
  ["paste", { flags: "sz", valued: "d", long: ["delimiters=", "serial", "zero-terminated"], operands: "files" }],
  ["join", { flags: "iz", valued: "aeotvj12", long: ["ignore-case", "header", "check-order", "nocheck-order"], operands: "files" }],
  ["column", { flags: "tLnexJ", valued: "socNHORTW", operands: "files" }],
  ["fold", { flags: "bs", valued: "w", operands: "files" }],
  ["fmt", { flags: "cstu", valued: "wpg", operands: "files" }],
  ["expand", { flags: "i", valued: "t", operands: "files" }],
  ["unexpand", { flags: "a", valued: "t", operands: "files" }],
  ["rev", { operands: "files" }],
  ["seq", { flags: "w", valued: "fs", long: ["equal-width", "format=", "separator="], operands: "text" }],
  ["sleep", { operands: "text" }],
  // Not -l: it starts pr.
  [
    "diff",
    {
      flags: "#qsceynabBdEiNprtTwZu",
      valued: "CUWIxXFL",
      long: "normal brief report-identical-files context=? unified=? ed side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= recursive no-dereference new-file unidirectional-new-file ignore-file-name-case exclude= exclude-from= ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal speed-large-files color=? horizon-lines=".split(
        " ",
      ),
      operands: "files",
      fileOptions: ["X", "exclude-from"],
    },
  ],
  [
    "cmp",
    { flags: "bls", valued: "in", long: ["print-bytes", "ignore-initial=", "verbose", "bytes=", "silent", "quiet"], operands: "files" },
  ],
  ["comm", { flags: "123z", long: ["check-order", "nocheck-order", "output-delimiter=", "total", "zero-terminated"], operands: "files" }],
  [
    "jq",
    {
      // `env` and `$ENV` print the environment; modules are files, of which nothing else tells.
      accepts: (read) =>
        read.operands.length > 0 && !/(?<![.\w"])(?:env|import|include|modulemeta)\b|\$\s*(?:ENV|__prog)/.test(text(read.operands[0]!)),
      flags: "cnerRjaSsCMh",
      long: "compact-output null-input exit-status raw-output raw-input join-output raw-output0 ascii-output sort-keys slurp color-output monochrome-output tab indent= seq stream unbuffered".split(
        " ",
      ),
      operands: "pattern",
    },
  ],
  ["md5sum", hashes],
  ["sha1sum", hashes],
  ["sha224sum", hashes],
  ["sha256sum", hashes],
  ["sha384sum", hashes],
  ["sha512sum", hashes],
  ["b2sum", hashes],
  ["cksum", { operands: "files" }],
  ["od", { flags: "abcdfhilosxv", valued: "AjNSwt", operands: "files" }],
  ["hexdump", { flags: "bcCdovx", valued: "esn", operands: "files" }],
  ["xxd", { flags: "abeiuCEp", valued: "cglos", operands: 1 }],
  ["strings", { flags: "adfo#", valued: "nte", long: ["all", "bytes=", "radix=", "encoding="], operands: "files" }],
  [
    "tree",
    {
      flags: "adfghilnpqrstuvxACDFJNQSX",
      valued: "LIP",
      long: ["dirsfirst", "noreport", "gitignore", "prune", "filelimit=", "charset=", "du", "si", "inodes"],
      operands: "files",
    },
  ],
  ["whoami", { operands: "none" }],
  ["id", { flags: "GgnruzZa", operands: "text" }],
  ["groups", { operands: "text" }],
  ["hostname", { flags: "fsid", operands: "none" }],
  ["arch", { operands: "none" }],
  ["nproc", { long: ["all", "ignore="], operands: "none" }],
  ["uptime", { flags: "ps", operands: "none" }],
  ["free", { flags: "bghkmtwl", long: ["human", "si"], operands: "none" }],
  [
    "ps",
    {
      flags: "aAdefFHjlLMNTuUvwxyZc",
      valued: "oOpCkgGst",
      long: ["forest", "no-headers", "sort=", "pid=", "ppid="],
      operands: "text",
      // Nor a column of environments.
      accepts: (read) =>
        all(read, (word) => /^(?!.*e)[aux]+$/.test(word)) && read.options.every(({ value }) => !/environ/.test(value?.literal ?? "")),
    },
  ],
]);

/**
 * Toolchains that tell their version, in exactly these words. Not those that let a file of the workspace choose the program
 * which answers: yarn (yarnPath), pnpm (packageManager), cargo and rustc (rust-toolchain), go (toolchain), dotnet (global.json).
 */
export const versionPrograms = new Set(
  "node npm npx bun deno python python3 ruby perl php java javac gcc g++ clang cc make cmake ninja git docker bash zsh jq rg sqlite3 curl wget openssl ghc lua".split(
    " ",
  ),
);
export const versionWords = new Set(["--version", "-v", "-V", "-version", "version"]);
