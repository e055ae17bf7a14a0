import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
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
  ".local/share/keyrings",
  ".local/share/kwalletd",
] as const;

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
export function maskedPaths(home: string, holdfastHome: string): string[] {
  return [...new Set([...secretPaths(home, holdfastHome), ...outerSockets().flatMap(realPath)])];
}

/** Those of them that hold secrets. */
export function secretPaths(home: string, holdfastHome: string): string[] {
  const homes = [...new Set([home, ...(knownAccounts ??= accountHomes())])];
  const below = homes.flatMap((each) => [...placesBelow(each), ...npmSecrets(each)]);
  return [...new Set([holdfastHome, ...below, ...system, ...hostKeys()].flatMap(realPath))];
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

/** An .npmrc is needed for its registry; one that holds a credential is hidden all the same. */
function npmSecrets(home: string): string[] {
  const path = join(home, ".npmrc");
  return /^[^;#\n]*(?:_authToken|_auth|_password)\s*=/m.test(readText(path)) ? [path] : [];
}

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
