/**
 * How a line tells a checker to pass over it, with the tools that heed it. A further one in a source counts where the check
 * runs such a tool: then the check must pass with the earlier version of the file too. Listed in docs/checks.md.
 */
interface Silencer {
  readonly tool: RegExp;
  readonly files: RegExp;
  readonly pattern: RegExp;
  /** It is used for other reasons, too: it counts only where the check does nothing but check types. */
  readonly onlyOfTypes?: true;
}

const script = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/;
const python = /\.pyi?$/;
const typesOfScripts = /\b(?:(?:vue-)?tsc|tsgo|svelte-check|ts-jest|ts-node|deno (?:check|test)|astro check)\b/;
const typesOfPython = /\b(?:mypy|dmypy|(?:based)?pyright|pyre|pytype|ty check)\b/;

const silencers: readonly Silencer[] = [
  { tool: typesOfScripts, files: script, pattern: /@ts-(?:ignore|expect-error|nocheck)\b/g },
  {
    tool: typesOfScripts,
    files: script,
    pattern: /(?:[:<,|&]|\bas\b|\bextends\b)\s*any\b(?!\s*\()|\bas\s+(?:unknown\s+as|never)\b/g,
    onlyOfTypes: true,
  },
  {
    // Rules that are set, and names that are declared, in the file itself.
    tool: /\b(?:eslint|oxlint|xo|standard)\b/,
    files: script,
    pattern: /\/\*\s*(?:eslint(?:-env)?\s+[\w@"'-]|globals?\s+\w|exported\s+\w)/g,
  },
  {
    tool: /\b(?:c8|nyc|istanbul|tarpaulin|llvm-cov|simplecov|phpunit|jacoco)\b|\bcov(?:erage)?\b/,
    files: /(?:)/,
    pattern:
      /\b(?:istanbul|c8|v8)\s+ignore\b|\bnode:coverage\s+(?:disable|ignore)\b|#\s*pragma:\s*no\s*(?:cover|branch)\b|#\[\s*coverage\s*\(\s*off|:nocov:|@codeCoverageIgnore/g,
  },
  {
    // With a zero byte in it a text is passed over.
    tool: /\b[ef]?grep\s[^\n;|&]*-\w*I|--binary-files=without-match|\b(?:rg|ag|ack)\b/,
    files: /(?:)/,
    pattern: /\0/g,
  },
  { tool: /\b(?:eslint|oxlint|xo|standard)\b/, files: script, pattern: /\b(?:eslint|oxlint)-disable(?:-(?:next-)?line)?\b/g },
  { tool: /\bdeno lint\b/, files: script, pattern: /\bdeno-lint-ignore\b/g },
  { tool: /\bbiome\b/, files: script, pattern: /\bbiome-ignore(?:-all|-start)?\b/g },
  { tool: /\b(?:prettier|oxfmt|dprint)\b/, files: /(?:)/, pattern: /\b(?:prettier|oxfmt|dprint)-ignore(?:-start|-file)?\b/g },
  { tool: /\bstylelint\b/, files: /(?:)/, pattern: /\bstylelint-disable\b/g },
  {
    tool: typesOfPython,
    files: python,
    pattern: /#\s*(?:type|mypy|pyright|pyre|pytype|ty)\s*:\s*(?:ignore|disable|basic)|@(?:typing\.)?no_type_check\b/g,
  },
  {
    tool: typesOfPython,
    files: python,
    pattern: /(?::|->|[[,|])\s*(?:typing\.)?Any\b|\bcast\(\s*["']?(?:typing\.)?Any\b/g,
    onlyOfTypes: true,
  },
  {
    tool: /\b(?:ruff|flake8|pycodestyle|pydocstyle|pylint|bandit|isort)\b/,
    files: python,
    pattern: /#\s*(?:noqa\b|nosec\b|pylint\s*:\s*disable|ruff\s*:\s*(?:noqa|ignore|disable)|isort\s*:\s*skip)/g,
  },
  { tool: /\b(?:black|ruff format|yapf)\b/, files: python, pattern: /#\s*(?:fmt|yapf)\s*:\s*(?:off|skip|disable)/g },
  { tool: /\b(?:clippy|RUSTFLAGS)\b/, files: /\.rs$/, pattern: /#!?\[\s*(?:allow|expect)\s*\(/g },
  {
    tool: /\b(?:golangci-lint|staticcheck|revive|gosec)\b/,
    files: /\.go$/,
    pattern: /\/\/\s*(?:nolint|lint:(?:file-)?ignore|revive:disable|#nosec)/g,
  },
  { tool: /\b(?:rubocop|standardrb)\b/, files: /\.rb$/, pattern: /#\s*(?:rubocop|standard)\s*:\s*(?:disable|todo)/g },
  { tool: /\bshellcheck\b/, files: /(?:)/, pattern: /#\s*shellcheck\s+disable/g },
  { tool: /\b(?:phpstan|psalm|phpcs|larastan)\b/, files: /\.php$/, pattern: /@phpstan-ignore|@psalm-suppress|phpcs:(?:ignore|disable)/g },
  {
    tool: /\b(?:checkstyle|pmd|spotbugs|errorprone|ktlint|detekt)\b/i,
    files: /\.(?:java|kts?)$/,
    pattern: /@Suppress(?:Warnings|FBWarnings)?\b|\bNOPMD\b|\bktlint-disable\b/g,
  },
];

const runsTests = /\btests?\b|\b(?:vitest|jest|mocha|ava|playwright|cypress|pytest|unittest|tox|nox)\b/;

const scriptInJavaScript = /\.[cm]?jsx?$/;
const linters = /\b(?:eslint|oxlint|xo|standard)\b/;
/** What goes through folders, and may pass over a link that it finds there. */
const searches = /\bgrep\s[^\n;|&]*-\w*r|\b(?:rg|ag|ack|find)\b/;

interface Moved {
  readonly path: string;
  readonly kind: string;
  /** Null where there was no such file. */
  readonly wasKind: string | null;
  readonly isGone: boolean;
}

/** Whether a file goes where a checker does not look: it becomes a link, or gets another ending in place of its own. */
export function leavesChecker(one: Moved, all: readonly Moved[], commands: string): boolean {
  const isChecked = silencers.some(({ tool, files, onlyOfTypes }) => onlyOfTypes !== true && files.test(one.path) && tool.test(commands));
  if (runsTests.test(commands) || !(isChecked || searches.test(commands))) return false;
  if (one.kind === "link" && one.wasKind !== null && one.wasKind !== "link") return true;
  if (!script.test(one.path) || (!one.isGone && one.wasKind !== null)) return false;
  const stem = (path: string): string => path.replace(/\.\w+$/, "");
  return all.some((other) => {
    if (other.isGone === one.isGone || stem(other.path) !== stem(one.path)) return false;
    const [gone, come] = one.isGone ? [one, other] : [other, one];
    if (come.wasKind !== null || !script.test(gone.path) || !scriptInJavaScript.test(come.path)) return false;
    return linters.test(commands) || (typesOfScripts.test(commands) && !scriptInJavaScript.test(gone.path));
  });
}

/** Whether a file has more such lines than it had. `commands`: the check's command with all that it leads to. */
export function silencesLines(path: string, was: string | null, is: string, commands: string): boolean {
  const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
  return silencers.some(
    ({ tool, files, pattern, onlyOfTypes }) =>
      files.test(path) &&
      tool.test(commands) &&
      !(onlyOfTypes === true && runsTests.test(commands)) &&
      count(is, pattern) > count(was ?? "", pattern),
  );
}
