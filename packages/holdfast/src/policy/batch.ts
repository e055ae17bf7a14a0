import { createPolicy, type ExplainingPolicy, type Mode, modes, readDataRules, type Rule } from "@holdfast/policy";
import { home as usualHome, requestFor, workspace as usualProject } from "@holdfast/policy/examples/project";
import type { Arguments } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { networkOf } from "../session/flags.ts";
import { withoutHidden } from "../render/json-events.ts";
import { loadPolicy } from "./load.ts";
import { sandboxOf } from "./modes.ts";
import { placeOf } from "./place.ts";

/** Bytes of stdin: some hundred thousand commands. */
const largestBatch = 64 * 1024 * 1024;

/** What a line of the batch may say for `mode`: also the sandbox's own words. */
const modeWords: Readonly<Record<string, Mode>> = {
  ...Object.fromEntries(modes.map((mode) => [mode, mode])),
  "workspace-write": "workspace",
  off: "full",
};

interface Asked {
  readonly id: unknown;
  readonly command: string;
  readonly mode: Mode;
  readonly rules: readonly unknown[] | null;
}

/**
 * Judges a command for each line of stdin, in a usual project: sources and the usual files are there and under version
 * control, nothing else is. Lines that are wrong are answered with an `error`, and the exit status is 2.
 */
export async function runBatch(given: Arguments, io: Io): Promise<number> {
  const { place } = await placeOf(given, io);
  const own = await loadPolicy(place);
  const network = networkOf(given.values("allow-net").flatMap((one) => one.split(",")));
  const isUntrusted = given.has("untrusted-content");
  const known = new Map<string, ExplainingPolicy>();
  const policyOf = (rules: readonly unknown[] | null): ExplainingPolicy | string => {
    const key = JSON.stringify(rules);
    const made = known.get(key);
    if (made !== undefined) return made;
    const read = rules === null ? own : alone(rules);
    if (typeof read === "string") return read;
    // A batch may bring rules of its own with each line.
    if (known.size > 500) known.clear();
    const policy = createPolicy({ home: usualHome, holdfastHome: `${usualHome}/.holdfast`, rules: read, isAlone: rules !== null });
    known.set(key, policy);
    return policy;
  };
  let wrong = 0;
  for (const line of (await io.stdin.readAll(largestBatch)).split("\n")) {
    if (line.trim() === "") continue;
    const asked = readLine(line, (given.value("mode") as Mode | undefined) ?? "workspace");
    const policy = "error" in asked ? asked.error : policyOf(asked.rules);
    if ("error" in asked || typeof policy === "string") {
      wrong += 1;
      io.stdout.write(answerLine({ id: asked.id ?? null, error: typeof policy === "string" ? policy : "" }));
      continue;
    }
    const request = requestFor(asked.command, {
      ...sandboxOf(asked.mode),
      network,
      project: usualProject,
      trust: { untrustedInWindow: isUntrusted, sources: [] },
    });
    const { decision, rule, reason } = await policy.decide(request);
    io.stdout.write(answerLine({ id: asked.id, decision, rule: rule.id, reason }));
  }
  return wrong === 0 ? 0 : 2;
}

function answerLine(answer: object): string {
  return `${withoutHidden(JSON.stringify(answer))}\n`;
}

function alone(rules: readonly unknown[]): readonly Rule[] | string {
  const read = readDataRules(rules, "rules");
  const [first] = read.problems;
  return first === undefined ? read.rules : `rules: ${first.message}, in number ${first.line}`;
}

function readLine(line: string, defaultMode: Mode): Asked | { readonly id: unknown; readonly error: string } {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch {
    return { id: null, error: "this is not JSON" };
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) return { id: null, error: "this is not a JSON object" };
  const { id, command, mode, rules } = found as Record<string, unknown>;
  if (typeof command !== "string") return { id, error: "command is not a string" };
  const wanted =
    mode === undefined ? defaultMode : typeof mode === "string" && Object.hasOwn(modeWords, mode) ? modeWords[mode] : undefined;
  if (wanted === undefined) return { id, error: `mode is not one of ${modes.join(", ")}` };
  if (rules !== undefined && !Array.isArray(rules)) return { id, error: "rules is not a list" };
  return { id, command, mode: wanted, rules: rules ?? null };
}
