import { addFact, addNeed, type Judge, type JudgedCall } from "../facts/fact.ts";
import { isRegenerable } from "../facts/place.ts";
import { onlyName } from "../reads/find.ts";
import { cmake } from "./helpers.ts";
import { nothingFile } from "../shell/nothing.ts";
import type { ShellWord } from "../shell/command.ts";
import { hasExactly, hasOption, optionValues, roughOperands } from "../shell/options.ts";

const remove: Judge = (call, findings) => {
  const isRecursive = call.program === "rimraf" || hasOption(call.args, "-r", "-R", "--recursive");
  for (const word of roughOperands(call.args)) addNeed(findings, "delete", word, { isRecursive });
  if (roughOperands(call.args).length === 0 && call.args.some((word) => word.literal === null)) {
    addFact(findings, "loses_work", `${call.text}: what it deletes isn't known`);
  }
};

function baseOf(word: ShellWord): string | null {
  return word.literal === null ? null : word.literal.replace(/\/+$/, "").replace(/^.*\//, "");
}

/** `cp`, `mv`, `ln`, `install`: sources, then a target, which may be a folder. */
const transfer: Judge = (call, findings) => {
  const operands = roughOperands(call.args, ["-t", "--target-directory", "-S", "--suffix", "-m", "-o", "-g", "--mode"]);
  const folder = optionValues(call.args, ["-t", "--target-directory"], "Smog")[0];
  if (call.program === "install" && hasOption(call.args, "-d", "--directory")) {
    for (const word of operands) addNeed(findings, "write", word);
    return;
  }
  const sources = folder === undefined ? operands.slice(0, -1) : operands;
  const target = folder ?? (operands.length > 1 ? operands.at(-1) : undefined);
  if (call.program === "mv") {
    for (const word of sources) {
      addNeed(findings, "move", word, target === undefined ? {} : { target });
      // Under another name a secret is no longer known as one.
      addNeed(findings, "read", word);
    }
    // A link to a secret is another name for it, which no longer tells that it is one.
  } else for (const word of call.program === "ln" && operands.length < 2 ? operands : sources) addNeed(findings, "read", word);
  const inside = sources.map(baseOf).filter((name) => name !== null);
  const keeps =
    hasExactly(call.args, ["-b", "--backup"], "tSmog") ||
    // What is -n to the others says something of links.
    (/^g?(?:cp|mv)$/.test(call.program) && hasExactly(call.args, ["-n", "--no-clobber"], "tSmog")) ||
    (call.program === "ln" && !hasOption(call.args, "-f", "--force"));
  // What nothing is put over is emptied.
  const use = sources.some(({ literal }) => literal === nothingFile) ? "truncate" : "overwrite";
  addNeed(findings, keeps ? "write" : use, target, { inside });
};

const tee: Judge = ({ args, command }, findings) => {
  const use = command.isFedNothing && !hasOption(args, "-a", "--append") ? "truncate" : "write";
  for (const word of roughOperands(args)) addNeed(findings, use, word);
};

function writesAll(valued: readonly string[] = []): Judge {
  return (call, findings) => {
    for (const word of roughOperands(call.args, valued)) addNeed(findings, "write", word);
  };
}

/** The first operand says how, the rest where: `chmod 755 file`. */
const changeMode: Judge = (call, findings) => {
  const operands = roughOperands(
    call.args.filter((word) => !/^-[rwxXstugo,+=-]*[rwxst]/.test(word.literal ?? "") || /^-R$/.test(word.literal ?? "")),
  );
  const paths = hasOption(call.args, "--reference") ? operands : operands.slice(1);
  if (call.program !== "chmod" || /(?:[+=][rwxX]*[st])|^[2467]\d{3}$/.test(operands[0]?.literal ?? "")) {
    addFact(findings, "privilege", call.text, { unsandboxed: true });
  }
  for (const word of paths) addNeed(findings, "write", word);
};

const truncates: Judge = (call, findings) => {
  if (call.program !== "truncate") addFact(findings, "loses_work", `${call.text} destroys what it is given`);
  for (const word of roughOperands(call.args, ["-s", "--size", "-r", "--reference", "-n", "--iterations", "-o"]))
    addNeed(findings, "truncate", word);
};

/** Of what it takes out of a file, or fills with zeros, nothing is left. */
const fallocate: Judge = ({ args }, findings) => {
  if (!hasOption(args, "-p", "--punch-hole", "-z", "--zero-range", "-c", "--collapse-range")) return;
  for (const word of roughOperands(args, ["-l", "--length", "-o", "--offset"])) addNeed(findings, "truncate", word);
};

const dd: Judge = (call, findings) => {
  for (const word of call.args) {
    if (word.text.startsWith("of=")) addNeed(findings, "truncate", cut(word, 3));
    else if (word.text.startsWith("if=")) addNeed(findings, "read", cut(word, 3));
  }
};

function cut(word: ShellWord, length: number): ShellWord {
  const literal = word.literal === null ? null : word.literal.slice(length);
  return {
    ...word,
    text: word.text.slice(length),
    literal,
    guesses: word.guesses.map((guess) => guess.slice(length)),
    pattern: null,
    fromHome: word.text.slice(length).startsWith("~"),
  };
}

function option(names: readonly string[], valued = ""): Judge {
  return (call, findings) => {
    for (const word of optionValues(call.args, names, valued)) addNeed(findings, "write", word);
  };
}

const tarValued = "bCfFgHIKLNTVX";

const packer = /^(?:zstd|zstdmt|pzstd|pigz|gzip|xz|pixz|bzip2|pbzip2|lbzip2|lz4|lzip|plzip)(?: -[Tp]?\d+)*$/;

/** The letters by which tar is told what to do: those of a first word without a dash, and of clusters up to a value. */
function tarLetters({ texts }: JudgedCall): string {
  const plain = new RegExp(`^-[^-${tarValued}]*[${tarValued}]?`);
  return texts.map((text, i) => (i === 0 && /^[A-Za-z]+$/.test(text) ? text : (plain.exec(text)?.[0] ?? ""))).join("");
}

const extractsTar = (call: JudgedCall): boolean => tarLetters(call).includes("x") || hasOption(call.args, "--extract", "--get");

/** `tar xzfC a.tgz folder`: without a dash, the values of the letters follow in their order. */
function oldValue({ args, texts }: JudgedCall, of: "C" | "f"): ShellWord | undefined {
  const cluster = texts[0] ?? "";
  if (!/^[A-Za-z]+$/.test(cluster)) return undefined;
  const at = [...cluster].filter((letter) => "bfCTXgNVHIKLF".includes(letter)).indexOf(of);
  return at < 0 ? undefined : args[at + 1];
}

const tar: Judge = (call, findings) => {
  addNeed(findings, "write", oldValue(call, "C"));
  if (/^[A-Za-z]*[IF]/.test(call.texts[0] ?? "")) addFact(findings, "hidden_code", `${call.text} names a program to run`);
  if (extractsTar(call)) option(["-C", "--directory", "--one-top-level"], tarValued)(call, findings);
  else if (!tarLetters(call).includes("t") && !hasOption(call.args, "--list", "--diff", "--compare"))
    addNeed(findings, "write", optionValues(call.args, ["--file", "-f"], tarValued)[0] ?? oldValue(call, "f"));
  for (const word of optionValues(call.args, ["-g", "--listed-incremental", "--index-file", "--volno-file"], tarValued))
    addNeed(findings, "write", word);
  const programs = [
    "--checkpoint-action",
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--info-script",
    "--new-volume-script",
  ];
  if (
    hasOption(call.args, ...programs) ||
    optionValues(call.args, ["-I", "-F"], tarValued).some((word) => !packer.test(word.literal ?? ""))
  ) {
    addFact(findings, "hidden_code", `${call.text} names a program to run`);
  }
  if (hasOption(call.args, "--remove-files")) addFact(findings, "loses_work", call.text);
  if (hasOption(call.args, "-P", "--absolute-names")) addFact(findings, "outside_write", call.text, { unsandboxed: true });
};

function takesValue(test: string): boolean {
  return /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|samefile|user|group|printf)$/.test(test);
}

const find: Judge = (call, findings) => {
  const starts: ShellWord[] = [];
  for (const word of call.args) {
    if (/^[-(!]/.test(word.literal ?? "") && !/^-[HLP]$|^-[OD]/.test(word.literal ?? "")) break;
    if (word.literal?.startsWith("-") !== true) starts.push(word);
  }
  const deletes = call.texts.some((text, i) => text === "-delete" && !takesValue(call.texts[i - 1] ?? ""));
  if (deletes) {
    if (starts.length === 0) addFact(findings, "loses_work", call.text);
    const isEverything = call.texts.every(
      (text) => !/^[-!]/.test(text) || /^-(?:delete|depth|d|xdev|mount|print0?|ls|true|type|mindepth|[HLP])$/.test(text),
    );
    // What is made anew by every build may go, as long as nothing else can match.
    const pattern = onlyName(call.texts);
    if (
      pattern !== null &&
      isRegenerable(pattern.replace(/^\*/, "x")) &&
      starts.every((word) => word.literal !== null && !/^[/~]|\.\./.test(word.literal))
    )
      return;
    for (const word of starts) addNeed(findings, "delete", word, { isRecursive: isEverything });
  }
  call.texts.forEach((text, i) => {
    if (/^-(?:fprint0?|fprintf|fls)$/.test(text) && !takesValue(call.texts[i - 1] ?? "")) addNeed(findings, "write", call.args[i + 1]);
  });
};

/** Programs that a reader's option can make run. */
function runsByOption(pattern: RegExp): Judge {
  return (call, findings) => {
    const end = call.texts.indexOf("--");
    const texts = end < 0 ? call.texts : call.texts.slice(0, end);
    if (texts.some((text, i) => pattern.test(text) && !/^(?:-e|--regexp)$/.test(texts[i - 1] ?? "")))
      addFact(findings, "hidden_code", `${call.text} names a program to run`);
  };
}

const patch: Judge = (call, findings) => {
  const folder = optionValues(call.args, ["-d", "--directory"])[0];
  for (const word of [...(folder === undefined ? [] : [folder]), ...optionValues(call.args, ["-o", "--output"])])
    addNeed(findings, "write", word);
  const [file] = roughOperands(call.args, [
    "-p",
    "-d",
    "-i",
    "-o",
    "-r",
    "-b",
    "-z",
    "-B",
    "-F",
    "-D",
    "--strip",
    "--input",
    "--directory",
    "--output",
  ]);
  if (folder === undefined && !hasExactly(call.args, ["--dry-run"])) addNeed(findings, "write", file);
};

const venv: Judge = (call, findings) => {
  for (const word of roughOperands(call.args, ["-p", "--python", "--prompt"])) addNeed(findings, "write", word);
};

const mkfs: Judge = (call, findings) => addFact(findings, "device_write", call.text);

export const fileJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...["rm", "unlink", "rimraf", "trash", "del-cli", "srm"].map((name) => [name, remove] as const),
  ...["cp", "mv", "ln", "install", "gcp", "gmv", "ditto"].map((name) => [name, transfer] as const),
  ...["mkdir", "rmdir", "mkfifo"].map((name) => [name, writesAll(["-m", "--mode"])] as const),
  ["touch", writesAll(["-d", "-r", "-t", "--date", "--reference"])],
  ...["chmod", "chown", "chgrp", "setfacl", "chattr"].map((name) => [name, changeMode] as const),
  ...["truncate", "shred", "wipe"].map((name) => [name, truncates] as const),
  ["tee", tee],
  ["sponge", tee],
  ["dd", dd],
  ["fallocate", fallocate],
  ["cmake", cmake],
  ["patch", patch],
  ["virtualenv", venv],
  ["script", writesAll(["-c", "--command", "-I", "-O", "-B", "-T", "-E", "-m", "-o"])],
  ["tar", tar],
  ["bsdtar", tar],
  ["unzip", option(["-d"])],
  ["sort", runsByOption(/^--co/)],
  ["rg", runsByOption(/^--(?:pre|hostname-bin)(?:=|$)/)],
  ["find", find],
  ["gfind", find],
  ...[
    "mkfs",
    "mke2fs",
    "mkswap",
    "wipefs",
    "fdisk",
    "sfdisk",
    "parted",
    "gdisk",
    "sgdisk",
    "blkdiscard",
    "hdparm",
    "badblocks",
    "diskutil",
  ].map((name) => [name, mkfs] as const),
]);

/** `mkfs.ext4` and the like. */
export function deviceJudge(program: string): Judge | null {
  return program.startsWith("mkfs.") ? mkfs : null;
}
