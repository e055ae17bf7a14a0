import { addFact, addNeed, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import { awk } from "./awk.ts";
import { literalWord } from "../shell/command.ts";
import { isInput } from "../shell/inner.ts";
import { optionValues } from "../shell/options.ts";
import { networkScope } from "./hosts.ts";
import { addByName, isDelivery } from "./targets.ts";
import { namesProcessInCode, secretPlace } from "./secrets.ts";
import { judgePythonModule } from "./packages.ts";

/** Options after which an interpreter's code follows. */
const codeOptions: Readonly<Record<string, RegExp>> = {
  node: /^(?:-[a-z]*[ep]|--eval|--print)$/,
  bun: /^(?:-e|--eval|-p|--print)$/,
  python: /^-[a-zA-Z]*c$/,
  perl: /^-[a-zA-Z0-9]*[eE]$/,
  ruby: /^-[a-zA-Z]*e$/,
  php: /^-[rBRE]$/,
  lua: /^-e$/,
  osascript: /^-e$/,
  r: /^-e$/,
  julia: /^(?:-[eE]|--eval)$/,
  elixir: /^(?:-e|--eval)$/,
  scala: /^-e$/,
  groovy: /^-e$/,
  racket: /^-e$/,
  guile: /^-c$/,
  sbcl: /^--eval$/,
  ghc: /^-e$/,
  clojure: /^-e$/,
  raku: /^-e$/,
  ocaml: /^-e$/,
  kotlin: /^-e$/,
  octave: /^--eval$/,
  gnuplot: /^-e$/,
  erl: /^-eval$/,
  dc: /^(?:-e|--expression)$/,
  tclsh: /^-e$/,
  jshell: /^-e$/,
  m: /^-e$/,
};

/** The same where the code stands right behind the letter: `python3 -uc'…'`. What holds no sign is no code that does anything. */
const joinedCode: Readonly<Record<string, RegExp>> = {
  python: /^-[bBdEiIOPqRsSuvx]*c([\s\S]+)$/,
  perl: /^-[acflnpstTuUwWxX\d]*[eE]([\s\S]*\W[\s\S]*)$/,
  ruby: /^-[acdlnpsSvwWy\d]*e([\s\S]*\W[\s\S]*)$/,
};
const joinedElsewhere = /^-[eEprBRc]([\s\S]*\W[\s\S]*)$/;

/** Interpreters that run their input where no file is named. */
const runsInput = /^(?:node|python|perl|ruby|php|lua|r|julia|osascript|guile|sbcl|octave|gnuplot|tclsh|jshell|m)$/;

function languageOf(program: string): string | null {
  const name = program === "perl6" ? program : program.toLowerCase().replace(/[\d.]+$/, "");
  const alias: Readonly<Record<string, string>> = {
    nodejs: "node",
    pypy: "python",
    ipython: "python",
    rscript: "r",
    luajit: "lua",
    tsx: "node",
    "ts-node": "node",
    "babel-node": "node",
    "vite-node": "node",
    coffee: "node",
    iex: "elixir",
    clj: "clojure",
    perl6: "raku",
    kotlinc: "kotlin",
    wish: "tclsh",
    "manage.py": "python",
    "django-admin": "python",
  };
  const language = alias[name] ?? name;
  return codeOptions[language] === undefined ? null : language;
}

/** The option after which a program takes code; null for what is no interpreter. */
export function codeOptionOf(program: string): string | null {
  const language = languageOf(program);
  const usual: Readonly<Record<string, string>> = { python: "-c", php: "-r" };
  return language === null ? null : (usual[language] ?? "-e");
}

/** Code written into the command itself; null where there is none that can be read. */
function codeOf(call: JudgedCall, language: string): string | null {
  const codes: string[] = [];
  call.texts.forEach((text, i) => {
    if (codeOptions[language]!.test(text)) codes.push(call.args[i + 1]?.literal ?? call.args[i + 1]?.text ?? "");
    const joined = /^--(?:eval|print)=([\s\S]*)$/.exec(text) ?? (joinedCode[language] ?? joinedElsewhere).exec(text);
    if (joined !== null) codes.push(joined[1]!);
  });
  if (call.program === "deno" && call.texts[0] === "eval")
    codes.push(
      call.args
        .slice(1)
        .map((word) => word.literal ?? word.text)
        .join(" "),
    );
  codes.push(...codeWords(call, language));
  if (codes.length === 0 && readsInput(call) && call.command.hereText !== null) codes.push(call.command.hereText);
  return codes.length === 0 ? null : codes.join("\n");
}

/** Whether no operand names a file: then a program reads its input. */
function readsInput({ args }: JudgedCall): boolean {
  return args.every(({ literal }) => literal !== null && (literal.startsWith("-") || isInput.test(literal)));
}

/** Code in other places than behind an option: modules in a URL, what python's timeit runs, what a framework's shell is given. */
function codeWords({ texts }: JudgedCall, language: string): string[] {
  const urls = texts.flatMap((text) => /^(?:--[\w-]+=)?data:[^,]*,([\s\S]*)$/.exec(text)?.[1] ?? []);
  if (language === "node") return urls;
  if (language === "php")
    return texts.flatMap((text, i) => (text === "--execute" ? (texts[i + 1] ?? "") : (/^--execute=([\s\S]*)$/.exec(text)?.[1] ?? [])));
  return language === "python" && texts[texts.indexOf("-m") + 1] === "timeit" ? texts.slice(texts.indexOf("timeit") + 1) : [];
}

function isFed(call: JudgedCall, language: string | null): boolean {
  const { program, texts } = call;
  if (program === "deno" || program === "bun") return texts.includes("-");
  if (language === null || !runsInput.test(language)) return false;
  const asks = texts.some((text) => /^(?:--?(?:version|help)|-[vVh])$/.test(text));
  return !asks && readsInput(call);
}

/**
 * Calls of the standard libraries, by what they do. This finds what is meant plainly; what is disguised stays inside the
 * sandbox like any script of the workspace.
 */
const reaches =
  /\bfetch\s*\(|XMLHttpRequest|\bWebSocket\b|\bhttps?\.(?:get|request)\b|node:(?:https?|net|dgram|tls|dns)\b|require\(\s*["'](?:https?|net|dgram|tls|dns|axios|got|node-fetch|undici)["']|\burllib|\burlopen\b|\bhttpx\b|\baiohttp\b|\bimport requests\b|\brequests\.\w+\(|\bsocket\b|\bsmtplib\b|\bftplib\b|\bparamiko\b|http\.client|Net::(?:HTTP|FTP|SMTP)|\bLWP\b|IO::Socket|\bTCPSocket\b|open-uri|\bcurl_(?:init|exec)\b|\bfsockopen\b|\binstall\.packages\b|\bPkg\.(?:add|update|develop)\b|\b(?:BiocManager|remotes|devtools|pak)::|\bMix\.install\b|file_get_contents\(\s*["']https?:/;
const removes =
  /\b(?:rmSync|rmdirSync|unlinkSync|rimraf|rmtree|removedirs|unlink|rmdir|truncateSync|removeSync|rm_rf|rm_r)\b|\bDeno\.(?:remove|truncate)\b|\bfrom\s+os\s+import\b[^\n;]*\b(?:remove\w*|truncate)\b|\bfrom\s+shutil\s+import\b[^\n;]*\bmove\b|\bfs\.(?:promises\.)?(?:rm|truncate)\b|\bos\.(?:remove|truncate)\b|\bFileUtils\.rm|\bFile\.delete\b|\bshutil\.move\b|\.unlink\(|\bremove_tree\b|\bfile\.remove\b|\bFile\.rm\w*|\bSys\.remove\b|\bdelete-(?:file|directory)|\bdeleteRecursively\b|\bfile\s+delete\b|(?<![\w.$])rm\s*\(|\bimport\s+(?:os|shutil)\s+as\b|\b(?:getattr|vars)\s*\(\s*(?:os|shutil)\b/;
const runs =
  /child_process|\b(?:execSync|spawnSync|execFileSync|execFile)\b|\bBun\.(?:spawn|\$)|Deno\.(?:Command|run)|\bos\.(?:system|popen|exec[lv]p?e?|spawn\w*)\b|\bfrom\s+os\s+import\b[^\n;]*\b(?:system|popen|exec\w*|spawn\w*)\b|\bos\.execute\b|\bio\.popen\b|\bsubprocess\b|\bpty\.spawn\b|\bshell_exec\b|\bpassthru\b|\bproc_open\b|\bOpen3\b|\bctypes\b|__import__|process\.binding|do shell script|\bimportlib\b|\beval\s*\(\s*(?:atob|Buffer|base64)|\bexec\s*\(\s*(?:base64|bytes|codecs|zlib)/;
/** Words that run programs in perl, ruby and awk, but are ordinary names elsewhere. */
const runsBare =
  /\b(?:system|exec|qx|fork|syscall)\b|`|\bopen\b\s{0,4}\(?\s{0,4}[$\w]{1,60},\s{0,4}["'](?:-?\||[^"']{0,300}\|["'])|\bpopen\s*\(|\bspawn\s*\(|\b(?:Kernel|Process)\.spawn\b/;
/** Of languages that are seldom written on a line, also words that elsewhere are anything. */
const runsElsewhere =
  /\b(?:system2?|exec|spawn|popen|cmd|shell|run-program|sh|execute|ProcessBuilder|getRuntime|Sys\.command|callCommand|readProcess|e?syscmd)\b|`|\brun\s*["'(]|\bprocess\w*\s*["(.]|\bopen\b[^;\n]{0,200}\||["']\s*\.!|^\s*!|\[\s*!/m;
const bare = new Set(["perl", "ruby", "php"]);
const never = new Set(["node", "python", "bun", "lua", "osascript"]);

/** In these languages an address is read like a file. */
function reachesOut(language: string | null, code: string): boolean {
  if (reaches.test(code)) return true;
  const isElsewhere = language !== null && !never.has(language) && !bare.has(language);
  return isElsewhere && /\bhttps?:\/\/(?!localhost\b|127\.|\[::1\])|:httpc\b|\bhttp::geturl\b/.test(code);
}

function runsOther(language: string | null, code: string): boolean {
  if (runs.test(code)) return true;
  return language !== null && !never.has(language) && (bare.has(language) ? runsBare : runsElsewhere).test(code);
}

const writes =
  /\bopen\s*\([^)]*,\s*(?:mode\s*=\s*)?["'][^"']*[wax+]|write(?:_text|_bytes|File|FileSync|lines|Sync)?\s*\(|append(?:File|FileSync)|createWriteStream|copyFile|cpSync|\brename(?:Sync)?\b|shutil\.copy|\bmkdirs?\b|mkdirSync|makedirs|\bchmod|\bsymlink|\btouch\b|file_put_contents|\bfopen\b|File\.(?:write|open)|\bopen\s*\(?[^;]*["']\s*[>+]|FileUtils\.|\bio\.open\b|Bun\.write|Deno\.(?:write|mkdir|copy|rename)/;

/** Not single variables by name: those that hold secrets are told by their names. */
const printsEnvironment =
  /\bprocess\.env\b(?!\s*(?:\.|\[|\?\.))|\benviron\b(?!\s*(?:\[|\.get))|\bDeno\.env\.toObject|\bENV\b(?!\s*(?:\[|\.fetch))(?=\.|\s*[;)\n]|$)|%ENV\b|\bgetenv\s*\(\s*\)|\$_ENV\b(?!\s*\[)|(?:process\.env|os\.environ|ENV|getenv)[\s.[{("'get]*\w*(?:SECRET|TOKEN|PASSWORD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)/;

/** A whole environment taken by its name from what holds it: `const { env } = process`, `require("process").env`. */
const takesEnvironment = /\{[^{}]{0,100}\benv\b[^{}]{0,100}\}\s*=[^;]{0,40}\bprocess\b|process["']\s*\)\s*\.env\b(?!\s*\.)/;

/** `process["env"]` and `process?.env` as they are usually written. */
function plainNames(code: string): string {
  const plain = code.replaceAll("?.", ".").replaceAll(/\b(process|os|Deno)\s*\.?\[\s*["'`](\w+)["'`]\s*\]/g, "$1.$2");
  return takesEnvironment.test(plain) ? `${plain}\nprocess.env` : plain;
}

/** Files that code names outright: those of secrets are read or written, others may be written. */
function judgeNames(call: JudgedCall, code: string, names: readonly string[], findings: Findings): void {
  for (const name of names.slice(0, 12)) {
    if (secretPlace(name, null) !== null) addFact(findings, "secret_read", `${call.program} code that names ${name}`);
    const isPath = /^(?:\/|~\/)[\w./@+ -]+$/.test(name);
    if (isPath && writes.test(code)) addNeed(findings, "write", { ...literalWord(name), fromHome: name.startsWith("~") });
  }
}

const interpreter: Judge = (call, findings) => {
  const language = languageOf(call.program);
  if (language === "python") judgePythonModule(call, findings);
  // A script of the project by its name.
  if (language === "node" && optionValues(call.args, ["--run"]).some((word) => isDelivery(word.literal ?? ""))) addByName(findings, call);
  const code = language === null && call.program !== "deno" ? null : codeOf(call, language ?? "node");
  if (code === null) {
    if (call.command.isPiped && isFed(call, language)) addFact(findings, "hidden_code", `${call.program} runs what another command prints`);
    return;
  }
  judgeCode(call, language, code, findings);
};

/** What code given on a line does. */
export function judgeCode(call: JudgedCall, language: string | null, code: string, findings: Findings): void {
  const names = [...code.matchAll(/(["'`])((?:\\.|(?!\1)[^\\\n]){1,400})\1/g)].map((found) => found[2]!);
  judgeNames(call, code, names, findings);
  // Modules are also named by options: `perl -MLWP::Simple`, `ruby -ropen-uri`.
  const modules = call.texts.flatMap((text) => (/^-[rM]\S/.test(text) ? [text.slice(2)] : [])).join(" ");
  if (printsEnvironment.test(plainNames(code)) || namesProcessInCode.test(code))
    addFact(findings, "secret_read", `${call.program} code that prints the environment`);
  if (reachesOut(language, code) || reaches.test(modules))
    addFact(findings, "inline_code", `${call.program} code that uses the network`, networkScope(null));
  if (removes.test(code)) addFact(findings, "inline_code", `${call.program} code that removes files`);
  if (runsOther(language, code)) {
    addFact(findings, "inline_code", `${call.program} code that runs other programs`);
  }
}

const names =
  "ts-node babel-node vite-node coffee iex clojure clj raku perl6 ocaml kotlin kotlinc octave gnuplot erl dc tclsh wish jshell m4 manage.py django-admin julia elixir scala groovy racket guile sbcl ghc node nodejs bun deno python python2 python3 pypy3 ipython perl ruby php lua luajit osascript Rscript R tsx".split(
    " ",
  );

export const interpreterJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...names.map((name) => [name, interpreter] as const),
  ...["awk", "gawk", "mawk", "nawk"].map((name) => [name, awk] as const),
]);

/** `python3.12` and the like. */
export function interpreterJudge(program: string): Judge | null {
  return interpreterJudges.get(program) ?? (languageOf(program) === null ? null : interpreter);
}
