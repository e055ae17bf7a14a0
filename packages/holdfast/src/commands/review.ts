import type { InspectedCheck, Json, ReviewRange } from "@holdfast/protocol";
import type { DriveEnd } from "@holdfast/runtime";
import type { Arguments, Command, CommandSpec } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { usage } from "../cli/parse.ts";
import { findWorkspace } from "../config/workspace.ts";
import { renderEnding } from "../render/ending.ts";
import { jsonLine } from "../render/json-events.ts";
import { createStyle } from "../render/style.ts";
import type { Changes } from "../review/changes.ts";
import type { ReviewAnswer, Severity } from "../review/findings.ts";
import { isAtLeast, readFindings } from "../review/findings.ts";
import { changesIn } from "../review/reopen.ts";
import { renderReview } from "../review/render.ts";
import type { Hosts } from "../runtime-api.ts";
import { driveTurn, retrying } from "../session/drive-turn.ts";
import type { SessionWishes } from "../session/flags.ts";
import { readWishes, sessionFlags } from "../session/flags.ts";
import { showJson, showProgress } from "../session/show-turn.ts";
import { letGo } from "../session/let-go.ts";
import type { ReadySession, Setup } from "../session/start.ts";
import { inputParts, openSetup, resumeSession, startSession } from "../session/start.ts";

const { check, "no-baseline": noBaseline, ...sharedFlags } = sessionFlags;

const spec: CommandSpec = {
  name: "review",
  summary: "Reviews changes and shows what of them was read. Progress goes to stderr, the findings to stdout.",
  usage: ["holdfast review [--uncommitted | --base REF | --commit C] [flags] [what to look at]"],
  flags: {
    uncommitted: { kind: "boolean", help: "what isn't committed yet, new files too (the default)" },
    base: { kind: "string", value: "REF", help: "all since this branch or commit, what isn't committed too" },
    commit: { kind: "string", value: "C", help: "one commit" },
    fix: { kind: "boolean", help: "then fix what was found, and verify it with --check" },
    ...(check === undefined
      ? {}
      : { check: { ...check, help: "with --fix: a command that must pass before the fix counts as done (repeatable)" } }),
    ...(noBaseline === undefined ? {} : { "no-baseline": noBaseline }),
    "fail-on": {
      kind: "string",
      value: "SEVERITY",
      help: "exit with 3 where a finding is as bad: critical, high, medium, low",
      oneOf: ["critical", "high", "medium", "low"],
    },
    ...sharedFlags,
    json: { kind: "boolean", help: "one JSON event a line on stdout instead; review.completed has the findings" },
    quiet: { kind: "boolean", short: "q", help: "no progress, only how it ended" },
  },
  words: { min: 0, max: 1, named: "what to look at" },
  notes: [
    "The review itself can change nothing: it runs in a read-only sandbox. It counts as done when every part of every changed file was shown to the model; what was not is listed, and the exit status is 3.",
    "Exit status: that of exec. Findings don't change it without --fail-on.",
  ],
  examples: [
    ["holdfast review --base main", "before a pull request"],
    ["holdfast review --commit HEAD --fail-on high", "in CI"],
    ['holdfast review --fix --check "npm test" "look for races"', "finds, fixes and verifies"],
  ],
};

async function run(given: Arguments, io: Io, hosts: Hosts): Promise<number> {
  const range = rangeOf(given);
  const wishes = readWishes(spec, given);
  if (!given.has("fix") && wishes.checks.length > 0)
    throw usage(spec, "--check belongs to --fix", "a review changes nothing that a command could check");
  const setup = await openSetup(io, { profile: given.value("profile"), overrides: given.values("config") });
  const changes = await changesIn(hosts, setup, await findWorkspace(wishes.folder, io.cwd, io.env), wishes.sandbox, range);
  const { end, answer, session } = await review(given, io, hosts, setup, wishes, range, changes);
  if (answer === null || end.standing !== "verified") return end.exitStatus;
  const threshold = given.value("fail-on") as Severity | undefined;
  const isBad = threshold !== undefined && answer.findings.some((finding) => isAtLeast(finding, threshold));
  if (!given.has("fix") || answer.findings.length === 0) return isBad ? 3 : end.exitStatus;
  return fix(given, io, hosts, setup, wishes, session);
}

function rangeOf(given: Arguments): ReviewRange {
  const named = ["uncommitted", "base", "commit"].filter((flag) => given.has(flag));
  if (named.length > 1) throw usage(spec, `--${named.join(" and --")} name different changes`, "keep one of them");
  const [base, commit] = [given.value("base"), given.value("commit")];
  if (base !== undefined) return { type: "base", ref: base };
  return commit === undefined ? { type: "uncommitted" } : { type: "commit", ref: commit };
}

interface Reviewed {
  readonly end: DriveEnd;
  readonly session: string;
  /** Null where the review came to no end of its own. */
  readonly answer: ReviewAnswer | null;
}

async function review(
  given: Arguments,
  io: Io,
  hosts: Hosts,
  setup: Setup,
  wishes: SessionWishes,
  range: ReviewRange,
  changes: Changes,
): Promise<Reviewed> {
  const [{ readChange }, { reviewPrompt, reviewSchema }] = await Promise.all([
    import("@holdfast/tools/read-change"),
    import("@holdfast/harness/text/review"),
  ]);
  const files = changes.files.map(({ path, digest, parts }) => ({ path, digest, parts: parts.length }));
  const inspected: InspectedCheck = {
    id: "check_inspected",
    kind: "inspected",
    name: "every change read",
    authority: "user",
    isRequired: true,
    range: changes.range,
    source: range,
    files,
  };
  const reviewer = wishes.model ?? setup.config.models.review;
  const reading: SessionWishes = {
    ...wishes,
    ...(reviewer === undefined ? {} : { model: reviewer }),
    checks: [],
    sandbox: wishes.sandbox === "off" ? "off" : "read-only",
    approvals: wishes.approvals ?? "deny",
    outputSchema: reviewSchema as unknown as Json,
  };
  const title = `Review of ${changes.range}`;
  const ready = await startSession(io, hosts, setup, reading, {
    title,
    defaultApprovals: "deny",
    checks: [inspected],
    tools: [readChange(changes.files)],
  });
  try {
    const shown = given.has("json") ? showJson(io, ready) : showProgress(io, ready, given.has("quiet"));
    const text = reviewPrompt({ range: changes.range, files, wishes: given.words[0] ?? "" });
    const end = await takeTurn(io, ready, setup, text, shown.onEvent);
    const message = end.report?.message ?? "";
    const isAnswered = end.standing === "verified" || end.standing === "refuted";
    const answer = isAnswered ? await readFindings(message, ready.workspace.root, changes) : null;
    if (given.has("json")) {
      shown.end(end, ready.session);
      if (answer !== null)
        io.stdout.write(
          jsonLine({
            type: "review.completed",
            range: changes.range,
            files,
            notInspected: changes.notInspected,
            coverage: coverageOf(end),
            ...answer,
          }),
        );
    } else {
      if (answer !== null) io.stdout.write(`${renderReview(answer, changes, coverageOf(end), io.stdout.columns).join("\n")}\n`);
      const style = createStyle(usesColour(io.stderr, io.env));
      io.stderr.write(
        `${renderEnding(end, { style, width: Math.max(40, io.stderr.columns), session: ready.session, showsResume: true }).join("\n")}\n`,
      );
    }
    return { end, answer, session: ready.session };
  } finally {
    await ready.host.close();
  }
}

/** What the runtime itself says of how much was read. */
function coverageOf(end: DriveEnd): string {
  return end.report?.criteria.find(({ checkId }) => checkId === "check_inspected")?.evidence ?? "";
}

/** A second turn of the same session, which may change the workspace and is verified as any. */
async function fix(given: Arguments, io: Io, hosts: Hosts, setup: Setup, wishes: SessionWishes, session: string): Promise<number> {
  const { fixPrompt } = await import("@holdfast/harness/text/review");
  const worker = wishes.model ?? setup.config.model;
  const writing: SessionWishes = {
    ...wishes,
    ...(worker === undefined ? {} : { model: worker }),
    sandbox: wishes.sandbox ?? "workspace-write",
    outputSchema: null,
  };
  const ready = await resumeSession(io, hosts, setup, writing, session);
  try {
    const shown = given.has("json") ? showJson(io, ready) : showProgress(io, ready, given.has("quiet"));
    const end = await takeTurn(io, ready, setup, fixPrompt(), shown.onEvent);
    await letGo(io, ready.host, session);
    shown.end(end, session);
    return end.exitStatus;
  } finally {
    await ready.host.close();
  }
}

async function takeTurn(
  io: Io,
  { host, session }: ReadySession,
  setup: Setup,
  text: string,
  onEvent: ReturnType<typeof showJson>["onEvent"],
): Promise<DriveEnd> {
  await host.runtime.post(host.ports, session, { type: "input.send", parts: await inputParts(host, text, []) });
  return driveTurn(host, session, {
    waiting: "return",
    ...retrying(setup.config),
    onEvent,
    onWait: setup.onWait,
    onStop: (handler) => io.onStop(handler),
    onStopping: (isForced) => void io.stderr.write(isForced ? "stopping at once\n" : "interrupting; once more to stop at once\n"),
  });
}

export const command: Command = { ...spec, run };
