import type { OptionTable } from "../shell/options.ts";

/**
 * What may follow the words of a rule that allows a program which runs the project's own code, or asks another place: only
 * what selects, shows or tests. Not in these tables, on purpose: files that are written (`-o`, `--junitxml`), programs and
 * plugins (`-exec`, `-p`), and settings from elsewhere (`-c`, `--config`, `--manifest-path`, `--prefix`).
 */
export interface ArgumentForm extends OptionTable {
  readonly operands: RegExp;
  /** The first one, where it stands for something else than the rest. */
  readonly first?: RegExp;
  /** What values of an option must look like; any text where none is given. */
  readonly values?: Readonly<Record<string, RegExp>>;
  /** What may follow `--`. Without it everything after is an operand. */
  readonly after?: Omit<ArgumentForm, "after">;
}

/** A path inside the folder, or a name. */
const inside = /^(?!\/|~|-|.*(?:^|\/)\.\.(?:\/|$))[^:=]*(?:::?[\w[\].:-]+)*$/;
const name = /^\w[\w.+-]*$/;
const nothing = /^(?!)/;
const list = (text: string): string[] => text.split(" ");

const cargo = {
  flags: "qvr",
  valued: "pjF",
  long: list(
    "all workspace lib bins bin= doc tests test= examples example= benches bench= all-targets release features= all-features no-default-features no-run no-fail-fast quiet verbose locked offline frozen jobs= color= message-format= package= exclude= keep-going ignore-rust-version",
  ),
  values: { p: name, package: name, exclude: name, bin: name, test: name, example: name, bench: name },
} satisfies OptionTable & { values: ArgumentForm["values"] };

const cargoTest: ArgumentForm = {
  ...cargo,
  operands: /^\w[\w:]*$/,
  after: {
    flags: "q",
    long: list("nocapture no-capture test-threads= ignored include-ignored exact skip= list quiet show-output color= format= report-time"),
    operands: /^\w[\w:]*$/,
  },
};

/** A package of this module: any other name is fetched code. */
const goPackage = /^(?!.*\/\.\.(?:\/|$))\.(?:$|\/[\w./+-]*$)|^\w+\.go$/;
const goBuild = list("v race n x a p= tags= trimpath mod= msan asan cover covermode= json");
const goTest: ArgumentForm = {
  longWithOneDash: true,
  long: [
    ...goBuild,
    ...list("run= short count= timeout= bench= failfast parallel= cpu= skip= list= benchmem benchtime= shuffle= vet= fullpath"),
  ],
  values: { mod: /^(?:readonly|vendor|mod)$/ },
  operands: goPackage,
};

const pytest: ArgumentForm = {
  flags: "qvxsl",
  valued: "kmnrp",
  long: list(
    "verbose quiet exitfirst maxfail= tb= lf last-failed ff failed-first nf new-first sw stepwise co collect-only durations= durations-min= no-header no-summary color= disable-warnings strict-markers strict-config capture= deselect= ignore= ignore-glob= show-capture= showlocals full-trace setup-show setup-only setup-plan fixtures markers timeout= keep-duplicates runxfail reruns= numprocesses= version help",
  ),
  // `-p no:x` switches a plugin off; any other value loads one.
  values: { p: /^no:\w+$/, n: /^(?:\d+|auto|logical)$/, numprocesses: /^(?:\d+|auto|logical)$/, ignore: inside },
  // `@file` brings further arguments.
  operands: /^(?!@|\/|~|-|.*(?:^|\/)\.\.(?:\/|$))[^=]+$/,
};

/** What test runners of JavaScript share. */
const scriptTest: Omit<ArgumentForm, "after"> = {
  // Not `u`: it writes snapshots anew.
  flags: "ibvxw#",
  valued: "gtk",
  long: list(
    "grep= fgrep= invert testNamePattern= test-name-pattern= testPathPattern= testPathPatterns= testPathIgnorePatterns= runInBand watch=? watchAll=? no-watch no-watchAll coverage=? no-coverage bail=? verbose silent ci reporter= reporters= run passWithNoTests pass-with-no-tests timeout= testTimeout= maxWorkers= max-workers= workers= retries= retry= shard= project= only only-failures onlyFailures onlyChanged changed=? changedSince= related findRelatedTests forceExit detectOpenHandles logHeapUsage json list listTests list-tests color=? no-color colors quiet headed fail-fast failFast forbid-only no-threads threads=? isolate=? sequence.shuffle repeat-each= repeats= last-failed expand full-trace allow-uncaught exit check noEmit pretty=? max-warnings= typecheck",
  ),
  // A reporter with a path or a package's name is code.
  values: {
    reporter:
      /^(?:default|verbose|dot|spec|json|line|list|min|tap|nyan|progress|basic|github|github-actions|html|junit|tap-flat|landing|summary)$/,
    reporters: /^(?:default|verbose|dot|json|summary|github-actions)$/,
    // Elsewhere these are a folder, with settings of its own.
    project: name,
    coverage: /^(?:true|false)$/,
    watch: /^(?:true|false)$/,
    watchAll: /^(?:true|false)$/,
    changed: /^(?!-)[\w./~^@{}-]+$/,
  },
  operands: inside,
};
const script: ArgumentForm = {
  flags: "s",
  valued: "w",
  long: list("silent if-present workspace= workspaces include-workspace-root loglevel= stream parallel recursive"),
  values: { w: inside, workspace: inside },
  operands: nothing,
  after: scriptTest,
};
/** These hand over what follows without a `--`. */
const directScript: ArgumentForm = { ...scriptTest, after: scriptTest };

const remoteName = /^[A-Za-z][\w.-]*$/;

export const argumentForms: ReadonlyMap<string, ArgumentForm> = new Map<string, ArgumentForm>([
  ["cargo test", cargoTest],
  ["cargo nextest run", { ...cargoTest, operands: /^\w[\w:]*$/ }],
  ...["build", "check", "clippy", "doc"].map((verb) => [`cargo ${verb}`, { ...cargo, operands: nothing }] as const),
  ["cargo fmt", { flags: "qv", long: list("all check"), operands: nothing, after: { long: ["check"], operands: inside } }],
  [
    "cargo tree",
    { valued: "ipe", flags: "d", long: list("depth= invert= duplicates edges= package= prefix= no-dedupe"), operands: nothing },
  ],
  ["go test", goTest],
  ["go vet", { longWithOneDash: true, long: list("v n x json tags= c="), operands: goPackage }],
  ["go build", { longWithOneDash: true, long: goBuild, operands: goPackage }],
  [
    "go list",
    { longWithOneDash: true, long: list("f= json m deps test e compiled find"), operands: new RegExp(`${goPackage.source}|^(?:all|std)$`) },
  ],
  [
    "tail",
    { flags: "#fFqvz", valued: "cns", long: list("follow=? retry pid= bytes= lines= sleep-interval= quiet silent verbose"), operands: /^/ },
  ],
  ...["pytest", "python -m pytest", "python3 -m pytest"].map((words) => [words, pytest] as const),
  ["py.test", pytest],
  ...list("npm test|npm t|npm run|npm run-script|npm start".replaceAll(" ", "_").replaceAll("|", " ")).map(
    (words) => [words.replaceAll("_", " "), script] as const,
  ),
  ["npx vitest", scriptTest],
  ["npx jest", scriptTest],
  ...list("vitest jest mocha ava").map((program) => [program, scriptTest] as const),
  ...list("pnpm yarn bun").flatMap((manager) => [[`${manager} test`, directScript] as const, [`${manager} run`, directScript] as const]),
  [
    "git fetch",
    {
      flags: "vqtn46",
      valued: "j",
      long: list(
        "dry-run verbose quiet all tags no-tags depth= deepen= unshallow progress no-progress jobs= auto-gc no-auto-gc porcelain ipv4 ipv6",
      ),
      // A first operand with a slash is a folder. A refspec with a colon, or a plus, moves branches here.
      first: remoteName,
      operands: /^(?!.*\.\.)[A-Za-z][\w./-]*$/,
    },
  ],
  [
    "git ls-remote",
    {
      flags: "htqb",
      long: list("heads branches tags refs symref quiet exit-code sort= get-url"),
      first: remoteName,
      operands: /^(?!.*\.\.)(?:[A-Za-z*][\w.*-]*|(?:refs\/)[\w./*-]+|v\d[\w.*-]*)$/,
    },
  ],
  ["git remote show", { flags: "n", operands: remoteName }],
  ["docker ps", { flags: "aqls", valued: "fn", long: list("all quiet latest size no-trunc filter= format= last="), operands: nothing }],
  ["docker images", { flags: "aq", valued: "f", long: list("all quiet digests no-trunc filter= format= tree"), operands: /^[\w./:-]+$/ }],
  ["docker logs", { flags: "t", valued: "n", long: list("tail= since= until= timestamps details"), operands: name }],
  ["docker inspect", { flags: "s", valued: "f", long: list("format= size type="), operands: /^\w[\w./:-]*$/ }],
  [
    "kubectl get",
    {
      flags: "Aw",
      valued: "nlo",
      long: list("namespace= all-namespaces selector= output= show-labels no-headers field-selector= watch sort-by= ignore-not-found"),
      values: { o: /^(?:wide|name|json|yaml)$/, output: /^(?:wide|name|json|yaml)$/ },
      // Secrets are asked about, in whatever list they stand.
      operands: /^(?!(?:.*,)?secrets?(?:[.,/]|$))\w[\w./,-]*$/i,
    },
  ],
  ...list("make gmake just").map(
    (program) =>
      [program, { flags: "skBn", counted: "jl", long: list("silent keep-going dry-run jobs=? just-print"), operands: nothing }] as const,
  ),
  ["tsc", { flags: "p", long: list("noEmit pretty=? skipLibCheck strict listFiles showConfig version"), operands: nothing }],
]);
