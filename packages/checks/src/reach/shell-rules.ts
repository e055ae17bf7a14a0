import type { ReachRule } from "./rule.ts";

const shell = /(?:\.(?:sh|bash|zsh|ksh|inc|bats)|(?:^|\/)[^./]+)$/;
const defined = String.raw`(?:^|[;&|{])[ \t]*(?:function[ \t]+)?`;
/** Programs by which tests compare, count and select. */
const used =
  "wc|sort|uniq|cut|tr|sed|awk|head|tail|cat|comm|paste|join|tee|xargs|date|find|ls|seq|read|mapfile|readarray|let|expr|bc|jq|cksum|md5sum|sha\\d+sum|sum|od|xxd|tac|rev|nl|mktemp|sleep|wait|kill|command|type|which|python3?|node|perl|ruby|make|git|curl";

/** What a shell file that tests load does to the shell that they share. */
export const shellRules: readonly ReachRule[] = [
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
