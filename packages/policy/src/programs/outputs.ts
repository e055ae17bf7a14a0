import { addNeed, type Findings, type JudgedCall } from "../facts/fact.ts";
import { isRunLaterOutside } from "../facts/place.ts";
import { nothingFile } from "../shell/nothing.ts";
import type { ShellWord } from "../shell/command.ts";
import { cutWord, operandsOf, optionValues } from "../shell/options.ts";

/** Where a program writes, beside what its own judge knows. Words between blanks. */
interface Written {
  /** Options whose value is written. */
  readonly options?: string;
  /** Other options with a value. */
  readonly valued?: string;
  /** Operands that are written: all, the last of at least two, or those from this one on. */
  readonly operands?: "all" | "last" | number;
  /** True where letters don't stand together: `-out` is one option. */
  readonly apart?: true;
  /** Operands count only where an option, or a first word, says so, or none says otherwise. */
  readonly only?: RegExp;
  readonly unless?: RegExp;
}

const packed: Written = { operands: "all", options: "-o", valued: "-S -T -b -M", unless: /^-[a-zA-Z\d]*[ctl]|^--(?:std|to-st|test|list)/ };
const compiler: Written = {
  options: "-o -MF -MJ --output -out -d -out-dir --out-dir -Fo -of",
  apart: true,
};
const media: Written = { operands: "last", apart: true };
const dump: Written = { options: "-f --file -r --result-file -o --out --archive" };
const formatter: Written = { operands: "all", only: /^(?:--write|--fix|--in-?place|-[a-z]*[wi])$/, apart: true };
const editor: Written = { operands: "all", valued: "-c -S -u -t -l -p --cmd -T -i --eval -f" };

const each = (names: string, written: Written): (readonly [string, Written])[] => names.split(" ").map((name) => [name, written] as const);

const table: ReadonlyMap<string, Written> = new Map<string, Written>([
  ["uniq", { operands: 1, valued: "-f -s -w --skip-fields --skip-chars --check-chars" }],
  ["xxd", { operands: 1, apart: true, valued: "-c -cols -g -groupsize -l -len -o -s -seek -n -name -R" }],
  ["cpp", { operands: 1, apart: true, options: "-o -MF", valued: "-I -D -U -include -isystem -x" }],
  ["ptx", { operands: 1, only: /^-\w*G|^--tr/, valued: "-F -M -S -W -b -g -i -o -w" }],
  ["split", { operands: 1, valued: "-l -b -n -a -C -t --lines --bytes --number --suffix-length --line-bytes --filter --separator" }],
  ["csplit", { options: "-f --prefix", valued: "-b -n" }],
  ["shuf", { options: "-o --output", valued: "-i -n" }],
  ["iconv", { options: "-o --output", valued: "-f -t" }],
  ["tree", { options: "-o", valued: "-L -I -P -H -T" }],
  ["strace", { options: "-o --output", valued: "-a -b -e -E -I -O -p -P -s -S -u -U -X" }],
  ["ltrace", { options: "-o --output", valued: "-a -A -e -F -l -n -p -s -u -w -x" }],
  ["time", { options: "-o --output", valued: "-f" }],
  ["sdiff", { options: "-o --output", valued: "-I -W" }],
  ["sort", { options: "-o --output", valued: "-k -t -S -T" }],
  ["objcopy", { operands: "last", apart: true }],
  ["strip", { operands: "all", options: "-o", apart: true, valued: "-F -I -O -K -N -R" }],
  ["ar", { operands: 1, unless: /^-?\w*[tpx]/ }],
  ["jar", { operands: 1, only: /^-?\w*[cu]|^--(?:c|u)/, options: "-f --file" }],
  ...each("7z 7za 7zr 7zz rar", { operands: 1, only: /^(?:a|d|u|rn|m|mf)$/, apart: true, options: "-o" }),
  ["unrar", { operands: "last", apart: true }],
  ["cpio", { options: "-O -F --file -D --directory", valued: "-C -E -H -I -M -R", operands: "all" }],
  ["mktemp", { operands: "all", options: "-p --tmpdir" }],
  ["rename", { operands: 1 }],
  ["prename", { operands: 1 }],
  ["sd", { operands: 2, valued: "-n -f" }],
  ["yq", { operands: "all", only: /^-[a-zA-Z]*i|^--in/, valued: "-o -p -I" }],
  ["openssl", { options: "-out -keyout -writerand -CAserial -sigfile", apart: true }],
  ["go", { options: "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir", apart: true }],
  ["rsync", { options: "--log-file --backup-dir --partial-dir --temp-dir --write-batch -T", valued: "-e -f -B -M" }],
  ["zip", { options: "-O --output-file --out -b --temp-path -lf --logfile-path", apart: true }],
  [
    "curl",
    {
      options:
        "-o --output -c --cookie-jar -D --dump-header --output-dir --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc",
      valued: "-A -b -C -d -e -E -F -h -H -K -m -M -P -Q -r -t -T -u -U -w -x -X -Y -y -z",
    },
  ],
  [
    "wget",
    {
      options: "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file",
      valued: "-A -D -e -i -I -l -Q -R -t -T -U -w -X -B",
    },
  ],
  ...each("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 compress uncompress pigz unpigz lzip", packed),
  ...each("dos2unix unix2dos mac2unix fallocate recode", { operands: "all", valued: "-l -o --length --offset" }),
  ...each(
    "gcc g++ cc c++ clang clang++ gfortran tcc ld ld.lld ld.gold ld.bfd as gas nasm yasm ghc ocamlc ocamlopt rustc swiftc javac kotlinc scalac dmd",
    compiler,
  ),
  ...each(
    "ffmpeg convert magick montage composite sox lame qpdf pdftk wkhtmltopdf wkhtmltoimage pdftotext pdftoppm mksquashfs sass",
    media,
  ),
  ...each("prettier eslint biome gofmt goimports shfmt clang-format yapf autopep8 markdownlint stylelint", formatter),
  ...each("awk gawk", { options: "--dump-variables --profile --pretty-print -d -p -o", valued: "-F -v -f -e -i -l -E" }),
  ...each("pg_dump pg_dumpall mysqldump mariadb-dump mongodump", dump),
  ...each("ed ex vi vim nvim nano pico micro emacs", editor),
]);

/** True for a program of which an operand, or an option's value, may be written. */
export function mayWrite(program: string): boolean {
  return table.has(program);
}

/** What a program writes by its options and operands: each is a write like one behind `>`. */
export function judgeWritten({ program, args, texts }: JudgedCall, findings: Findings): void {
  const written = table.get(program);
  if (written === undefined) return;
  const options = words(written.options);
  const valued = words(written.valued);
  // What is made of nothing is emptied.
  const write = (word: ShellWord): void =>
    addNeed(findings, args.some((each) => each !== word && each.literal === nothingFile) ? "truncate" : "write", word);
  optionValues(args, options, written.apart === true ? null : lettersOf(valued)).forEach(write);
  if (written.only !== undefined && !texts.some((text) => written.only!.test(text))) return;
  if (written.unless !== undefined && texts.some((text) => written.unless!.test(text))) return;
  operandsWritten(written, operandsOf(args, [...options, ...valued], written.apart === true)).forEach(write);
}

const outputOption =
  /^--?(?:[\w-]*out(?:put)?(?:-?(?:dir|file|path))?|dest[\w-]*|[\w-]*destination|target-dir|prefix|install-(?:dir|prefix|path)|export-(?:dir|path|to)|save-(?:to|dir)|log-?file|report-?file|data-dir|(?:cpu|heap)-prof-dir)$/i;
/** Their -o is no output, or none here. */
const otherO = /^(?:unzip|(?:ba|da|z|k|fi|a)?sh|g?find|ssh|scp|sftp|sshfs|mount|ps|pgrep|ncal|pytest|py\.test|docker|podman|kubectl|lsof)$/;

/** Options that name where output goes are known by their names, whatever the program: what they name is written. */
export function judgeOutputs({ program, args }: JudgedCall, findings: Findings): void {
  // Where a build is to be installed one day is no place that it writes to now.
  if (program === "configure" || program === "meson") return;
  args.forEach((word, i) => {
    const text = word.literal ?? word.text;
    const equals = text.indexOf("=");
    if (!outputOption.test(equals < 0 ? text : text.slice(0, equals))) return;
    addNeed(findings, "write", equals < 0 ? args[i + 1] : cutWord(word, equals + 1));
  });
  if (table.has(program) || otherO.test(program)) return;
  for (const word of optionValues(args, ["-o"], null)) if (isPath.test(word.text)) addNeed(findings, "write", word);
}

/** They show files, or say what is wrong with them. */
const looks =
  /^(?:bat|batcat|more|most|delta|difft|difftastic|hexyl|glow|mdcat|highlight|pygmentize|shellcheck|yamllint|actionlint|hadolint|markdownlint\S*|tokei|scc|cloc|wl-copy|xclip|pbcopy|open|[a-z]*cat|[a-z]*grep)$/;

/** Of a program that nobody here knows, a word that names a file which runs later is one that it may write. */
export function judgeNamed({ program, args }: JudgedCall, findings: Findings): void {
  if (looks.test(program)) return;
  for (const word of args) {
    const start = /^--?[\w-]+=/.exec(word.literal ?? "")?.[0].length ?? 0;
    const path = start === 0 ? word : cutWord(word, start);
    const name = path.literal ?? path.guesses[0] ?? "";
    const isOutside = path.fromHome || name.startsWith("/");
    if (isOutside ? isRunLaterOutside(name) : /(?:^|\/)\.git\//.test(name)) addNeed(findings, "write", path, { isGuess: true });
  }
}

const isPath = /^["']?(?:[~.$]|[^=\s]*\/)/;

function operandsWritten({ operands }: Written, found: readonly ShellWord[]): readonly ShellWord[] {
  if (operands === undefined) return [];
  if (operands === "all") return found;
  return operands === "last" ? found.slice(-1) : found.slice(operands);
}

function words(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split(" ");
}

function lettersOf(names: readonly string[]): string {
  return names.flatMap((name) => (name.length === 2 ? [name[1]!] : [])).join("");
}
