import { normalise } from "../facts/place.ts";

/** Folders and files below a home that hold credentials, and other tools' secrets. */
const homeSecrets =
  /\/(?:\.ssh|\.aws|\.azure|\.gnupg|\.kube|\.password-store|\.mozilla|\.thunderbird|\.config\/(?:gcloud|gh|hub|op|google-chrome|chromium|BraveSoftware|microsoft-edge|doctl|fly|rclone|sops|age|containers|stripe|heroku|netlify|configstore|git\/credentials)|\.docker\/config\.json|\.cargo\/credentials(?:\.toml)?|\.gem\/credentials|\.terraform\.d|\.local\/share\/keyrings|\.vault-token|\.s3cfg|\.boto|Library\/(?:Keychains|Application Support\/(?:Google\/Chrome|Firefox)))(?:\/|$)/;

/** Files that hold credentials, by name, wherever they lie. On some machines, and for `:(icase)`, `.ENV` is the same file. */
const secretNames =
  /^(?:\.env(?:\.(?!example$|sample$|template$|dist$|defaults?$|schema$)[\w.-]+)?|[\w.-]+\.env|\.envrc|\.netrc|_netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[\w.-]*\.(?:pfx|p12|jks|keystore|kdbx|ppk)|(?:[\w.-]*[_.-])?key\.pem|[\w.-]*priv(?:ate|key)?[\w-]*\.pem|[\w.-]*\.key|\.(?:bash|zsh|python|node_repl|psql|mysql)_history|credentials\.json|service[_-]account[\w.-]*\.json|secrets?\.(?:ya?ml|json|toml)|[\w.-]+\.tfstate|[\w.-]*\.tfvars(?:\.json)?|(?:server|client)\.pem|master\.key)$/i;

/** Only in a home folder itself: a project has its own harmless ones. */
const homeOnly = /^(?:\.npmrc|\.pypirc|\.yarnrc\.yml|\.gitconfig\.secret)$/;

const systemSecrets =
  /^\/(?:etc\/(?:shadow|gshadow|sudoers)(?:[-.]|\/|$)|etc\/(?:ssl\/private|kubernetes|ppp\/\w+-secrets|ssh\/ssh_host_\w+_key)|(?:var\/)?run\/secrets|var\/lib\/(?:docker|kubelet))(?:\/|$)?/;

/** What a process holds: its environment, arguments, memory and open files, ours among them. The rest only counts things. */
const ofProcess =
  /^\/proc(?:$|\/(?:\d+|self|thread-self)(?:$|\/(?!(?:task\/\d+\/)?(?:status|stat|statm|comm|limits|cgroup|mounts|mountinfo|io|sched|net\/\w+)$)))/;

/** What another process has open, and the folders that it sees: names alone tell. */
const ofOther = /^\/proc\/\d+\/(?:task\/\d+\/)?(?:fd|fdinfo|root|cwd|map_files)(?:\/|$)/;

const exampleNames = /\.(?:example|sample|template|dist|pub)$/;

/** Where secrets lie: a folder that the sandbox masks, or a single file. Null elsewhere. `path` is absolute or from the home. */
export function secretPlace(path: string, home: string | null): "folder" | "file" | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (homeSecrets.test(path.startsWith("/") ? path : `/${path}`))
    return exampleNames.test(name) && !name.endsWith(".pub") ? null : "folder";
  if (ofOther.test(path)) return "folder";
  if (systemSecrets.test(path) || ofProcess.test(path)) return "file";
  if (exampleNames.test(name)) return null;
  if (secretNames.test(name)) return "file";
  const folder = path.slice(0, path.lastIndexOf("/"));
  return homeOnly.test(name) && (folder === "~" || (home !== null && folder === home)) ? "file" : null;
}

const expansion = /\$\([^)]{0,200}\)|`[^`]{0,200}`|\$\{[^}]{0,80}\}|\$(?:\w+|[$!])|(?:\[[^\]]{0,80}\]|[*?])+/g;

/** The same of a process whose number is only known when the line runs: `/proc/$(pgrep x)/environ`, `$p/environ`. `text`: as written. */
export function couldBeProcess(text: string): boolean {
  const bare = text.replace(/["']/g, "");
  const plain = bare.replace(expansion, "1");
  return plain !== bare && (/^\/proc\/\d/.test(plain) ? ofProcess.test(normalise(plain)) : /^1\/environ$/.test(plain));
}

/** In code, whatever its language: `"/proc/" + pid + "/environ"`. */
export const namesProcessInCode = /\/proc\/[\s\S]{0,80}?\/(?:environ|mem)\b/;

/** Names that stand for the places above, to see whether a glob would find one. */
const namedSecrets = [
  ".ssh",
  ".aws",
  ".azure",
  ".gnupg",
  ".kube",
  ".password-store",
  ".netrc",
  ".env",
  ".env.local",
  "prod.env",
  ".git-credentials",
  "id_rsa",
  "id_ed25519",
  "shadow",
  "gshadow",
];

/** True where a pattern with globs could name such a place. */
export function couldBeSecret(pattern: string): boolean {
  const segments = pattern.split("/");
  const environment = ["", "proc", "1", "environ"];
  if (segments.length === 4 && segments.every((segment, i) => globExpression(segment)?.test(environment[i]!) === true)) return true;
  return segments.some((segment) => {
    // A folder of that name is another one elsewhere; `couldBeProcess` knows the system's.
    if (!/(?<!\\)[*?[]/.test(segment)) return segment !== "proc" && secretPlace(`/${segment}`, null) !== null;
    // `*` alone and `*.ts` never mean a secret on purpose.
    if (segment.replace(/\\.|[*?]|\[[^\]]*\]/g, "").length < 2 && !segment.startsWith(".")) return false;
    const expression = globExpression(segment);
    return expression !== null && namedSecrets.some((name) => (segment.startsWith(".") || !name.startsWith(".")) && expression.test(name));
  });
}

function globExpression(segment: string): RegExp | null {
  const source = segment.replace(/\\(.)|\*+|\?|\[!?[^\]]*\]|[.+^${}()|[\]]/g, (found, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped.replace(/[^\w]/g, "\\$&");
    if (found.startsWith("*")) return ".*";
    if (found === "?") return ".";
    return found.startsWith("[") && found.length > 1 ? "." : `\\${found}`;
  });
  try {
    return new RegExp(`^${source}$`);
  } catch {
    return null;
  }
}
