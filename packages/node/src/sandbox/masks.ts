import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { contains } from "./mounts.ts";
import { lookAt } from "../files/missing.ts";

/** Below the user's home: places that hold what lets someone act in the user's name. */
const credentials = [
  ".ssh",
  ".aws",
  ".azure",
  ".gnupg",
  ".netrc",
  "_netrc",
  ".authinfo",
  ".authinfo.gpg",
  ".git-credentials",
  ".config/git/credentials",
  ".config/gh",
  ".config/hub",
  ".config/glab-cli",
  ".config/gcloud",
  ".config/doctl",
  ".config/op",
  ".config/rclone",
  ".config/heroku",
  ".docker",
  ".config/containers/auth.json",
  ".kube",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".terraform.d/credentials.tfrc.json",
  ".vault-token",
  ".databrickscfg",
  ".boto",
  ".s3cfg",
  ".pgpass",
  ".my.cnf",
  ".fly",
  ".password-store",
  ".config/composer/auth.json",
  ".composer/auth.json",
  ".config/sops",
  ".config/age",
  ".config/hcloud",
  ".config/scw",
  ".oci",
  ".config/netlify",
  ".vercel",
  ".local/share/com.vercel.cli",
  ".wrangler",
  ".config/.wrangler",
  ".config/configstore",
  ".huggingface",
  ".cache/huggingface/token",
  ".cache/huggingface/stored_tokens",
  ".kaggle",
  ".config/Bitwarden CLI",
  ".config/1Password",
  ".bash_history",
  ".zsh_history",
  ".psql_history",
  ".mysql_history",
  ".local/share/keyrings",
  ".local/share/kwalletd",
] as const;

/** Below the user's home: settings that programs need, hidden all the same where they hold a credential. */
const settings: readonly (readonly [string, RegExp])[] = [
  [".npmrc", /^[^;#\n]*(?:_authToken|_auth|_password)\s*=/m],
  [".yarnrc.yml", /^\s*["']?npmAuth(?:Token|Ident)["']?\s*:/m],
  [".m2/settings.xml", /<(?:password|passphrase|privateKey)>/],
  [".gradle/gradle.properties", /^[^#\n]*(?:password|passwd|token|secret|apikey)[^=:\n]*[=:]/im],
  [".config/pip/pip.conf", /:\/\/[^/\s]*@/],
  [".pip/pip.conf", /:\/\/[^/\s]*@/],
  [".nuget/NuGet/NuGet.Config", /(?:ClearTextPassword|"Password"|<apikeys>)/i],
  [".bundle/config", /^BUNDLE_[^:\n]*__[^:\n]*:\s*["']?[^\s"'/:]+(?::[^\s"'/]+)?["']?\s*$/m],
];

/** Variables that name such a place somewhere else. Of those that name a folder of much else, what in it is one. */
const named: readonly (readonly [string, readonly string[]])[] = [
  ["AWS_SHARED_CREDENTIALS_FILE", [""]],
  ["AWS_CONFIG_FILE", [""]],
  ["AZURE_CONFIG_DIR", [""]],
  ["BOTO_CONFIG", [""]],
  ["CARGO_HOME", ["credentials", "credentials.toml"]],
  ["CLOUDSDK_CONFIG", [""]],
  ["COMPOSER_HOME", ["auth.json"]],
  ["DOCKER_CONFIG", [""]],
  ["GH_CONFIG_DIR", [""]],
  ["GNUPGHOME", [""]],
  ["GOOGLE_APPLICATION_CREDENTIALS", [""]],
  ["HF_HOME", ["token", "stored_tokens"]],
  ["HISTFILE", [""]],
  ["NETRC", [""]],
  ["NPM_CONFIG_USERCONFIG", [""]],
  ["npm_config_userconfig", [""]],
  ["PASSWORD_STORE_DIR", [""]],
  ["PGPASSFILE", [""]],
];

/** Signed-in sessions of browsers. */
const browsers = [
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  ".config/vivaldi",
  ".config/opera",
  ".thunderbird",
  "snap/firefox",
  "snap/chromium",
  ".var/app",
] as const;

/** Keys, approvals and settings of other programs that run agents. */
const agents = [
  ".holdfast",
  ".codex",
  ".claude",
  ".claude.json",
  ".gemini",
  ".copilot",
  ".config/github-copilot",
  ".cursor",
  ".continue",
  ".cline",
  ".aider.conf.yml",
  ".config/goose",
  ".config/opencode",
  ".local/share/opencode",
  ".pi",
  ".qwen",
  ".config/amp",
  ".local/share/amp",
] as const;

/** What of all these lies below `.config`, which a variable can name. */
const inConfig = [...credentials, ...browsers, ...agents].flatMap((name) =>
  name.startsWith(".config/") ? [name.slice(".config/".length)] : [],
);

/** Readable by root alone, which we may be. */
const system = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
] as const;

/**
 * Real paths to hide, of those that exist now: what does not exist can't be made there, for the folder around it is read-only.
 * A link is followed, so what it leads to is hidden.
 */
export function maskedPaths(home: string, holdfastHome: string, environment: Environment = process.env): string[] {
  return [...new Set([...secretPaths(home, holdfastHome, environment), ...outerSockets().flatMap(realPath)])];
}

/** Those of them that hold secrets. */
export function secretPaths(home: string, holdfastHome: string, environment: Environment = process.env): string[] {
  const homes = [...new Set([home, ...(knownAccounts ??= accountHomes())])];
  const below = homes.flatMap((each) => [...placesBelow(each), ...settingsWithSecrets(each)]);
  const moved = namedPlaces(environment).filter((path) => !homes.some((each) => contains(path, each)));
  return [...new Set([holdfastHome, ...below, ...moved, ...system, ...hostKeys()].flatMap(realPath))];
}

/** Looked for before each command: their names are put together once. */
const knownPlaces = new Map<string, readonly string[]>();
function placesBelow(home: string): readonly string[] {
  const known = knownPlaces.get(home) ?? [...credentials, ...browsers, ...agents].map((name) => join(home, name));
  knownPlaces.set(home, known);
  return known;
}

let knownAccounts: readonly string[] | undefined;

/** HOME may name another folder than the account has, which ssh and others go by; root can read every person's. */
function accountHomes(): string[] {
  const own = process.getuid?.();
  const accounts = readText("/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"));
  return accounts.flatMap(([, , id, , , folder = ""]) => {
    const uid = Number(id);
    const isRead = uid === own || (own === 0 && uid >= 1000);
    return isRead && folder.startsWith("/") && folder !== "/" && existsSync(folder) ? [folder] : [];
  });
}

function hostKeys(): string[] {
  try {
    return readdirSync("/etc/ssh")
      .filter((name) => /^ssh_host_\w+_key$/.test(name))
      .map((name) => join("/etc/ssh", name));
  } catch {
    return [];
  }
}

function settingsWithSecrets(home: string): string[] {
  return settings.flatMap(([name, secret]) => {
    const path = join(home, name);
    return lookAt(path) !== undefined && secret.test(readText(path)) ? [path] : [];
  });
}

/** Where our own environment says that programs have what is ours; a relative path would mean another place to each. */
function namedPlaces(environment: Environment): string[] {
  const config = environment["XDG_CONFIG_HOME"];
  const ofConfig = config === undefined ? [] : inConfig.map((name) => join(config, name));
  const files = (environment["KUBECONFIG"] ?? "").split(":");
  const others = named.flatMap(([variable, names]) => {
    const value = environment[variable];
    return value === undefined ? [] : names.map((name) => join(value, name));
  });
  return [...ofConfig, ...files, ...others].filter((path) => isAbsolute(path) && path !== "/dev/null");
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Paths of Unix sockets that something outside listens on, in the workspace too: connecting needs no write, and whoever
 * answers works outside the sandbox. Sandboxed commands' own are in a network namespace of theirs and aren't listed here.
 */
export function outerSockets(): string[] {
  return readText("/proc/net/unix")
    .split("\n")
    .flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}

/** Empty where it can't be read. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function realPath(path: string): string[] {
  try {
    // Nearly all are missing, and an exception costs more than a look.
    return lookAt(path) === undefined ? [] : [realpathSync.native(path)];
  } catch {
    return [];
  }
}

export function isFolder(path: string): boolean {
  return existsSync(path) && lstatSync(path).isDirectory();
}
