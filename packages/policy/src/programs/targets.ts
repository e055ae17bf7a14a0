import { addFact, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import { roughOperands } from "../shell/options.ts";
import { networkScope } from "./hosts.ts";

const deliveries = new Set(
  "setup apply docker compose terraform helm k8s infra purge wipe deploy deployment publish release push upload ship install uninstall bootstrap provision promote rollback destroy teardown migrate drop reset seed".split(
    " ",
  ),
);
const harmlessStart = new Set("build test tests lint check typecheck docs doc dry preview".split(" "));

/** True for the name of a task or script whose words say that it delivers: outside, or into the machine. */
export function isDelivery(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  return words.length > 0 && !harmlessStart.has(words[0]!) && words.some((word) => deliveries.has(word));
}

/** What nobody here can see into is judged by what it is called: told as such. */
export function addByName(findings: Findings, call: JudgedCall): void {
  findings.facts.push({ kind: "remote_change", what: call.text, scope: networkScope(null), isByName: true });
}

const buildTools = new Set("gradle gradlew mvn mvnw sbt xcodebuild rails".split(" "));
/** Words and options by which build tools ask for newer packages, or make a project that wants some. */
const updatesPackages =
  /^(?:--refresh-dependencies|-U|--update-snapshots|update|new|-resolvePackageDependencies|dependency:(?:get|resolve\S*|go-offline|purge\S*|sources)|versions:\S+|wrapper:\S+)$/;

const shows = /^(?:-n|--dry-run|--just-print|--list|--help|--version|--summary)$/;
/** Their -l is a load of the machine, not a list. */
const takesLoad = new Set(["make", "gmake", "ninja"]);

/** Runners of a project's tasks: the names that they are given tell what will happen. */
const tasks: Judge = (call, findings) => {
  const end = call.texts.indexOf("--");
  const before = end < 0 ? call.texts : call.texts.slice(0, end);
  if (before.some((text) => shows.test(text) || (text === "-l" && !takesLoad.has(call.program)))) return;
  if (call.texts.some((text) => updatesPackages.test(text)) && buildTools.has(call.program))
    addFact(findings, "network", call.text, networkScope(null));
  // Not -j: make takes only a number for it, and a number says nothing; the next word may be what is made.
  const names = roughOperands(call.args, ["-C", "-f", "--file", "--directory", "-p", "-x"]);
  // Rake and rails name databases themselves: `databases.ts` judges those.
  const found = names.find((word) => !/^(?:db:|\w+=)/.test(word.literal ?? "") && isDelivery(word.literal ?? ""));
  if (found !== undefined) addByName(findings, call);
};

export const taskJudges: ReadonlyMap<string, Judge> = new Map(
  "make gmake just task rake invoke inv gradle gradlew mvn mvnw ant sbt xcodebuild bazel bazelisk buck ninja tox nox rails mage doit pants nx turbo lerna cap fastlane"
    .split(" ")
    .map((name) => [name, tasks] as const),
);
