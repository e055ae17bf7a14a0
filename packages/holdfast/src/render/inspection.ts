import type { InspectedAction, InspectedEvidence, InspectedTurn, Inspection, Permission, WhyChanged } from "@holdfast/protocol";
import { describeRule, shortDigest } from "./describe.ts";
import { describeDamage } from "./log-fault.ts";
import { wrap } from "./layout.ts";
import { duration, moment, plural } from "./numbers.ts";
import { sanitize, sanitizeLine, sanitizeOutput } from "./sanitize.ts";

/** Characters of what was said or came back that are shown; `--json` has more. */
const mostShown = 400;
const label = 11;

type Row = (name: string, text: string, indent?: number) => string[];

function rowsOf(width: number): Row {
  return (name, text, indent = 2) => {
    const room = Math.max(30, width - indent - label);
    const lines = wrap(text, room);
    return lines.map((line, index) => `${" ".repeat(indent)}${(index === 0 ? name : "").padEnd(label)}${line}`.trimEnd());
  };
}

/** The causal line of a session as text: no word of anybody's can leave its place. */
export function renderInspection({ session, title, folder, damage, turns }: Inspection, width: number): string[] {
  const row = rowsOf(width);
  return [
    ...row("session", `${session}  ${sanitizeLine(title)}`, 0),
    ...row("folder", sanitizeLine(folder ?? "none"), 0),
    ...(damage === null ? [] : row("DAMAGED", describeDamage(damage), 0)),
    ...turns.flatMap((turn) => ["", ...renderTurn(turn, row)]),
    ...(turns.length === 0 ? ["no turn has begun"] : []),
  ];
}

function renderTurn(turn: InspectedTurn, row: Row): string[] {
  const { number, startedAt, goal, criteria, actions, evidence, rounds, report, outcome, meanwhile, tip } = turn;
  let step = -1;
  const done = actions.flatMap((action) => {
    const head = action.step === step ? [] : [`  step ${action.step}`];
    step = action.step;
    return [...head, ...renderAction(action, row, 4, meanwhile)];
  });
  const baseline = evidence.filter(({ phase }) => phase === "baseline");
  return [
    `turn ${number}  ${moment(startedAt)}`,
    ...goal.flatMap(({ trust, text }, index) => row(index === 0 ? "goal" : "and", `${brief(text)} (${trust})`)),
    ...criteria.flatMap((one) => row(one.constraint === null ? "criterion" : "constraint", describeCriterion(one))),
    ...done,
    ...(baseline.length + rounds.length === 0 ? [] : ["  checks"]),
    ...baseline.flatMap((one) => row("baseline", describeEvidence(one), 4)),
    ...rounds.flatMap(({ round, verdict }) => [
      ...evidence
        .filter((one) => one.phase === "final" && one.round === round)
        .flatMap((one) => row(`round ${round}`, describeEvidence(one), 4)),
      ...row("", `together: ${verdict}`, 4),
    ]),
    ...row("outcome", outcome === null ? "open" : [outcome, sanitizeLine(report?.heading ?? "")].filter((part) => part !== "").join(" · ")),
    ...(report?.contradicted ?? []).flatMap((text) => row("but", sanitizeLine(text))),
    ...(report === null || report.changes.length === 0
      ? []
      : row("changed", report.changes.map(({ path, change }) => `${sanitizeLine(path)} (${change})`).join(", "))),
    ...[...Map.groupBy(meanwhile ?? [], ({ session }) => session)].flatMap(([session, files]) =>
      row("meanwhile", `the session ${session} changed ${files.map(({ path }) => sanitizeLine(path)).join(", ")}`),
    ),
    ...(report?.message ? row("says", brief(sanitizeOutput(report.message))) : []),
    ...(tip === null ? [] : row("signed", `event ${tip.seq}, ${shortDigest(tip.hash)}, with the key ${sanitizeLine(tip.keyId)}`)),
  ];
}

function describeCriterion({ name, kind, authority, isRequired, constraint }: InspectedTurn["criteria"][number]): string {
  const by = authority === "tool" ? "the model" : authority === "project" ? "the project" : `the ${authority}`;
  if (constraint === null) return sanitizeLine(`${name} (${kind}, asked for by ${by}${isRequired ? "" : ", not required"})`);
  const where = { flag: "by --constraint", config: "by config", words: "in the user's words" }[constraint];
  return sanitizeLine(`${name} (${where}; ${kind === "stated" ? "no code can judge it" : `judged by ${kind}`})`);
}

/** One call: why, whose decision, what was expected and observed, what it changed and what was checked after it. */
export function renderAction(action: InspectedAction, row: Row, indent: number, meanwhile: InspectedTurn["meanwhile"] = []): string[] {
  const { tool, summary, command, why, permission, hooks, expected, status, observed, changed, recovered, evidence, callId } = action;
  const inner = indent + 2;
  // An edit says itself what it changed; of a command it is what was seen after it.
  const alsoBy = (path: string): string => {
    const others = action.mayChangeAnything ? meanwhile.filter((one) => one.path === path) : [];
    return others.length === 0 ? "" : `  (${others.map(({ session }) => session).join(", ")} changed it meanwhile, too)`;
  };
  const what = command ?? summary;
  const ended = [
    status.replace("_", " "),
    ...(action.exitCode === null ? [] : [`exit ${action.exitCode}`]),
    ...(action.durationMs === null ? [] : [duration(action.durationMs)]),
    ...(action.attempts > 1 ? [`attempt ${action.attempts}`] : []),
  ].join(" · ");
  return [
    ...wrap(`${" ".repeat(indent)}${sanitizeLine(tool)}  ${sanitizeLine(what)}  [${sanitizeLine(callId)}]`, 200),
    ...(why === null ? [] : row("why", brief(why), inner)),
    ...(permission === null ? [] : renderPermission(permission, row, inner)),
    ...hooks
      .filter(({ result }) => result !== "passed")
      .flatMap((hook) => row("hook", sanitizeLine(`${hook.hook}: ${hook.result} ${hook.reason}`), inner)),
    ...recovered.flatMap((finding) => row("recovered", `after a crash: ${finding.replace("_", " ")}`, inner)),
    ...(expected === null
      ? []
      : row("expected", `${brief(expected.expected)}${expected.isTrivial === true ? " (would be met whatever happens)" : ""}`, inner)),
    ...(expected === null
      ? []
      : row(
          "observed",
          `${expected.verdict}${expected.cause === undefined ? "" : `, ${expected.cause.replace("_", " ")}`}: ${brief(sanitizeOutput(expected.observed))}`,
          inner,
        )),
    ...row("ended", [ended, ...(expected === null && observed.trim() !== "" ? [brief(sanitizeOutput(observed))] : [])].join(": "), inner),
    ...changed.flatMap(({ path, before, after }) =>
      row(
        "changed",
        `${sanitizeLine(path)}  ${before === null ? "new" : shortDigest(before)} → ${after === null ? "deleted" : shortDigest(after)}${alsoBy(path)}`,
        inner,
      ),
    ),
    ...(evidence.length === 0
      ? []
      : row("evidence", `taken after it: ${plural(evidence.length, "check")} (event ${evidence.join(", ")})`, inner)),
  ];
}

function renderPermission({ decision, rule, reason, approval }: Permission, row: Row, indent: number): string[] {
  const name = { allow: "allowed", review: "asked", deny: "refused" }[decision];
  const by = sanitizeLine(`${describeRule(rule)}${reason === "" ? "" : `: ${reason}`}`);
  return [...row(name, `by the rule ${by}`, indent), ...(approval === null ? [] : row("answer", describeApproval(approval), indent))];
}

function describeApproval({ answer, by, at, note, grant }: NonNullable<Permission["approval"]>): string {
  const when = at === null ? "" : `, ${moment(at)}`;
  const beyond = grant === null ? "" : grant === "session" ? ", for the session" : ", by a rule that was kept";
  const words = { allow: "allowed", deny: "refused", expired: "nobody answered in time", open: "not answered yet" }[answer];
  return sanitizeLine([`${words}${by === "" ? "" : ` by ${by}`}${when}${beyond}`, ...(note === "" ? [] : [note])].join(": "));
}

function describeEvidence({
  seq,
  name,
  run,
  applies,
  subjectBefore,
  subjectAfter,
  weaknesses,
  accepted,
  sandboxed,
  originalInputs,
}: InspectedEvidence): string {
  const counts = run.counts === null ? [] : [`${run.counts.passed} passed`, `${run.counts.failed} failed`];
  const parts = [
    applies ? (run.passed ? "pass" : "fail") : "not about what was changed",
    ...counts,
    ...(run.exitCode === null ? [] : [`exit ${run.exitCode}`]),
    ...(run.ended === undefined ? [] : [run.ended]),
    ...(originalInputs === null ? [] : [`with the earlier tests: ${originalInputs}`]),
    ...(sandboxed ? [] : ["without a sandbox"]),
    subjectBefore === subjectAfter ? `on ${shortDigest(subjectAfter)}` : `on ${shortDigest(subjectBefore)}, which it changed`,
    ...(accepted.length === 0 ? [] : [`with changes that a person accepted: ${accepted.join(", ")}`]),
    ...weaknesses.map(({ kind, detail }) => `weak (${kind}): ${detail}`),
  ];
  return sanitizeLine(`${name}: ${parts.join(" · ")} (event ${seq})`);
}

/** Who last changed a file or a line, and what is known of it since. */
export function renderWhy({ path, line, by, actions, says, verified }: WhyChanged, width: number): string[] {
  const row = rowsOf(width);
  const where = `${path}${line === null ? "" : `:${line}`}`;
  const head = {
    action: "was last changed by",
    one_of: actions.length === 1 ? "was probably last changed by" : "was last changed by one of",
    outside: "was last changed from outside the session",
    undo: "was last changed by an undo",
    before_session: "was not changed",
    unknown: "can't be told",
  }[by];
  return [
    ...wrap(sanitizeLine(`${where} ${head}`), width),
    ...actions.flatMap(({ turn, action }) => [`  turn ${turn}, step ${action.step}`, ...renderAction(action, row, 4)]),
    ...says.flatMap((text) => row("known", sanitizeLine(text))),
    ...verified.flatMap(({ turn, evidence, sameFile }) => {
      const same =
        sameFile === null ? "whether it was then as it is now isn't known" : sameFile ? "it was then as it is now" : "it was another then";
      return row("verified", `turn ${turn}: ${describeEvidence(evidence)}; ${same}`);
    }),
    ...(verified.length === 0 && actions.length > 0 ? row("verified", "no check was run after it") : []),
  ];
}

/** Somebody's words on one line, shortened. */
function brief(text: string): string {
  const line = sanitize(text).replace(/\s+/g, " ").trim();
  return line.length > mostShown ? `${line.slice(0, mostShown - 1).toWellFormed()}…` : line;
}
