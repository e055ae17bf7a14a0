/** Forms of what a rule is about that nothing hangs on, each whole: a word more or another use, and the rule holds. */
interface Harmless {
  readonly files: RegExp;
  readonly pattern: RegExp;
  /** What must not stand in the file beside it: then nothing of the file is harmless. */
  readonly without?: RegExp;
  /** The tests must not have the word that the pattern's group `name` found. */
  readonly unnamed?: true;
}

const python = /\.pyi?$/;
const perl = /\.p[lm]$/;
const shell = /(?:\.(?:sh|bash|zsh|ksh|inc)|(?:^|\/)[^./]+)$/;
const call = "(?<keep>\\bsubprocess\\.(?:run|Popen|call|check_call|check_output)\\((?:[^()]|\\([^()]*\\)){0,2000}?\\benv=)";
const large = "numpy|pandas|scipy|torch|tensorflow|sklearn|matplotlib|IPython|polars|pyarrow|jax|django|flask";

const harmless: readonly Harmless[] = [
  // One variable by its name, as `os.environ.get` has it. Which one it is, other rules read.
  { files: python, pattern: /(?<keep>["'][A-Z][A-Z\d_]*["'][ \t]+(?:not[ \t]+)?)in os\.environ\b(?![ \t]*[.[])/g },
  // The whole environment, for nobody but a child.
  {
    files: python,
    pattern: new RegExp(`${call}(?:dict\\(os\\.environ(?:,[^()]*)?\\)|os\\.environ\\.copy\\(\\))`, "g"),
    without: /\b(?:class|as|def|lambda)\s+subprocess\b|\bsubprocess(?:\.\w+)?[ \t]*=(?!=)/,
  },
  // A large library that is optional, and that the tests have nothing to do with.
  {
    files: python,
    pattern: new RegExp(`(?<keep>["'](?<name>${large})["'][ \\t]+(?:not[ \\t]+)?)in sys\\.modules\\b(?![ \\t]*[.[])`, "g"),
    unnamed: true,
  },
  // The name that the program was started by, in what a person is told before it ends.
  {
    files: python,
    pattern: /(?<keep>\bsys\.exit\(f"[Uu]sage: )\{sys\.argv\[0\]\}(?=[^"{}\n]*"\)[ \t]*$)/gm,
    without: /\bSystemExit\b|\bexcept[ \t]*:|\bBaseException\b/,
  },
  // A program that runs its own examples where it is started.
  {
    files: python,
    pattern: /(?<keep>^if __name__ == ["']__main__["']:\n\n?[ \t]+)import doctest\n\n?[ \t]+doctest\.testmod\(\)[ \t]*(?=\n|$)/gm,
    without: /\bdoctest\b|\b__name__[ \t]*=(?!=)/,
  },
  // The end of a child, in its own branch.
  {
    files: python,
    pattern:
      /(?<keep>^(?<outer>[ \t]*)if os\.fork\(\) == 0:\n(?<inner>\k<outer>[ \t]+)(?:\S.*\n(?:\k<inner>.*\n|\n)*?\k<inner>)?)os\._exit\(0\)[ \t]*$/gm,
    without: /\bfork[ \t]*=|\bas[ \t]+os\b|\bos[ \t]*=(?!=)/,
  },
  // What tells of an error that nobody caught changes no status by itself.
  {
    files: python,
    pattern: /^[ \t]+sys\.excepthook = \w+[ \t]*$/gm,
    without: /exit\b|\bSystemExit\b|\bquit\b|\bexec|\bkill\b|\babort\b|\bposix\b|\bsignal\b|getattr|__dict__/,
  },
  // Signals for as long as a block lasts. What a handler does, other rules read.
  {
    files: perl,
    pattern: /\blocal[ \t]+\$SIG\{(?:ALRM|INT|TERM|HUP|__WARN__)\}/g,
    without: /\bkill\b|\bgoto\b|\beval[ \t]*["'$(]|\bPOSIX\b/,
  },
  { files: perl, pattern: /\bselect\(undef, ?undef, ?undef, ?[\w.$]+\)/g },
  { files: perl, pattern: /^END \{ unlink[ \t]*\(?[@$]\w+\)?;? \}[ \t]*$/gm },
  // It is a program too: the last that it does is to run where it was started.
  { files: perl, pattern: /^main\(@ARGV\) unless caller;(?=\s*1;\s*$(?![\s\S]*\S))/gm },
  // A constant that no test has a word of.
  {
    files: shell,
    pattern: /^[ \t]*readonly (?!(?:BASH|COMP|LC|READLINE|PROMPT|POSIXLY)_)(?<name>[A-Z][A-Z\d]*_[A-Z\d_]*)=[\w./-]*[ \t]*$/gm,
    unnamed: true,
  },
  // Its own folder.
  {
    files: shell,
    pattern: /^[ \t]*(?:local )?[A-Z]\w*=["']?\$\(cd "\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\)(?:\/[./\w]*)?" && pwd\)["']?[ \t]*$/gm,
  },
  // It is a program too, as above.
  {
    files: shell,
    pattern:
      /^(?:if \[\[? "\$\{BASH_SOURCE\[0\]\}" ==? "\$\{?0\}?" \]\]?; ?then\s+main "\$@";?\s+fi|\[\[? "\$\{BASH_SOURCE\[0\]\}" ==? "\$\{?0\}?" \]\]? && main "\$@")(?=\s*$(?![\s\S]*\S))/gm,
  },
];

/** A file without what is harmless in it, line for line. */
export function withoutHarmless(path: string, text: string, testText: string): string {
  let plain = text;
  for (const { files, pattern, without, unnamed } of harmless) {
    if (!files.test(path) || text.search(pattern) === -1) continue;
    plain = plain.replace(pattern, (found, ...rest) => {
      const groups = groupsOf(rest.at(-1));
      const isNamed = unnamed === true && new RegExp(`\\b${groups["name"] ?? "\\w"}\\b`).test(testText);
      const kept = groups["keep"] ?? "";
      return isNamed ? found : kept + found.slice(kept.length).replace(/[^\n]/g, " ");
    });
    if (without?.test(plain) === true) return text;
  }
  return plain;
}

function groupsOf(value: unknown): Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
