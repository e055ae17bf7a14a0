import type { ShellAssignment, ShellWord } from "../shell/command.ts";
import { hostOf, isLoopback } from "./hosts.ts";

/** Variables whose value names code that a program loads or runs, or another place from which it takes its settings. */
const runsCode =
  /^(?:LD_\w+|DYLD_\w+|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[04]|BASH_FUNC_.*|CDPATH|GLOBIGNORE|GIT_\w+|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|CVS_RSH|(?:HG|SVN)_?EDITOR|HGRCPATH|MANPAGER|LESSOPEN|LESSCLOSE|LESSKEY\w*|BROWSER|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|ELECTRON_RUN_AS_NODE|PYTHON(?:STARTUP|HOME|INSPECT|BREAKPOINT|EXECUTABLE|USERBASE|WARNINGS)|PYTEST_(?:ADDOPTS|PLUGINS)|PERL5(?:OPT|LIB|DB)|PERLLIB|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|BUNDLE_GEMFILE|RUSTC?_?\w*WRAPPER|RUSTC|CARGO_\w*(?:WRAPPER|RUNNER|LINKER|HOME)|RUSTUP_HOME|RUSTUP_TOOLCHAIN|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|LUA_(?:INIT|PATH|CPATH)\w*|PHPRC|PHP_INI_SCAN_DIR|AWKPATH|AWKLIBPATH|RIPGREP_CONFIG_PATH|TAR_OPTIONS|ZIPOPT|UNZIP|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEFILES|SHELL|COMSPEC|HOME|XDG_\w+|HOLDFAST_\w+|TERMINFO\w*|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|KUBECONFIG|DOCKER_\w+|AWS_\w+|GOOGLE_\w+|CLOUDSDK_\w+|AZURE_\w+|VAULT_\w+|SSL_CERT_\w+|OPENSSL_CONF|CURL_HOME|WGETRC|NETRC|PIP_(?!NO_INPUT|DISABLE_PIP_VERSION_CHECK|QUIET)\w+|UV_(?!OFFLINE|NO_)\w+|NPM_CONFIG_\w+|YARN_(?:RC_FILENAME|REGISTRY|IGNORE_PATH|PLUGINS|NPM_REGISTRY_SERVER)|COREPACK_\w+|GOPROXY|GONOSUMDB|GONOSUMCHECK|GOPRIVATE|GOTOOLCHAIN|GOENV|GOROOT|(?:HTTPS?|ALL|FTP|NO)_PROXY|GCC_EXEC_PREFIX|COMPILER_PATH|EXINIT|G?VIMINIT|NVIM_APPNAME|CONFIG_(?:SHELL|SITE)|CARGO_BUILD_RUST\w+|RSYNC_(?:CONNECT_PROG|SHELL)|FZF_\w+|PSQLRC)$/i;

/** Programs that a variable names, where these names mean "none". */
const programVariable = /^(?:PAGER|EDITOR|VISUAL|\w*_PAGER|\w*_EDITOR|GIT_ASKPASS|SSH_ASKPASS|BROWSER)$/;
const noProgram = new Set(["", "cat", "true", ":", "/bin/true", "/bin/cat", "/usr/bin/true"]);

/** Compilers and tools by which builds are told what to run: by a bare name, as PATH knows it. */
export const toolVariable =
  /^(?:CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|FC|F77|LINK|YACC|LEX|MAKE|NVCC|CARGO|NODE|PYTHON|RUBY|JAVA|JAVAC|GO|CMAKE|NINJA|PKG_CONFIG|CMAKE_\w*(?:COMPILER|LAUNCHER|TOOLCHAIN)\w*)$/;
const bareTool = /^(?:(?:ccache|sccache) )?[\w+-][\w.+-]*(?: -[\w=.+-]+)*$/;

/** Variables of whose values most are harmless. */
const harmlessValues: Readonly<Record<string, RegExp>> = {
  MAKEFLAGS: /^(?:-?[jkswB\d]+ ?)*$/,
  PYTHONWARNINGS: /^(?:ignore|default|error|always|once|module|all)?$/,
  CARGO_HOME: /^$/,
  LESS: /^[^+]*$/,
};

/** Names within the families above that only carry text or switch something off. */
const onlyText =
  /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|GIT_MERGE_AUTOEDIT|GIT_PS1_\w+|GIT_CONFIG_NOSYSTEM|GIT_REFLOG_ACTION|GIT_LITERAL_PATHSPECS|DOCKER_BUILDKIT|AWS_(?:DEFAULT_)?REGION|AWS_PAGER|XDG_RUNTIME_DIR)$/;

/** Option variables that are harmless as long as no option loads code. */
const optionVariable =
  /^(?:NODE_OPTIONS|GOFLAGS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS|RUSTFLAGS|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|LESS|GREP_OPTIONS|npm_config_\w+)$/;
const loadsCode =
  /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--inspect\S*|-toolexec\S*|-vettool\S*|\+\S*|-exec\S*|-overlay\S*|-modfile\S*|-javaagent\S*|-agent\w*:\S*|-Xbootclasspath\S*|-fplugin\S*|-wrapper|-B\S*|-specs\S*|-C\s*linker\S*|--env-file\S*|--openssl-config\S*|--icu-data-dir\S*)(?=$|[\s=:])/;

/** Why an assignment can make an innocent program run other code or talk elsewhere; null where it can't. */
export function changesWhatRuns(assignment: ShellAssignment): string | null {
  const { name, value } = assignment;
  const text = value?.literal ?? null;
  if (onlyText.test(name)) return null;
  // Anything else names a file that the trace is appended to.
  if (name.startsWith("GIT_TRACE") && text !== null && /^(?:[0-2]|true|false)?$/.test(text)) return null;
  if (text !== null && harmlessValues[name]?.test(text) === true) return null;
  if (toolVariable.test(name)) {
    const isBare = text !== null && bareTool.test(text) && !/^(?:ba|da|z|k)?sh\b/.test(text);
    return isBare ? null : `${name} names a program to run`;
  }
  if (name === "PATH") return value !== null && isProjectPath(value) ? null : "PATH decides which program a name means";
  if (programVariable.test(name)) return text !== null && noProgram.has(text) ? null : `${name} names a program to run`;
  if (/^npm_config_/i.test(name)) {
    return /^npm_config_(?:loglevel|yes|fund|audit|offline|progress|update_notifier|color)$/i.test(name)
      ? null
      : `${name} changes npm's settings`;
  }
  if (optionVariable.test(name)) return text !== null && !loadsCode.test(text) ? null : `${name} may load other code`;
  if (name === "PYTHONPATH") return value !== null && isInside(value) ? null : "PYTHONPATH decides which modules are loaded";
  if (runsCode.test(name)) return `${name} changes what programs run or where they look`;
  if (text !== null && /^(?!sqlite|file|jdbc:(?:sqlite|h2))[a-z][a-z0-9+]*:\/\//.test(text)) {
    const host = hostOf(text);
    if (host === null || !isLoopback(host)) return `${name} points at another machine`;
  }
  return null;
}

/** Adds only the project's own tool folders in front of what was there. */
function isProjectPath(value: ShellWord): boolean {
  const entries = value.text.replace(/["']/g, "").split(":");
  return (
    entries.some((entry) => /^\$\{?PATH\}?$/.test(entry)) &&
    entries.every((entry) => /^\$\{?PATH\}?$/.test(entry) || /^(?:\$\{?PWD\}?\/|\.\/)?(?:node_modules\/\.bin|\.?venv\/bin)\/?$/.test(entry))
  );
}

/** Only folders of the workspace, and what was there before. */
function isInside(value: ShellWord): boolean {
  const entries = (value.literal ?? value.text.replace(/["']/g, "")).split(":");
  return entries.every((entry) => {
    const path = entry.replace(/^\$\{?PWD\}?(?:\/|$)/, "");
    return /^\$\{?PYTHONPATH\}?$/.test(path) || (/^[\w.@+/-]*$/.test(path) && !path.startsWith("/") && !path.split("/").includes(".."));
  });
}

/** Prefixes under which a proven read is still one: they change words and colours, never what runs. */
export function isHarmlessForReads(assignment: ShellAssignment): boolean {
  if (assignment.value?.literal == null) return false;
  return /^(?:LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT)$/.test(
    assignment.name,
  )
    ? true
    : programVariable.test(assignment.name) && noProgram.has(assignment.value.literal);
}

/** Names that programs read to tune themselves: a run with one of them set is the same run. */
const tuning =
  /^(?:NODE_ENV|CI|DEBUG|VERBOSE|V|LOG_LEVEL|RUST_(?:BACKTRACE|LOG)|PYTHON(?:DONTWRITEBYTECODE|UNBUFFERED|HASHSEED|UTF8)|CARGO_TERM_COLOR|FORCE_COLOR|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|JEST_WORKER_ID|SOURCE_DATE_EPOCH)$/;

/** True for an assignment that nobody needs to be asked about, whatever the program is. */
export function onlyTunes(assignment: ShellAssignment): boolean {
  return isHarmlessForReads(assignment) || (assignment.value?.literal != null && tuning.test(assignment.name));
}
