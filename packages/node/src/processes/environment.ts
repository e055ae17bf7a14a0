/** Taken over from our own environment. A list of what is allowed: nothing secret can slip in under a new name. */
const inherited = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LANGUAGE",
  "TZ",
  // Where toolchains are: their programs on PATH look for themselves there.
  "JAVA_HOME",
  "GOROOT",
  "GOPATH",
  "NVM_DIR",
  "PYENV_ROOT",
  "RBENV_ROOT",
  "RUSTUP_HOME",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "DOTNET_ROOT",
  "ANDROID_HOME",
  // Certificates of a company's network: names of files.
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
] as const;

/** Nobody is there to page, to answer, or to watch colours. */
const unattended = {
  TERM: "dumb",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  GCM_INTERACTIVE: "never",
  GIT_SSH_COMMAND: "ssh -oBatchMode=yes",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  // A repository's settings must not make a reading git, or a pager, run a program that they name.
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "log.showSignature",
  GIT_CONFIG_VALUE_1: "false",
  LESSSECURE: "1",
  // What a program printed before it was ended must not sit in its buffer.
  PYTHONUNBUFFERED: "1",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
} as const;

/** How often over a session has started what runs here: what it starts is one deeper, and there is a limit (`limits.max_depth`). */
function nestingOf(parent: Readonly<Record<string, string | undefined>>): number {
  return Number.parseInt(parent["HOLDFAST_DEPTH"] ?? "0", 10) || 0;
}

/** The runtime's own list of variables; `added` (caches, network, the caller's own) comes last and wins. */
export function commandEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  bash: string,
  tmp: string,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value !== undefined && ((inherited as readonly string[]).includes(name) || /^LC_[A-Z]+$/.test(name))) environment[name] = value;
  }
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    ...environment,
    ...unattended,
    HOLDFAST_DEPTH: String(nestingOf(parent) + 1),
    SHELL: bash,
    TMPDIR: tmp,
    ...added,
  };
}
