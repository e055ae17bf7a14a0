import { addFact, addNeed, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import { nothingFile } from "../shell/nothing.ts";
import type { ShellWord } from "../shell/command.ts";
import { hasExactly, hasOption, optionValues, roughOperands } from "../shell/options.ts";
import { hostOf, hostsOf, isLoopback, networkScope } from "./hosts.ts";

/** Says that a call talks to hosts; unknown ones mean any. Loopback alone is the session's own network. */
export function addNetwork(findings: Findings, call: JudgedCall, hosts: readonly string[] | null): void {
  if (hosts !== null && hosts.length > 0 && hosts.every(isLoopback)) return;
  addFact(findings, "network", call.text, networkScope(hosts));
}

/** Says that a call changes something in another place, which no later command here can take back. */
export function addRemoteChange(findings: Findings, call: JudgedCall, hosts: readonly string[] | null): void {
  if (hosts !== null && hosts.length > 0 && hosts.every(isLoopback)) return;
  addFact(findings, "remote_change", call.text, networkScope(hosts));
}

const curlValued = [
  ..."AbcCdDeEFhHKmMoPQrtTuUwxXyYz".split("").map((letter) => `-${letter}`),
  ..."--header --data --data-raw --data-binary --data-urlencode --json --form --output --output-dir --request --user --user-agent --cookie --cookie-jar --referer --cacert --cert --key --max-time --connect-timeout --retry --retry-delay --write-out --upload-file --range --proxy --config --interface --resolve --connect-to --url --limit-rate".split(
    " ",
  ),
].filter((option) => option !== "-h" && option !== "-M");

const curl: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help"]) || call.texts[0] === "-V") return;
  const urls = [...roughOperands(call.args, curlValued), ...optionValues(call.args, ["--url"])];
  const isIndirect = hasOption(call.args, "-x", "--proxy", "-K", "--config", "--connect-to", "--resolve", "--preproxy");
  const hosts = isIndirect || urls.length === 0 ? null : hostsOf(urls);
  const method = optionValues(call.args, ["-X", "--request"]).map((word) => word.literal?.toUpperCase() ?? "?");
  const sends =
    hasOption(
      call.args,
      "-d",
      "-F",
      "-T",
      "--data",
      "--data-raw",
      "--data-binary",
      "--data-urlencode",
      "--json",
      "--form",
      "--upload-file",
    ) || method.some((name) => name !== "GET" && name !== "HEAD");
  if (sends) addRemoteChange(findings, call, hosts);
  else addNetwork(findings, call, hosts);
};

const wget: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help"])) return;
  const urls = roughOperands(
    call.args,
    "-O -o -a -P -U -e -t -T -w -Q -A -R -D -I -X -l -i --output-document --header --directory-prefix --user-agent --tries --timeout --post-data --post-file --method".split(
      " ",
    ),
  );
  const hosts = urls.length === 0 || hasOption(call.args, "-i", "--input-file", "-e", "--execute") ? null : hostsOf(urls);
  if (hasOption(call.args, "--post-data", "--post-file", "--body-data", "--body-file", "--method")) addRemoteChange(findings, call, hosts);
  else addNetwork(findings, call, hosts);
};

/** Logs in elsewhere, or copies to or from there: both change what is not here. */
const remoteShell: Judge = (call, findings) => {
  if (/^-V$|^--version$/.test(call.texts[0] ?? "") && call.args.length === 1) return;
  const valued = "-p -P -i -l -o -F -J -L -R -D -b -c -e -E -I -m -O -Q -S -W -w".split(" ");
  const operands = roughOperands(call.args, valued);
  const remotes =
    call.program === "ssh" ? operands.slice(0, 1) : operands.filter((word) => word.literal === null || /^[^/]*:/.test(word.literal));
  addRemoteChange(findings, call, remotes.length === 0 ? null : hostsOf(remotes));
};

const rsync: Judge = (call, findings) => {
  const operands = roughOperands(call.args, ["-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--files-from", "--rsync-path"]);
  const remotes = operands.filter((word) => word.literal === null || /^[^/]*:/.test(word.literal));
  if (remotes.length > 0) addRemoteChange(findings, call, hostsOf(remotes));
  if (hasOption(call.args, "-e", "--rsh", "--rsync-path")) addFact(findings, "hidden_code", `${call.text} names a program to run`);
  const target = operands.at(-1);
  if (target === undefined || remotes.includes(target)) return;
  if (
    hasOption(call.args, "--delete", "--delete-after", "--delete-before", "--delete-during", "--delete-excluded", "--remove-source-files")
  ) {
    addFact(findings, "loses_work", call.text);
  }
  addNeed(findings, call.texts.includes(nothingFile) ? "truncate" : "write", target);
};

/** Any first operand is the host; there is nothing else to it. */
const toHost: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help"])) return;
  const operands = roughOperands(call.args, ["-c", "-W", "-w", "-i", "-s", "-p", "-t", "-q"]).filter(
    (word) => !/^[+@]/.test(word.literal ?? ""),
  );
  const host = operands[0];
  // Whatever is piped into a bare connection is sent to whoever listens there.
  const { command } = call;
  const sends = command.isPiped || command.hereText !== null || command.redirects.some(({ operator }) => operator.startsWith("<"));
  if (sends && /^(?:nc|ncat|netcat|telnet)$/.test(call.program))
    addFact(findings, "remote_change", `${call.text} sends what it is given`, networkScope(host === undefined ? null : hostsOf([host])));
  if (call.args.some((word) => /^-\w*[lLeck]/.test(word.literal ?? "")) && ["nc", "ncat", "netcat", "socat"].includes(call.program)) {
    addFact(findings, "network", call.text, networkScope(null));
    return;
  }
  addNetwork(findings, call, host === undefined ? null : hostsOf([host]));
};

const anywhere: Judge = (call, findings) => {
  if (call.args.length === 1 && /^(?:--version|--help|-V|-h|version|help)$/.test(call.texts[0]!)) return;
  addFact(findings, "network", call.text, networkScope(null));
};

/** Tools for media and documents, which fetch what they are given by its address. */
const fetchesOperands: Judge = (call, findings) => {
  const urls = call.args.filter((word) => /^(?:\/vsi\w+\/)?(?:https?|ftp|rtmp|rtsp):\/\//.test(word.literal ?? ""));
  if (urls.length > 0) addNetwork(findings, call, hostsOf(urls));
};

/** Without a word these deploy. */
const deliversBare = new Set("vercel now surge gh-pages firebase-deploy k9s".split(" "));

/** Clients of services elsewhere: every call uses an account, and most change something. */
const account: Judge = (call, findings) => {
  if (call.args.length === 0 && deliversBare.has(call.program)) return addFact(findings, "remote_change", call.text, networkScope(null));
  if (call.args.length === 0 || /^(?:--version|--help|-h|-v|version|help|completion)$/.test(call.texts[0]!)) return;
  const words = roughOperands(call.args).map((word) => word.literal ?? "?");
  if (call.program === "helm" && /^(?:lint|create|show)$/.test(words[0] ?? "")) return;
  if (call.program === "helm" && words[0] === "template" && !hasOption(call.args, "--dependency-update")) return;
  if (/^(?:terraform|tofu)$/.test(call.program) && /^(?:fmt|validate|version|graph)$/.test(words[0] ?? "")) return;
  if (
    /^(?:token|print-access-token|print-identity-token|secret|secrets|credentials)$/.test(words[1] ?? "") ||
    // `secrets,pods`, `secret/db`, behind options with their values too.
    (words.includes("get") && words.some((word) => /(?:^|,)secrets?(?:[.,/]|$)/i.test(word)))
  ) {
    addFact(findings, "secret_read", call.text, networkScope(null));
  }
  const isRead =
    words.some((word) => /^(?:list|view|status|get|describe|logs|show|ls|diff|whoami|top|watch)(?:-|$)/.test(word)) || words[0] === "plan";
  if (isRead) addFact(findings, "network", call.text, networkScope(null));
  else addFact(findings, "remote_change", call.text, networkScope(null));
};

/** Called without a word, these deliver. */
const delivers: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help", "--dry-run", "-d"])) return;
  addFact(findings, "remote_change", call.text, networkScope(null));
};

/** Makers of pages that also put them where others read them. */
const deliversByWord: Judge = (call, findings) => {
  if (call.texts.some((text) => /^(?:gh-deploy|deploy|-d|--deploy|--push|-p)$/.test(text)))
    addFact(findings, "remote_change", call.text, networkScope(null));
};

/** Other version controls: what talks to a server, by its word. */
const versionControl: Judge = (call, findings) => {
  const words = roughOperands(call.args, ["-R", "--cwd", "--config", "-m", "-r"]).map((word) => word.literal ?? "?");
  const talk = (call.program === "jj" ? words.slice(0, 2).join(" ") : (words[0] ?? "")).replace(/^git /, "");
  const sends = /^(?:push|ci|commit|submit|send|ship|delete|import|copy|mkdir|lock|unlock|switch)$/;
  const fetches = /^(?:pull|fetch|clone|update|up|checkout|co|incoming|in|outgoing|out|export|log|info|ls|list|cat|sync|get|merge|diff)$/;
  const isRemoteByNature = call.program === "svn" || call.program === "cvs" || call.program === "p4";
  if (/^(?:push|submit|send|ship)$/.test(talk) || (isRemoteByNature && sends.test(talk))) addRemoteChange(findings, call, null);
  else if (
    /^(?:pull|fetch|clone|incoming|in|outgoing|out|sync|get)$/.test(talk) ||
    (isRemoteByNature && fetches.test(talk) && talk !== "diff")
  )
    addNetwork(findings, call, null);
};

/** Tools that fetch browsers or binaries of their own when told to. */
const installs: Judge = (call, findings) => {
  const words = roughOperands(call.args).map((word) => word.literal ?? "?");
  if (words.some((word) => /^install(?:-deps)?$/.test(word))) addFact(findings, "network", call.text, networkScope(null));
};

function each(judge: Judge, names: string): (readonly [string, Judge])[] {
  return names.split(" ").map((name) => [name, judge] as const);
}

export const networkJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["curl", curl],
  ["wget", wget],
  ["wget2", wget],
  ["rsync", rsync],
  ...each(remoteShell, "ssh scp sftp mosh sshfs ssh-copy-id autossh"),
  ...each(
    toHost,
    "nc ncat netcat telnet ping ping6 dig nslookup host whois traceroute tracepath mtr nmap http https xh httpie ftp lftp tftp websocat grpcurl",
  ),
  ...each(
    anywhere,
    "mosquitto_pub mosquitto_sub kcat kafkacat drill lt ncu npm-check-updates npm-check taze certbot acme.sh ssh-keyscan sshuttle filebeat scoop steamcmd gcsfuse s5cmd minio-client mcli restic borg duplicity syncthing wormhole croc transfer rsh rlogin rcp finger xfreerdp vncviewer huggingface-cli hf kaggle gdown modelscope dvc git-annex chromium google-chrome firefox puppeteer-browser socat aria2c axel youtube-dl yt-dlp rclone s3cmd mc smbclient mail sendmail mutt msmtp ngrok cloudflared localtunnel tor w3m lynx links elinks openvpn wg wg-quick",
  ),
  ...each(
    fetchesOperands,
    "ffmpeg ffprobe mpv mplayer vlc convert magick identify pandoc xmllint xsltproc tidy wkhtmltopdf wkhtmltoimage gdalinfo gdal_translate ogr2ogr",
  ),
  ...each(versionControl, "hg svn jj gt sl cvs bzr brz p4 repo darcs fossil"),
  ...each(installs, "playwright cypress puppeteer"),
  ...each(delivers, "semantic-release release-it np twine goreleaser cosign oras crane notation ko ghp-import"),
  ...each(deliversByWord, "mkdocs mike hexo docusaurus"),
  ...each(
    account,
    "gh glab hub aws az gcloud gsutil bq kubectl oc helm terraform tofu pulumi cdk sam vercel netlify fly flyctl heroku firebase wrangler railway render doctl linode-cli supabase planetscale stripe twilio sentry-cli circleci buildkite-agent kubectx kubens helmfile terragrunt terramate fastlane serverless sls eb k9s amplify kamal dokku surge gh-pages nomad consul jira linear slack okta eas stern skaffold tilt copilot-cli azd oci ibmcloud scw hcloud packer vagrant-cloud nuget buildah-push tea bb rhc heroku-cli argocd flux eksctl kops ansible ansible-playbook doppler infisical",
  ),
]);

/** The host of a bash socket path, `/dev/tcp/HOST/PORT`. */
export function socketHost(path: string): string | null {
  const found = /^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(path);
  return found === null ? null : (hostOf(found[1]!) ?? "?");
}

export function isUrl(word: ShellWord): boolean {
  return /^(?:https?|git|ssh|ftp):\/\//.test(word.literal ?? "");
}

/** Clients whose operands may be a command for another machine. */
export function isRemoteShell(program: string): boolean {
  return networkJudges.get(program) === remoteShell || /^(?:rsync|curl|wget|nc|ncat|netcat|socat|telnet|ftp)$/.test(program);
}
