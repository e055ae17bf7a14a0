import type { ReachRule } from "./rule.ts";

const shell = /(?:\.(?:sh|bash|zsh|ksh|inc|bats)|(?:^|\/)[^./]+)$/;
const defined = String.raw`(?:^|[;&|{])[ \t]*(?:function[ \t]+)?`;
/** Programs by which tests compare, count and select. */
const used =
  "wc|sort|uniq|cut|tr|sed|awk|head|tail|cat|comm|paste|join|tee|xargs|date|find|ls|seq|read|mapfile|readarray|let|expr|bc|jq|cksum|md5sum|sha\\d+sum|sum|od|xxd|tac|rev|nl|mktemp|sleep|wait|kill|command|type|which|python3?|node|perl|ruby|make|git|curl";

/** What a shell file must not do to the shell that it shares with tests that load it. */
export const shellRules: readonly ReachRule[] = [
  {
    id: "redefines what tests are made of",
    files: shell,
    pattern:
      /(?:^|[;&|{'"]|\bfunction)\s*(?:\[|test|exit|return|true|false|echo|printf|set|trap|command|builtin|cmp|diff|grep)\s*\(\s*\)|\bfunction\s+(?:\[|(?:test|exit|return|true|false|echo|printf|set|trap|command|builtin|cmp|diff|grep)\b)|^\s*alias\s|\benable\s+-n\b|\b(?:readonly|eval|shopt)\b|\b(?:declare|typeset|local)\s+-\w*r|command_not_found_handle|\bhash\s+-p|(?:^|[\s;&|({])(?:\.|source)\s+(?:<\(|\/(?:dev|proc)\/)|(?:^|[;&|{]|\bexport)\s*PATH=|(?:^|[;&|{])\s*(?:not )?echo ["']?(?:not )?ok \d/m,
    onlySourced: true,
  },
  {
    id: "redefines what tests are made of",
    files: shell,
    pattern: /(?:^|[;&|{'"]|\bfunction)\s*((?:assert|ok|is|not|fail|check|expect|pass)\w*)(?:\s*\(\s*\)|(?<=\bfunction\s+\w+)(?!\w))/gm,
    onlySourced: true,
    namedByTests: "named",
  },
  {
    // A variable of the tests that changes what it is given: to a number, to capitals, to what another one holds.
    id: "redefines what tests are made of",
    files: shell,
    pattern:
      /(?:^|[;&|{])[ \t]*(?:(?:builtin|command)[ \t]+)?(?:(?:declare|typeset)[ \t]+(?:[-+]\w+[ \t]+)*?-\w*[inulc]\w*|integer|nameref)[ \t]+([^\n;|&]+)/gm,
    onlySourced: true,
    namedByTests: "set",
  },
  {
    id: "steers how the tests' process ends",
    files: shell,
    pattern:
      /\btrap\b(?!\s+(?:--\s+)?(["'])rm(?:dir)?\s[^;&|()`<>\n]*\1(?:\s+(?:0|EXIT|INT|TERM|HUP|RETURN))+\s*(?:[;\n]|$))|\bset\s+(?:\+\w*[eu]|\+o\s+(?:errexit|pipefail|nounset)|-\w*n\w*\b|-o\s+noexec)|(?:^|[;&|{()]|\bthen|\bdo|\belse)\s*(?:(?:builtin|command)\s+)*exit\b(?!\s+["']?(?:[1-9]|\$\{\w+:?-[1-9]))|(?:^|[;&|{()]|\bthen|\bdo|\belse)\s*(?:[a-z]+(?:""|''|\\)[a-z]+|\\(?:exit|trap))\s|\bkill\b[^\n]*\$\$|\bexec\b/m,
    onlySourced: true,
  },
  {
    // One that only removes files still takes the place of the tests' own, but for one in a function with a shell of its own.
    id: "steers how the tests' process ends",
    files: shell,
    pattern: /(?<!\(\)[ \t]*\n?\((?:(?!\n\))[\s\S]){0,2000})\b(trap)\b/g,
    onlySourced: true,
    namedByTests: "named",
  },
  { id: "asks whether it is tested", files: shell, pattern: /\$\{?0\b|\$\{?BASH_SOURCE|\$\{?FUNCNAME|\bcaller\b/, onlySourced: true },
  { id: "asks whether it is tested", files: shell, pattern: /\b(?:printenv|compgen)\b|\benv\s*\||\bps\s+-/ },
  {
    id: "redefines what tests are made of",
    files: shell,
    pattern: new RegExp(`${defined}(${used})[ \\t]*(?:\\([ \\t]*\\)|(?<=function[ \\t]+\\w+)[ \\t]*\\{)`, "gm"),
    onlySourced: true,
    namedByTests: "named",
  },
  {
    id: "redefines what tests are made of",
    files: shell,
    pattern: new RegExp(`${defined}(\\w+)[ \\t]*\\([ \\t]*\\)|\\bunset[ \\t]+-f[ \\t]+([\\w \\t]+)`, "gm"),
    onlySourced: true,
    namedByTests: "defined",
  },
  {
    id: "sets what tests count by",
    files: shell,
    pattern:
      /(?<!\b(?:local|declare|typeset)\b[^\n;]*)(?:(?:^|[;&|{(]|\bthen|\bdo|\belse)[ \t]*((?:fail|err|bad|wrong|broken|rc|status|exit_?code|ret|pass)\w*)(?==|\+=)|\bunset[ \t]+(?!-f)([\w \t]+))/gim,
    onlySourced: true,
    namedByTests: "set",
  },
  {
    // Standing in no function, they change what the tests were given, or how the shell goes on.
    id: "steers how the tests' process goes on",
    files: shell,
    pattern: /^(?:set[ \t]+--|shift\b|cd[ \t]|set[ \t]+-\w*[ft]\w*\b|set[ \t]+-o[ \t]+(?:onecmd|noglob)\b|(?:export[ \t]+)?GLOBIGNORE=)/m,
    onlySourced: true,
  },
  {
    id: "steers the programs that tests run",
    files: shell,
    pattern:
      /(?:^|[;&|{]|\bexport\b[^\n]*?)[ \t]*(?:(?:GNU)?MAKEFLAGS|MFLAGS|PYTHON(?:OPTIMIZE|INSPECT|STARTUP|WARNINGS|BREAKPOINT)|PERL5(?:OPT|DB)|RUBYOPT|NODE_OPTIONS|BASH_ENV|LD_(?:PRELOAD|AUDIT)|_?JAVA_(?:TOOL_)?OPTIONS|GREP_OPTIONS)=/m,
    onlySourced: true,
  },
];
