import { addFact, type FactKind, type Judge } from "../facts/fact.ts";
import { hasExactly, hasOption, optionValues, roughOperands } from "../shell/options.ts";
import { networkScope } from "./hosts.ts";

/** What reaches past the sandbox can only be done outside it; the person is shown that. */
const outside = { unsandboxed: true } as const;

function always(kind: FactKind, names: string): (readonly [string, Judge])[] {
  const judge: Judge = (call, findings) => {
    if (call.args.length === 1 && /^(?:--version|--help)$/.test(call.texts[0]!)) return;
    addFact(findings, kind, call.text, outside);
  };
  return names.split(" ").map((name) => [name, judge] as const);
}

/** Programs with subcommands (or options) that only ask. */
function except(kind: FactKind, names: string, asks: RegExp): (readonly [string, Judge])[] {
  const judge: Judge = (call, findings) => {
    const first = roughOperands(call.args)[0]?.literal ?? call.texts[0] ?? "";
    if (asks.test(first)) return;
    addFact(findings, kind, call.text, outside);
  };
  return names.split(" ").map((name) => [name, judge] as const);
}

const kill: Judge = (call, findings) => {
  // `-0` only asks whether a process is there, `-l` lists signals; `$!` is the line's own child.
  const isQuestion = /^-(?:0|l|L)$/.test(call.texts[0] ?? "");
  const targets = call.args.filter((word) => word.literal?.startsWith("-") !== true);
  const own = targets.length > 0 && targets.every((word) => /^["']?\$\{?!\}?["']?$/.test(word.text));
  if (!isQuestion && !own) addFact(findings, "processes", call.text, outside);
};

const fuser: Judge = (call, findings) => {
  if (hasOption(call.args, "-k", "--kill")) addFact(findings, "processes", call.text, outside);
};

const dockerReads = /^(?:ps|images|logs|inspect|version|info|top|stats|port|diff|history|events|--version|-v|--help|help)$/;

const docker: Judge = (call, findings) => {
  const words = roughOperands(call.args, ["-f", "--file", "-p", "--project-name", "--context", "-H", "--host", "-c"]).map(
    (word) => word.literal ?? "?",
  );
  if (call.args.length === 0 || dockerReads.test(words[0] ?? call.texts[0] ?? "")) return;
  const group = /^(?:compose|container|image|network|volume|context|system|buildx|builder|stack|service|node)$/.test(words[0] ?? "");
  if (
    (group || call.program.endsWith("-compose")) &&
    /^(?:ps|ls|list|logs|config|inspect|df|top|images|port|version)$/.test(words[group ? 1 : 0] ?? "")
  )
    return;
  addFact(findings, "services", call.text, outside);
};

const date: Judge = (call, findings) => {
  if (hasOption(call.args, "--set") || call.texts.some((text) => /^-[uRn]*s/.test(text) || /^\d{4,}(?:\.\d+)?$/.test(text))) {
    addFact(findings, "privilege", call.text, outside);
  }
};

const editor: Judge = (call, findings) => {
  if (hasOption(call.args, "--install-extension", "--uninstall-extension", "--force", "--add-mcp"))
    return addFact(findings, "runs_later", call.text, outside);
  if (!/^(?:--version|-v|--help|-h|--list-extensions|--status|-s)$/.test(call.texts[0] ?? ""))
    addFact(findings, "services", call.text, outside);
};

/** Editors of a terminal, of which a command line or what is typed may run programs and write anywhere. */
const terminalEditor: Judge = (call, findings) => {
  const scripted = call.texts.some((text) =>
    /^(?:-[eEsnNR]*[cSs]|-es?|-W|-w|-u|\+.+|--cmd(?:=.*)?|--?eval(?:=.*)?|-l|--?load(?:=.*)?|--?script(?:=.*)?|--?batch|-f|--?funcall)$/.test(
      text,
    ),
  );
  const { hereText, isPiped, redirects } = call.command;
  const isFed = isPiped || redirects.some(({ operator }) => operator === "<");
  if (scripted || isFed || (hereText !== null && /!|^\s*[%\d,$]*(?:w|W|e|E|r)\b.*[/~!]/m.test(hereText)))
    addFact(findings, "hidden_code", `${call.text} runs commands of an editor`);
};

/** Other agents act with rights of their own, and this one's own program could answer its questions. */
const agent: Judge = (call, findings) => {
  if (call.args.length > 0 && /^(?:--version|-v|-V|--help|-h|help|version)$/.test(call.texts[0]!)) return;
  if (call.program === "holdfast" && /^(?:policy|doctor)$/.test(call.texts[0] ?? "")) return;
  addFact(findings, "runs_later", `${call.text} is an agent of its own, or changes one`, outside);
};

const mkcert: Judge = (call, findings) => {
  if (hasOption(call.args, "-install", "-uninstall", "--install")) addFact(findings, "privilege", call.text, outside);
};

const journal: Judge = (call, findings) => {
  if (call.texts.some((text) => /^--(?:vacuum|rotate|flush|relinquish|sync|setup-keys|update-catalog)/.test(text)))
    addFact(findings, "services", call.text, outside);
};

/** xclip is there to fill it unless it is told otherwise; the others to read it. */
const clipboard: Judge = (call, findings) => {
  const option = call.program === "xclip" ? /^-?-o/ : /^-?-(?:i|c|d|clear|delete|help|version)/;
  const isGiven = call.texts.some((text) => option.test(text));
  if (call.program === "xclip" ? isGiven : !isGiven) addFact(findings, "secret_read", `${call.text} reads the person's clipboard`, outside);
};

/** `ip` only asks, unless one of its words changes something. */
const network: Judge = (call, findings) => {
  if (call.texts.some((text) => /^(?:set|add|del|delete|change|replace|append|flush|exec|up|down|save|restore)$/.test(text)))
    addFact(findings, "privilege", call.text, outside);
};

/** With at most the name of an interface it only shows. */
const interfaces: Judge = (call, findings) => {
  if (roughOperands(call.args).length > 1) addFact(findings, "privilege", call.text, outside);
};

/** A name asks; a name with a value, a file and `-p` set. */
const kernelSettings: Judge = (call, findings) => {
  if (call.args.some((word) => word.literal === null || /=|^-\w*[wpf]|^--(?:write|load|system)/.test(word.literal)))
    addFact(findings, "privilege", call.text, outside);
};

const neighbours: Judge = (call, findings) => {
  if (hasOption(call.args, "-s", "-d", "-f", "--set", "--delete", "--file")) addFact(findings, "privilege", call.text, outside);
};

const hostname: Judge = (call, findings) => {
  if (roughOperands(call.args).length > 0 || hasOption(call.args, "-F", "--file", "-b")) addFact(findings, "privilege", call.text, outside);
};

/** Managers of packages that also tell what is installed. */
const packageQuery: Judge = (call, findings) => {
  const asks =
    call.args.length === 0 ||
    call.program === "dpkg-query" ||
    /^(?:-[lLsSpWqV]\w*|--(?:list|listfiles|status|version|print-architecture|query|help|search|verify)\S*)$/.test(call.texts[0]!);
  if (!asks) addFact(findings, "privilege", call.text, outside);
};

/** Tools that can take hold of a process which runs already. */
const attaches: Judge = (call, findings) => {
  // A debugger's own commands start programs: `-ex 'shell …'`.
  const commands = optionValues(call.args, ["-ex", "-iex", "-o", "-O", "--eval-command", "--one-line"]);
  const isDebugger = call.program === "gdb" || call.program === "lldb";
  if (
    isDebugger &&
    commands.some(
      (word) =>
        word.literal === null ||
        /^\s*(?:!|\||(?:she|pipe|make|py|plat\w*\s+shell|sc|guile|source|call|print.*system)\w*)/.test(word.literal),
    )
  )
    addFact(findings, "hidden_code", `${call.text} gives a debugger a program to run`);
  if (call.texts.some((text) => /^(?:-p|-p\d+|--pid(?:=.*)?|--attach-pid|attach)$/.test(text)))
    addFact(findings, "processes", call.text, outside);
};

/** In a session of its own a command isn't ended with the line that started it. */
const ownSession: Judge = (call, findings) => {
  if (call.args.length > 0 && !hasExactly(call.args, ["-w", "--wait", "--version", "--help"])) addFact(findings, "outlives", call.text);
};

const messages: Judge = (call, findings) => {
  if (hasOption(call.args, "-C", "-c", "-D", "-E", "-n", "--clear", "--read-clear")) addFact(findings, "privilege", call.text, outside);
};

/** `ps e` shows each process with its environment. */
const processList: Judge = (call, findings) => {
  const operands = roughOperands(call.args, "-o -O -p -q -C -u -U -g -G -t -s -k --sort --pid --ppid --user --format".split(" "));
  if (
    call.texts.some((text) => /environ/.test(text)) ||
    operands.some((word) => /^(?!pid|comm)[a-zA-Z]*e[a-zA-Z]*$/.test(word.literal ?? ""))
  )
    addFact(findings, "secret_read", `${call.text} shows environments`, outside);
};

const gpg: Judge = (call, findings) => {
  if (call.texts.some((text) => /secret|^-K$/.test(text))) return addFact(findings, "secret_read", call.text, outside);
  const asks =
    hasExactly(call.args, ["--version", "--verify", "--list-keys", "--fingerprint", "--help", "--print-md", "--list-packets"]) ||
    call.texts[0] === "-k";
  if (!asks) addFact(findings, "runs_later", call.text, outside);
};

const openssl: Judge = (call, findings) => {
  if (/^(?:s_client|s_server|s_time|ocsp|ts)$/.test(call.texts[0] ?? ""))
    return addFact(findings, "network", call.text, networkScope(null));
  const readsKey = /^(?:rsa|pkey|ec|dsa|pkcs12|pkcs8|genpkey)$/.test(call.texts[0] ?? "") && !hasExactly(call.args, ["-pubin"]);
  if (readsKey && call.texts.includes("-in")) addFact(findings, "secret_read", call.text);
};

const sshKeys: Judge = (call, findings) => {
  const asks = call.program === "ssh-keygen" && /^-[lFB]/.test(call.texts[0] ?? "");
  if (!asks) addFact(findings, "secret_read", call.text, outside);
};

/** Setters of hooks that run by themselves later. */
const hookTools: Judge = (call, findings) => {
  const first = roughOperands(call.args)[0]?.literal ?? "";
  const installs =
    call.program === "husky"
      ? !/^(?:--version|-v|--help)$/.test(call.texts[0] ?? "")
      : /^(?:install|init|uninstall|add|autoupdate|migrate-config|allow|permit|grant|trust|edit)$/.test(first);
  if (installs) addFact(findings, "runs_later", call.text);
};

/** jq's `env` and `$ENV`, but for single values whose names tell no secret. */
const filter: Judge = (call, findings) => {
  const name = /^\s*(?:\.\s*|\[\s*"|\.\s*")(?!\w*(?:SECRET|TOKEN|PASSW|API_?KEY|ACCESS_KEY|PRIVATE_KEY))[A-Za-z_]/;
  const prints = call.texts.some((text) =>
    [...text.matchAll(/(?<![\w.$"@-])(?:env\b(?!\s*:)|\$ENV\b)/g)].some(
      ({ index, 0: found }) => !name.test(text.slice(index + found.length)),
    ),
  );
  if (prints) addFact(findings, "secret_read", `${call.text} prints the environment`);
};

/** With no operand, the whole environment or every shell variable is printed. */
const environment: Judge = (call, findings) => {
  const prints =
    (call.program === "env" && roughOperands(call.args, ["-u", "-C"]).length === 0 && !hasExactly(call.args, ["--version", "--help"])) ||
    (call.program === "printenv" &&
      (call.args.length === 0 || call.args.some((word) => /^$|key|token|secret|pass|cred|auth/i.test(word.literal ?? "")))) ||
    (call.program === "set" && call.args.length === 0) ||
    (["export", "declare", "typeset", "readonly"].includes(call.program) &&
      call.args.every((word) => /^-[pxr]+$/.test(word.literal ?? "?")));
  if (prints) addFact(findings, "secret_read", `${call.text} prints the environment`);
};

export const systemJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...always(
    "privilege",
    "gosu su-exec sudo doas su pkexec run0 runuser setcap visudo vipw vigr chsh chfn passwd chpasswd useradd usermod userdel adduser deluser groupadd groupmod groupdel chroot unshare nsenter umount swapoff modprobe insmod rmmod iptables ip6tables nft ufw firewall-cmd shutdown reboot halt poweroff init telinit setenforce update-alternatives ldconfig mknod losetup bootctl efibootmgr kexec apparmor_parser aa-disable auditctl setfcap capsh newgrp sg machinectl loadkeys cryptsetup hwclock rtcwake grub-install update-grub update-initramfs spctl csrutil dscl defaults xattr",
  ),
  ...except("privilege", "mount", /^(?:|-l|--version|-V|--help)$/),
  ...except("privilege", "swapon", /^(?:-s|--show\S*|--summary|--version)$/),
  ...except("privilege", "route", /^(?:|-n|-e|-ee|-ne|--version)$/),
  ...except("privilege", "defaults", /^(?:read|read-type|domains|find|help)$/),
  ["sysctl", kernelSettings],
  ["arp", neighbours],
  ...except("privilege", "hostnamectl timedatectl localectl loginctl", /^(?:|status|show|list-\S+|--version)$/),
  ["ip", network],
  ...always("privilege", "arptables ebtables tc ethtool brctl"),
  ["ifconfig", interfaces],
  ["hostname", hostname],
  ...["dpkg", "rpm", "dpkg-query"].map((name) => [name, packageQuery] as const),
  ...always(
    "privilege",
    "gpasswd dpkg-reconfigure apt-key add-apt-repository apt-add-repository apt-mark emerge xbps-install xbps-remove pkg pkg_add pkg_delete softwareupdate nix-channel eopkg swupd mas aptitude tlmgr",
  ),
  ...["gdb", "lldb", "strace", "ltrace", "prlimit", "perf", "py-spy"].map((name) => [name, attaches] as const),
  ...always("outlives", "daemonize start-stop-daemon"),
  ["setsid", ownSession],
  ["dmesg", messages],
  ["ps", processList],
  ["date", date],
  ["kill", kill],
  ["fuser", fuser],
  ...always("processes", "killall pkill skill xkill killall5 renice reptyr gcore"),
  ...except("services", "systemctl", /^(?:status|show|cat|is-\S+|list-\S+|--version|--help)$/),
  ...except("services", "launchctl", /^(?:list|print|version)$/),
  ...except("services", "pm2 supervisorctl", /^(?:ls|list|status|show|logs|--version)$/),
  ...except("services", "crontab", /^-l$/),
  ...except("services", "vagrant virsh multipass limactl lxc minikube kind colima", /^(?:status|list|ls|version|--version|info)$/),
  ...except("services", "service", /^(?:--status-all|--version)$/),
  ...always("services", "rc-service initctl update-rc.d at atrm batch anacron systemd-run k3s ctr crictl"),
  ...except("outlives", "tmux screen", /^(?:ls|list-\S+|-ls|-V|--version)$/),
  ...["docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "skopeo"].map((name) => [name, docker] as const),
  ...["code", "codium", "cursor", "code-insiders", "idea", "subl", "zed"].map((name) => [name, editor] as const),
  ...["gpg", "gpg2"].map((name) => [name, gpg] as const),
  ...["vim", "vi", "nvim", "view", "vimdiff", "ex", "ed", "emacs", "emacsclient", "kak", "hx"].map(
    (name) => [name, terminalEditor] as const,
  ),
  ...[
    "holdfast",
    "claude",
    "codex",
    "gemini",
    "aider",
    "opencode",
    "cursor-agent",
    "amp",
    "goose",
    "crush",
    "qwen",
    "ollama",
    "llm",
    "copilot",
  ].map((name) => [name, agent] as const),
  ...always(
    "services",
    "open xdg-open sensible-browser wslview explorer start osascript notify-send gio gsettings dconf gdbus dbus-send busctl",
  ),
  ...always("services", "screencapture scrot import ffplay say espeak lp lpr"),
  ["mkcert", mkcert],
  ["journalctl", journal],
  ...["pbpaste", "xclip", "xsel", "wl-paste"].map((name) => [name, clipboard] as const),
  ["openssl", openssl],
  ...["ssh-keygen", "ssh-add", "ssh-keyscan", "age-keygen"].map((name) => [name, sshKeys] as const),
  ...["husky", "pre-commit", "lefthook", "overcommit", "simple-git-hooks", "direnv"].map((name) => [name, hookTools] as const),
  ...["jq", "gojq", "jaq", "yq"].map((name) => [name, filter] as const),
  ...["env", "printenv", "set", "export", "declare", "typeset", "readonly"].map((name) => [name, environment] as const),
  ...except(
    "secret_read",
    "ansible-vault git-crypt git-secret pass gopass op vault bw rbw secret-tool keyring security lpass chamber sops age ksm kwallet-query",
    /^(?:--version|version|--help|help|status)$/,
  ),
]);
