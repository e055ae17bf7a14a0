import type { ReachRule } from "./rule.ts";

const rust = /\.rs$/;
/** A program of its own ends as it likes, and has its arguments. */
const rustLibrary = /^(?!(?:.*\/)?(?:main\.rs|bin\/[^/]+)$).*\.rs$/;
const c = /\.(?:c|h|cc|cpp|cxx|hh|hpp|hxx)$/;
const java = /\.java$/;

/** What a source of a compiled language must not do to the tests that it is built with. */
export const compiledRules: readonly ReachRule[] = [
  {
    id: "redefines what tests are made of",
    files: rust,
    pattern:
      /\bmacro_rules!\s*(?:(?:debug_)?assert\w*|panic|matches|unreachable|vec|format)\b|\blink_section\b|\bno_mangle\b[^{]*\b_?exit\b/,
  },
  { id: "steers how the tests' process ends", files: rustLibrary, pattern: /\bprocess::exit\s*\(\s*0\s*\)|\b(?:libc::)?_exit\s*\(/ },
  {
    id: "asks whether it is tested",
    files: rustLibrary,
    pattern:
      /\bcurrent_exe\s*\(|\benv!?\s*(?:::\s*var(?:_os)?\s*)?\(\s*"CARGO_|\benv::vars|\bargs(?:_os)?\s*\(\s*\)\s*\.\s*(?:next\s*\(|nth\s*\(\s*0|any\s*\(|collect)/,
  },
  {
    id: "redefines what tests are made of",
    files: c,
    pattern: /#\s*(?:define|undef)\s+(?:NDEBUG|_?_?assert\w*|str\w*cmp|memcmp|if|return|main|abort|exit)\b|\b__assert_(?:fail|rtn)\b/,
  },
  {
    id: "asks whether it is tested",
    files: c,
    pattern:
      /#\s*ifn?def\s+(?:NDEBUG|__OPTIMIZE__)|\bdefined\s*\(?\s*(?:NDEBUG|__OPTIMIZE__)|#\s*if\b[^\n]*__OPTIMIZE__|\b__(?:BASE_FILE|INCLUDE_LEVEL)__\b|\bprogram_invocation_(?:short_)?name\b|\bgetprogname\b/,
  },
  {
    id: "redefines what tests are made of",
    files: java,
    pattern:
      /\b(?:class|interface|record|enum)\s+(?:System|Objects|Math|String|Integer|Long|Double|Boolean|Object|Arrays|List|Set|Map|Assertions?|Assert|AssertionError|Thread|Runtime|Throwable|Error)\b/,
  },
  {
    id: "steers how the tests' process ends",
    files: java,
    pattern: /\.\s*halt\s*\(|\bset(?:Default|Class|Package)AssertionStatus\b|\bsetDefaultUncaughtExceptionHandler\b/,
  },
  {
    id: "asks whether it is tested",
    files: java,
    pattern:
      /\bcurrentThread\s*\(\s*\)\s*\.\s*getStackTrace\b|\bStackWalker\b|\bnew\s+(?:Throwable|Exception|Error)\s*\([^)]*\)\s*\.\s*getStackTrace\b|sun\.java\.command|\bdesiredAssertionStatus\b|\bassert\s+\(?\s*\w+\s*=[^=]/,
  },
];
