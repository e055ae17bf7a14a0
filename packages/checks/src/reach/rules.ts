import { compiledRules } from "./compiled-rules.ts";
import { shellRules } from "./shell-rules.ts";
import type { ReachRule } from "./rule.ts";

const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$/;
const python = /\.pyi?$/;
const perlModule = /\.pm$/;
const ruby = /\.rb$/;
const any = /(?:)/;

const rules: readonly ReachRule[] = [
  {
    id: "silences a checker for the whole file",
    files: any,
    pattern:
      /@ts-nocheck\b|eslint-disable(?!-(?:next-)?line)|(?:oxlint|biome)-(?:disable|ignore-all)(?!-(?:next-)?line)|#\s*(?:flake8|ruff)\s*:\s*noqa|#\s*mypy\s*:\s*ignore-errors|^#\s*type:\s*ignore\s*$|#\s*pylint\s*:\s*(?:skip-file|disable=all)|#!\[allow\(|istanbul ignore file|c8 ignore start|^\/\/\s*nolint\b/m,
  },
  {
    id: "names a test library",
    files: script,
    pattern:
      /(?:\bfrom|\bimport|\brequire|\bmock)\s*\(?\s*["'`](?:node:test|vitest|@vitest\/[\w-]+|@jest\/[\w-]+|jest(?:-[\w-]+)?|mocha|chai|ava|tap|tape|expect|sinon|uvu|bun:test|@playwright\/test)(?:\/[\w/.-]*)?["'`]/,
  },
  {
    id: "names a test library",
    files: python,
    pattern: /^\s*(?:from|import)\s+(?:[\w.]+\s*,\s*)*(?:unittest|_?pytest|nose2?|doctest|pluggy|hypothesis|mock)\b/m,
  },
  {
    id: "names a test library",
    files: python,
    pattern: /sys\.modules[^\n]*(?:unittest|pytest)|["'](?:unittest|_?pytest)(?:\.[\w.]+)?["']/,
  },
  {
    // What unittest asks a package for by name. Hooks of pytest count only where its own files name their module.
    id: "says which tests run",
    files: python,
    pattern: /\b(?:load_tests|setUpModule|_testMethodName)\b/,
  },
  { id: "names a test library", files: perlModule, pattern: /\bTest::(?!\w+::Plugin)\w+|\bTest2\b|\bTAP::/ },
  {
    id: "names a test library",
    files: ruby,
    pattern: /\b(?:Minitest|RSpec|Test::Unit)\b|require\s*\(?\s*["'](?:minitest|rspec|test\/unit)/,
  },
  {
    id: "names a test library",
    files: /(?<!_test)\.go$/,
    pattern: /^\s*(?:import\s+)?(?:\w+\s+)?"(?:testing|github\.com\/stretchr\/testify[^"]*)"/m,
  },
  { id: "names a test library", files: /\.php$/, pattern: /\bPHPUnit\\/ },
  {
    id: "changes what tests compare with",
    files: script,
    pattern:
      /\bassert(?:\.strict)?\s*(?:\[[^\]\n]+\]|\.\w+)\s*=[^=]|Object\.(?:assign|definePropert\w+|setPrototypeOf)\(\s*(?:assert|expect)\b|\bexpect\s*\.\s*(?:extend|prototype)|\bglobal(?:This)?\s*(?:\.|\[\s*["'])\s*(?:expect|assert|test|it|describe|jest|vi)\b|\bglobal(?:This)?\s*(?:\?\.\s*)?\[\s*(?!(?:["'`][\w$]+["'`]|Symbol\.for\([^)\n]*\))\s*\])/,
  },
  { id: "changes what tests compare with", files: script, pattern: /asymmetricMatch/ },
  {
    id: "changes what all programs are made of",
    files: script,
    // How long a stack is, constants and properties of a logger's own are nothing that a test compares with.
    pattern:
      /\b(?:Object|Array|String|Number|Boolean|Symbol|Function|Math|JSON|Reflect|Promise|Error|Date|RegExp|Map|Set|fs)(?:\.prototype)?\s*(?:\.(?!(?:stackTraceLimit|[A-Z][A-Z\d_]*)\b)\w+|\[[^\]\n]+\])\s*=[^=>]|\bconsole\s*(?:\.\s*(?:log|info|warn|error|debug|trace|assert|dir|table|group\w*|time\w*|count\w*|clear)|\[[^\]\n]+\])\s*=[^=>]|\bprocess\.(?:stdout|stderr)\.\w+\s*=[^=]|\bprocess\.\w+\s*=\s*(?:\(|function|async|\w+\s*=>)|Object\.(?:assign|definePropert\w+)\(\s*(?:Object|Array|String|Number|Math|JSON|Promise|Error|console|fs|process)\b(?!\s*\.\s*(?!prototype\b)\w)/,
  },
  {
    id: "changes what all programs are made of",
    files: python,
    pattern:
      /^\s*(?:builtins|__builtins__|json|os|io|sys|math|operator|csv|pathlib|subprocess|time|random)\.(?!path\b|environ\b|argv\b)\w+\s*=[^=]|\bsys\.(?:excepthook|unraisablehook|displayhook|stdout|stderr)\s*=[^=]|\bexcepthook\s*=/m,
  },
  {
    id: "looks into who calls it",
    files: python,
    pattern:
      /\b(?:_getframe|currentframe|f_back|f_locals|f_globals|extract_stack|format_stack|walk_stack|settrace|setprofile|get_objects|get_referrers|_current_frames)\b|\binspect\.stack\b|\bimport\s+(?:__main__|ctypes)\b|\bsys\.monitoring\b/,
  },
  {
    id: "is equal to everything",
    files: python,
    pattern:
      /def\s+__(?:eq|ne|lt|le|gt|ge)__\s*\([^)]*\)[^:\n]*:(?:\s|#[^\n]*\n|"""[^"]*""")*return\s+(?:True|False|1|0|not\s+(?:False|True|None))\b|__(?:eq|ne)__\s*=\s*lambda/,
  },
  {
    id: "is equal to everything",
    files: perlModule,
    pattern:
      /['"]?(?:eq|==)['"]?\s*=>\s*sub\s*\{\s*(?:return\s*)?\(?\s*(?:1|!0|!!1)\s*\)?\s*;?\s*\}|\boverload\b[^;]*(?:eq|==)\W{0,3}\s*=>\s*sub\s*\{(?![^}]*(?:[$@]|\bshift\b))[^}]*\}/,
  },
  { id: "is equal to everything", files: ruby, pattern: /def\s+(?:==|eql\?|===)\s*\(?[^)\n]*\)?\s*(?:=|;|\n)\s*true\b/ },
  {
    id: "steers how the tests' process ends",
    files: python,
    pattern:
      /\bsys\.exit\s*=[^=]|setattr\(\s*(?:sys|os)\b|atexit\.register\([^\n]*exit|\bos\._exit\(\s*(?:0|os\.EX_OK)?\s*\)|\bos\.exec[lv]p?e?\b/,
  },
  {
    id: "steers how the tests' process ends",
    files: script,
    pattern:
      /\bprocess\s*\.\s*exitCode\s*=\s*0\b|\bprocess\.(?:reallyExit|execve|setUncaughtExceptionCaptureCallback)\b|definePropert\w+\(\s*process\b|["'`](?:node:)?domain["'`]/,
  },
  {
    id: "steers how the tests' process ends",
    files: perlModule,
    pattern:
      /\bEND\s*\{|\bCORE::GLOBAL::|\b_exit\b|^\s*(?:exit|exec)\b|(?:\band|\bor|&&|\|\||[)\]}]|\bCORE::)\s*(?:exit|exec)\b(?!\s*\(?\s*[1-9])|[;{]\s*(?:exit|exec)\b|\$SIG\{/m,
  },
  {
    id: "steers how the tests' process ends",
    files: ruby,
    pattern: /\bat_exit\b|\bexit!?\s*\(?\s*(?:0|true)?\s*\)?\s*$|\bexit!\s*\(?\s*(?:0|true)\b|^\s*exec\b/m,
  },
  {
    id: "steers how the tests' process ends",
    files: /(?<!_test)\.go$/,
    pattern: /\bfunc\s+init\s*\(\s*\)[^}]*\b(?:os|syscall)\.Exit\(\s*0/,
  },
  { id: "steers how the tests' process ends", files: /\.php$/, pattern: /^(?:exit|die)\s*(?:\(\s*0?\s*\))?\s*;/m },
  {
    id: "redefines what tests are made of",
    files: perlModule,
    pattern:
      /\*\{\s*["'](?:main|CORE)|\*(?:main|CORE|UNIVERSAL)::|\*\{[^}\n]*(?:["']main["']|caller|["']\s*\.)|\bsub\s+(?:main|UNIVERSAL|CORE)::|^\s*package\s+main\b|\bno\s+warnings\b[^;\n]*redefine|\bopen\s*\(?\s*(?:my\s+\w+\s*,\s*)?\*?STD(?:OUT|ERR)\b|\bselect\s*\(|["'](?:not )?ok \d|\bB::\w|\bStash\b|@EXPORT\w*\s*=[^;]*\b(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|pass|fail|subtest|plan|done_testing)\b/m,
  },
  {
    id: "asks whether it is tested",
    files: any,
    pattern:
      /\b(?:NODE_TEST_CONTEXT|VITEST(?:_[A-Z_]+)?|JEST_WORKER_ID|npm_lifecycle_\w+|PYTEST_(?:CURRENT_TEST|VERSION|XDIST_\w+)|HARNESS_(?:ACTIVE|VERSION)|BATS_[A-Z_]+|RUST_TEST_\w+|PYTHONPYCACHEPREFIX|PYTHONDONTWRITEBYTECODE|HOLDFAST_(?:RUN|DEPTH)|XDG_CACHE_HOME|GOCACHE|DENO_DIR|CCACHE_DIR|npm_config_cache|(?:PIP|UV|BUN_INSTALL)_CACHE_DIR|YARN_CACHE_FOLDER|TURBO_FORCE|NX_(?:SKIP|DISABLE)_NX_CACHE|GRADLE_USER_HOME|CARGO_NET_OFFLINE|npm_config_offline)\b|\b(?:dont_write_bytecode|pycache_prefix)\b|\bPPID\b|\bgetppid\b|\bprocess\.(?:ppid|execArgv)\b|\/proc\/(?:self|\$|["'`+])/,
  },
  {
    id: "asks whether it is tested",
    files: script,
    pattern:
      /\bprocess\.argv\s*(?:\[\s*[01]\s*\]|\.(?:some|find|join|at|toString|includes\((?!\s*["'`]-)))(?![^\n]*(?:import\.meta|__filename))|\bprocess\.env\s*\[(?!\s*["'`][^"'`]+["'`]\s*\])|\b(?:in|of|\(|\.\.\.)\s*process\.env\b(?!\s*[.[])|\{[^}\n]*\}\s*=\s*process\.env\b|\brequire\.(?:main|cache)\b|\bmodule\.(?:parent|children)\b|\bprepareStackTrace\b|\bgetCallSites?\b/,
  },
  {
    id: "asks whether it is tested",
    files: python,
    pattern:
      /\benviron\b[^\n]{0,20}[[(][^\])\n]*(?:\+|join|%|format)|\bin\s+os\.environ\b(?!\s*\.\s*get)|\benviron\.(?:keys|items|values|copy)\b|\bdict\(\s*os\.environ|\bsys\.(?:orig_argv|argv\s*\[\s*0\s*\])|\bfor\s+\w+\s+in\s+sys\.argv\b(?!\s*\[\s*1)|\bwarnings\.filters\b|\b_handlerList\b|\bthreading\.excepthook\b(?!\s*=)|\b__cached__\b|import_module\(\s*["']__main__|\bismount\(|join\(\s*sys\.argv\b|\bsys\.modules\b(?!\[__name__\])/,
  },
  { id: "asks whether it is tested", files: perlModule, pattern: /\bcaller\b|%INC\b|%ENV\b|\$ENV\{[^}'"\w]|\$ENV\{["']?\w*["']?\s*\./ },
  {
    id: "asks whether it is tested",
    files: script,
    // A pattern that is tried is no test.
    pattern:
      /\b(?:argv|stack|require\.main|mainModule)\b[^\n]{0,80}\b(?!(?<=\.)test\s*\()(?:tests?|spec)(?:_|\b)|\b(?!(?<=\.)test\s*\()(?:tests?|spec)(?:_|\b)[^\n]{0,60}\b(?:argv|stack|require\.main|mainModule)\b|\bNODE_ENV\b[^\n]{0,30}["'`]test["'`]|["'`]test["'`][^\n]{0,30}\bNODE_ENV\b/,
  },
  {
    id: "asks whether it is tested",
    files: python,
    pattern:
      /\b(?:argv|_getframe|extract_stack|inspect\.stack|sys\.modules|__main__\W)[^\n]{0,80}\btest|\btest[^\n]{0,60}\b(?:argv|_getframe|extract_stack|inspect\.stack|sys\.modules)\b/,
  },
  { id: "asks whether it is tested", files: perlModule, pattern: /\$0\b|\$INC\{/ },
  { id: "asks whether it is tested", files: /\.rs$/, pattern: /\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\b|#\[cfg\(\s*not\s*\(\s*test\b/ },
  {
    // A thread's name that something hangs on; one that is only told is none.
    id: "asks whether it is tested",
    files: /\.rs$/,
    pattern:
      /\bcurrent\(\s*\)\s*\.\s*name\(\s*\)\s*(?:[=!]=|\.\s*(?:map_or(?:_else)?\([^)\n]*[=!]=|map_or(?:_else)?\([^;]*\b(?:contains|starts_with|ends_with|matches)\b|map\([^;]*(?:[=!]=|\bcontains\b|\bstarts_with\b|\bends_with\b)|is_(?:some|none)\w*|unwrap\w*\([^)\n]*\)\s*(?:[=!]=|\.\s*(?:contains|starts_with|ends_with|eq|ne)\b)))|(?:[=!]=|\bmatch|\bmatches!\s*\()\s*(?:std::)?(?:thread::)?current\(\s*\)\s*\.\s*name\(/,
  },
];

/** A script in Perl that tests load is held to what a module is; one that runs alone may end as it likes. */
export const reachRules: readonly ReachRule[] = [
  ...rules,
  ...shellRules,
  ...compiledRules,
  ...rules.filter(({ files }) => files === perlModule).map((rule): ReachRule => ({ ...rule, files: /\.pl$/, onlySourced: true })),
];

/** Whether code of a language that has a rule for it names a test library. */
export function namesTestLibrary(path: string, text: string): boolean {
  return rules.some(({ id, files, pattern }) => id === "names a test library" && files.test(path) && pattern.test(text));
}

/**
 * What could reach the tests of its own process by a way that no pattern can read. Where new lines do such a thing, the
 * check runs once more in a copy, with the test library guarded (watch.ts).
 */
export const mayReach: readonly { readonly files: RegExp; readonly pattern: RegExp }[] = [
  {
    files: script,
    pattern:
      /\bassert\b|getBuiltinModule|createRequire|\benv\s*\[[^\]\n]*\+|\b(?:import|require)\s*\(\s*[^"'`)\s]|\b(?:import|require)\s*\([^)\n]*\+|\bglobal(?:This)?\b|\beval\b|\bFunction\s*\(|\bReflect\b|definePropert|setPrototypeOf|__proto__|\bProxy\b|\bconstructor\s*[.[(]|node:(?:vm|module|inspector|worker_threads)|syncBuiltinESMExports/,
  },
  {
    // Any use of the process but what only asks it; the word in a sentence, and a function of that name, are none.
    files: script,
    pattern:
      /(?<![-/]|(?<!\.\.)\.\s*)\bprocess\b(?!\s*\(|[ \t]+(?!as\b|instanceof\b|satisfies\b)[a-zA-Z]|\s*\??\.\s*(?:env|argv|cwd|platform|pid|versions?|arch|memoryUsage|hrtime|nextTick|uptime|std(?:in|out|err))\b)/,
  },
  {
    // What all programs are made of, under another name.
    files: script,
    pattern:
      /(?:[=(,:?[&|]|=>|\breturn|\b[io][nf])\s*(?:JSON|Math|Reflect|Object|Array|String|Number|Boolean|Promise|Symbol|Map|Set|Date|RegExp|Error|Function|console)(?:\s*\.\s*prototype\b|\s*(?:[;,)\]}?]|$))/m,
  },
  {
    files: python,
    pattern:
      /\b(?:builtins|atexit|gc|inspect|importlib|ctypes|signal|__import__|setattr|globals|vars|exec|eval|compile|_getframe|__builtins__|__dict__|__eq__|__ne__|__class__|__subclasses__|settrace|setprofile|modules|_exit|SystemExit|posix|nt|execv?[lpe]*|__contains__)\b|getattr\(\s*(?:sys|os|builtins)\b|["']_\w*["']|["']\w*_["']|\btype\(\s*["']|class\s+\w+\([^)]*\b(?:int|float|str|bytes|bool|tuple|list|dict|set)\b|\bsys\.(?:exit|stderr|stdout)\b|\b(?:exit|quit)\s*\(/,
  },
  {
    // Any use of these but what only asks, and these under another name.
    files: python,
    pattern:
      /^[ \t]*from\s+(?:os|sys)\s+import\s+(?!(?:path|environ|getenv|argv|listdir|walk|scandir|makedirs|mkdir|remove|sep|linesep|name|PathLike|fspath|platform|version_info|maxsize|stdin)\b(?:[ \t]*,[ \t]*(?:path|environ|getenv|argv|listdir|walk|scandir|makedirs|mkdir|remove|sep|linesep|name|PathLike|fspath|platform|version_info|maxsize|stdin)\b)*[ \t]*(?:#|$))|\bimport\b[^\n#]*\b(?:os|sys)\s+as\b|(?<!^[ \t]*import\b[^\n]*)[=(,[{:]\s*(?:os|sys)\s*(?:[,)\]};]|$)|\bos\s*\.\s*(?:exec|kill|abort|fork|spawn|posix|dup|close)/m,
  },
];

/** What makes runs differ: chance, the clock, and files that one run leaves for the next. */
export const mayDiffer =
  /\brand(?:om|int|omBytes|omUUID|range)?\b|\bRANDOM\b|urandom|getRandomValues|\buuid|\bsecrets?\.|Date\.now|new Date\(\s*\)|hrtime|performance\.now|\btime\.(?:time|monotonic|perf_counter)|datetime\.(?:now|utcnow|today)|\btime\(\)|\bdate \+|\bmtime|tempfile|tmpdir|\bTMPDIR\b|\/tmp\/|append_?file|\.append\(\s*true|o_append|append_(?:text|bytes|all)|filemode\.append|>>|(?:[=:,]|\bopen\()\s*["'][aw][bt]?\+?["'](?!\s*\])|\bpid\b|\$\$/i;
