import { addFact, addNeed, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import { literalWord } from "../shell/command.ts";
import { hasExactly, hasOption, roughOperands } from "../shell/options.ts";
import { networkScope } from "./hosts.ts";
import { isUrl } from "./network.ts";
import { addByName, isDelivery } from "./targets.ts";

/** What a package manager's subcommands do, besides running what the project itself defines. */
interface Manager {
  /** Subcommands that need no network: the project's own scripts, and questions about what is installed. */
  readonly local: string;
  /** Subcommands that change something at the registry, or use its account. */
  readonly remote?: string;
  /** What `manager` alone does. */
  readonly bare?: "network" | "local";
  /** True where any other word is the name of a script of the project. */
  readonly otherIsScript?: boolean;
  /** Subcommands that name a script of the project. */
  readonly scripts?: string;
  /** Subcommands under which configuration that decides later runs is changed, with the words that change it. */
  readonly settings?: Readonly<Record<string, string>>;
}

const valued =
  "--prefix -C --dir --filter -F --cwd -w --workspace --loglevel --registry --config -p --package --manifest-path --target-dir --color -Z --project --directory -j --jobs -f --file --python".split(
    " ",
  );

const managers: Readonly<Record<string, Manager>> = {
  npm: {
    local:
      "test t tst run run-script start stop restart list ls ll la explain why root prefix bin help query pack rebuild shrinkwrap prune config get pkg exec x completion version sbom fund doctor",
    remote: "publish unpublish deprecate owner dist-tag access token team org profile hook star unstar login adduser logout trust",
    scripts: "run run-script",
    settings: { config: "set delete edit fix", set: "", pkg: "set delete fix" },
  },
  pnpm: {
    local: "test t run exec list ls ll why start root bin licenses config pkg rebuild pack prune dlx",
    remote: "publish login logout",
    scripts: "run",
    otherIsScript: true,
    settings: { config: "set delete", pkg: "set delete" },
  },
  yarn: {
    local: "run test start build why list info licenses config exec bin workspace workspaces pack dlx",
    remote: "publish login logout",
    bare: "network",
    scripts: "run",
    otherIsScript: true,
    settings: { config: "set unset delete" },
  },
  bun: { local: "run test build pm repl x exec", remote: "publish", bare: "local", scripts: "run", otherIsScript: true },
  deno: { local: "test fmt check lint run task eval doc bench info compile coverage types completions repl serve", scripts: "task" },
  cargo: {
    local:
      "build b check c test t run r bench doc d clippy fmt clean tree metadata expand locate-project pkgid verify-project nextest version help rustc rustdoc fix package machete udeps audit deny miri llvm-cov new init",
    remote: "publish yank owner login logout",
  },
  rustup: { local: "show which doc completions run" },
  go: { local: "build test vet fmt run list env version doc tool fix clean generate mod work help", settings: { env: "-w -u" } },
  pip: { local: "list freeze show check debug help inspect cache config", settings: { config: "set unset edit" } },
  uv: { local: "run pip tree venv version format build help cache python" },
  poetry: { local: "run show check env version build config shell about list", remote: "publish", settings: { config: "" } },
  pipenv: { local: "run graph check shell verify requirements" },
  pdm: { local: "run list show info build config venv", remote: "publish" },
  hatch: { local: "run env version build fmt test status config", remote: "publish" },
  pipx: { local: "list environment run" },
  conda: { local: "list info env run config activate deactivate shell", settings: { config: "--add --set --remove --append --prepend" } },
  gem: { local: "list env environment which build contents specification dependency help info", remote: "push yank owner signin" },
  bundle: { bare: "network", local: "exec list show info check config platform viz doctor licenses" },
  composer: {
    local: "show validate run-script run test exec dump-autoload dumpautoload check-platform-reqs depends why licenses status",
    otherIsScript: false,
  },
  dotnet: { local: "build test run format clean list sln publish pack new watch msbuild vstest" },
  mix: { local: "test compile format run credo dialyzer ecto.migrations phx.routes help deps.tree docs", otherIsScript: false },
  pod: { local: "spec lib ipc env" },
  swift: { local: "build test run package format" },
  stack: { local: "build test run exec ghci clean path" },
  cabal: { local: "build test run repl check clean list-bin", remote: "upload" },
  opam: { local: "list show switch env exec config" },
  luarocks: { local: "list show path make lint test", remote: "upload" },
  corepack: { local: "pnpm yarn npm" },
  nvm: { local: "ls list current which version" },
  fnm: { local: "ls list current env" },
  volta: { local: "list which" },
  pyenv: { local: "versions version which root prefix local global shims" },
  rbenv: { local: "versions version which root" },
  asdf: { local: "list current where which exec" },
  n: { local: "ls list which bin --version" },
  carthage: { local: "build version" },
  mise: { local: "ls list current where which exec run env tasks doctor" },
  brew: { local: "list ls info deps config doctor --prefix --version leaves" },
  apt: { local: "list show policy depends rdepends" },
  "apt-get": { local: "" },
  "apt-cache": { local: "policy show search depends rdepends pkgnames stats" },
  dnf: { local: "list info repolist" },
  yum: { local: "list info repolist" },
  apk: { local: "info list" },
  pacman: { local: "-Q -Qi -Ql -Qs -Qe" },
  zypper: { local: "se info" },
  snap: { local: "list info" },
  flatpak: { local: "list info" },
  nix: { local: "build develop eval flake fmt show" },
  easy_install: { local: "" },
  cpan: { local: "-l -v -h" },
  cpanm: { local: "--version --help --info" },
  flutter: { local: "test build run analyze doctor format devices clean config --version" },
  dart: { local: "run test analyze format fix compile doc info --version", remote: "publish" },
  "nix-env": { local: "-q --query" },
  "nix-shell": { local: "--run" },
  port: { local: "installed list info contents deps" },
  conan: { local: "list inspect profile config create build", remote: "upload" },
  vcpkg: { local: "list version" },
  nimble: { local: "build test tasks run check dump c", remote: "publish" },
  shards: { local: "build list check version" },
  rebar3: { local: "compile ct eunit dialyzer shell tree", remote: "hex" },
  raco: { local: "test make exe fmt" },
  elm: { local: "make repl reactor", remote: "publish bump" },
  lein: { local: "test run compile repl classpath check", remote: "deploy" },
  choco: { local: "list" },
  winget: { local: "list show" },
};
const sameAs: Readonly<Record<string, string>> = { pip3: "pip", mamba: "conda", micromamba: "conda", bundler: "bundle" };

/** Managers whose packages belong to the whole machine. */
const systemWide = new Set("port nix-env brew apt apt-get dnf yum apk pacman zypper snap flatpak choco winget".split(" "));

/** Questions within subcommands that otherwise fetch. */
const onlyTells = new Set([
  "pnpm store path",
  "pnpm store status",
  "npm cache verify",
  "npm cache ls",
  "yarn cache dir",
  "yarn cache list",
]);

/** Second words that turn an otherwise local subcommand into one that fetches. */
const fetching: Readonly<Record<string, RegExp>> = {
  "go mod": /^(?:tidy|download|vendor)$/,
  "go work": /^(?:sync|vendor)$/,
  "uv pip": /^(?:install|sync|compile|uninstall)$/,
  "uv python": /^(?:install|upgrade|uninstall|pin)$/,
  "uv cache": /^(?:clean|prune)$/,
  "bun pm": /^(?:trust|migrate)$/,
  "swift package": /^(?:resolve|update|add-dependency)$/,
  "conda env": /^(?:create|update|remove)$/,
  "dotnet new": /^(?:install|update)$/,
  "hatch env": /^(?:create|prune|remove)$/,
  "pip cache": /^(?:purge|remove)$/,
  "flutter pub": /^(?!deps$|run$)/,
  "dart pub": /^(?!deps$|run$)/,
  "nix flake": /^(?:update|lock|check)$/,
};

const judgeManager: Judge = (call, findings) => {
  const name = sameAs[call.program] ?? call.program;
  const manager = managers[name]!;
  const words = roughOperands(call.args, name === "cargo" ? valued.filter((option) => option !== "-p") : valued);
  const shown = name === "cargo" ? words.filter((word) => !word.literal?.startsWith("+")) : words;
  if (shown.length === 0) {
    const option = call.texts[0];
    const asks = hasExactly(call.args, ["-v", "-V", "-h", "--version", "--help", "--info", "--list", "--list-sdks", "--list-runtimes"]);
    const isKnown = option === undefined || asks || manager.local.split(" ").includes(option);
    if (manager.bare === "network" ? !asks : !isKnown && systemWide.has(name)) fetchesPackages(call, findings, name);
    return;
  }
  judgeSubcommand(
    call,
    findings,
    name,
    manager,
    shown.map((word) => word.literal ?? "?"),
  );
};

function judgeSubcommand(call: JudgedCall, findings: Findings, name: string, manager: Manager, words: readonly string[]): void {
  const [first = "?", second = ""] = words;
  if (name === "yarn" && first === "workspace") return judgeSubcommand(call, findings, name, manager, words.slice(2));
  if (name === "yarn" && first === "workspaces" && (second === "foreach" || second === "run")) {
    return judgeSubcommand(call, findings, name, manager, second === "run" ? words.slice(1) : words.slice(2));
  }
  const changes = manager.settings?.[first];
  if (
    changes !== undefined &&
    (changes === "" ? words.length > 2 || first === "set" : changes.split(" ").some((word) => word === second || call.texts.includes(word)))
  ) {
    addFact(findings, "runs_later", call.text);
    return;
  }
  const isScript = manager.scripts?.split(" ").includes(first) === true;
  if (isScript && isDelivery(second)) addByName(findings, call);
  if (manager.remote?.split(" ").includes(first) === true) {
    addFact(findings, "remote_change", call.text, networkScope(null));
    return;
  }
  if (name === "deno" && (first === "run" || first === "test" || first === "eval") && call.args.some(isUrl)) {
    addFact(findings, "hidden_code", `${call.text} runs code from the network`, networkScope(null));
    return;
  }
  if (name === "go" && first === "run" && /@/.test(second)) return fetchesPackages(call, findings, name);
  if (name === "deno" && first === "run" && call.texts.some((text) => /^(?:npm|jsr|https?):/.test(text)))
    return fetchesPackages(call, findings, name);
  // The registry's word on a package, in yarn's first form.
  if (name === "yarn" && first === "info" && second !== "") return fetchesPackages(call, findings, name);
  const asked = `${first} ${second}`;
  if (
    /^(?:config get|get|config list|config ls)/.test(asked) &&
    call.texts.some((text) => /auth|token|password|^-l$|--json|--long/i.test(text))
  )
    addFact(findings, "secret_read", call.text);
  if (name === "go" && first === "clean" && call.texts.includes("-modcache"))
    return addFact(findings, "outside_write", call.text, { unsandboxed: true });
  const fetches = fetching[`${name} ${first}`];
  if (fetches !== undefined && fetches.test(second)) return fetchesPackages(call, findings, name);
  const pins = (name === "pyenv" || name === "rbenv") && (first === "local" || first === "global") && second !== "";
  if (pins) return addFact(findings, "runs_later", call.text);
  if (manager.local.split(" ").includes(first) || onlyTells.has(`${name} ${asked}`)) return;
  // Without the name of a template it only writes a package.json.
  if (name === "npm" && first === "init" && second === "") return;
  if (manager.otherIsScript === true && !fetchWords.has(first)) {
    if (isDelivery(first)) addByName(findings, call);
    return;
  }
  // A task of the project's own tool (`mix my.task`) is code of the workspace.
  if ((name === "mix" || name === "composer") && !fetchWords.has(first) && !/^(?:deps|hex|local|archive|global)/.test(first)) return;
  fetchesPackages(call, findings, name);
}

const fetchWords = new Set(
  "install i in ci add update up upgrade upgrade-interactive policies remove rm uninstall un link unlink dlx create init import fetch audit outdated deploy dedupe set plugin global npm store patch patch-commit view info search require require-dev self-update create-project env approve-builds setup server cache".split(
    " ",
  ),
);

function fetchesPackages(call: JudgedCall, findings: Findings, name: string): void {
  addFact(findings, "network", call.text, networkScope(null));
  if (systemWide.has(name)) addFact(findings, "privilege", `${call.text} changes the whole machine`, { unsandboxed: true });
  if (call.args.some((word) => word.literal === "-g" || word.literal === "--global") && ["npm", "pnpm", "yarn", "bun"].includes(name)) {
    addNeed(findings, "write", literalWord("/usr/local/lib/node_modules"));
  }
}

export const packageJudges: ReadonlyMap<string, Judge> = new Map(
  [...Object.keys(managers), ...Object.keys(sameAs)].map((name) => [name, judgeManager] as const),
);

const moduleOption = /^-[bBdEiIOPqRsSuvx]*m(.*)$/s;

/** `python -m pip …` is pip; other modules that fetch are named here too. */
export function judgePythonModule(call: JudgedCall, findings: Findings): void {
  // `-mpip`, `-Im pip`.
  const at = call.texts.findIndex((text) => moduleOption.test(text));
  const joined = moduleOption.exec(call.texts[at] ?? "")?.[1] ?? "";
  const setup = call.texts.findIndex((text) => /(?:^|\/)setup\.py$/.test(text));
  if (setup >= 0 && call.texts.slice(setup).some((text) => /^(?:install|develop|upload|register|easy_install)$/.test(text)))
    addFact(findings, "network", `${call.text} installs or uploads`, networkScope(null));
  const module = at < 0 ? null : joined === "" ? call.texts[at + 1] : joined;
  const behind = call.args.slice(joined === "" ? at + 2 : at + 1);
  if (module === "pip" || module === "uv" || module === "poetry" || module === "pipx") {
    judgeManager({ ...call, program: module, args: behind, texts: behind.map((word) => word.literal ?? "") }, findings);
  } else if (module === "zipfile" || module === "tarfile") {
    const [first, second] = roughOperands(behind);
    addNeed(findings, "write", hasOption(behind, "-c", "--create") ? first : second);
  } else if (module === "venv") {
    for (const word of roughOperands(behind, ["--prompt"])) addNeed(findings, "write", word);
  } else if (module === "ensurepip" || module === "twine") addFact(findings, "network", call.text, networkScope(null));
}
