import type { CompactedEntry } from "@holdfast/protocol";
import type { CompactionInput, JudgementRequest } from "@holdfast/runtime";
import { judgementInstructions, judgementSchema, leftOut, recordBegins, recordEnds } from "../text/judgement.ts";
import { isHeading } from "./read-log.ts";
import { textOf } from "./words.ts";

/** Characters of one entry at most, and the part of the room that one may take. */
const longestEntry = 2_000;
const entryPart = 0.2;
/** The part of the room that the constraints may take; they are numbered as the state has them. */
const constraintsPart = 0.3;

/**
 * What a model is asked with: one message, so there are no calls to pair and no images to send, and at most `requestRoom`
 * characters whatever the window holds. The newest of the record has the first claim to the room.
 */
export function askJudgement({
  events,
  entries,
  requestRoom,
}: CompactionInput & { readonly entries: readonly CompactedEntry[]; readonly requestRoom: number }): JudgementRequest {
  const room = Math.max(0, requestRoom - judgementInstructions.length - JSON.stringify(judgementSchema).length - 200);
  const state = entries.filter((entry) => !isHeading(entry));
  const of = (section: CompactedEntry["section"]): readonly CompactedEntry[] => state.filter((entry) => entry.section === section);
  const constraints = withinRoom(
    of("constraints").map(({ text }, at) => `${at + 1}. ${text.slice(2)}`),
    room * constraintsPart,
  );
  const about = [
    "The goal of this turn:",
    bothEnds(of("goal")[0]?.text ?? "(none)", room * entryPart),
    ...(constraints.length === 0 ? [] : ["Constraints:", ...constraints]),
    ...(of("openTasks").length === 0
      ? []
      : [
          "Open:",
          ...withinRoom(
            of("openTasks").map(({ text }) => text),
            room * entryPart,
          ),
        ]),
  ];
  const left = room - about.join("\n").length;
  const record = withinRoom(
    events.flatMap(tell).map((text) => bothEnds(text, Math.min(longestEntry, left * entryPart))),
    left,
  );
  // Nothing in the record can end its own mark.
  const text = record.join("\n").replaceAll(recordEnds, "<\\/record>");
  return { instructions: judgementInstructions, text: [...about, recordBegins, text, recordEnds].join("\n"), schema: judgementSchema };
}

/** The last of them that fit, and how many were left out before. */
function withinRoom(texts: readonly string[], room: number): string[] {
  const kept: string[] = [];
  let left = room - 60;
  for (const text of texts.toReversed()) {
    left -= text.length + 1;
    if (left < 0) break;
    kept.unshift(text);
  }
  return kept.length === texts.length ? kept : [leftOut(texts.length - kept.length), ...kept];
}

function tell(event: CompactionInput["events"][number]): string[] {
  const at = `[event ${event.seq}]`;
  switch (event.type) {
    case "turn.started":
    case "input.taken":
      return [`${at} the user: ${textOf(event.payload.message)}`];
    case "notice.added":
      return [`${at} the runtime: ${event.payload.notice.text}`];
    case "sampling.settled":
      return event.payload.items.flatMap((item) => {
        if (item.kind === "reasoning") return [];
        return item.kind === "tool_call" ? [`${at} call ${item.name} ${item.input}`] : [`${at} the agent: ${item.text}`];
      });
    case "call.settled": {
      const { outcome, result } = event.payload;
      const how = outcome.exitCode === undefined ? outcome.status : `${outcome.status}, exit ${outcome.exitCode}`;
      return [`${at} result (${how}): ${result.text}`];
    }
    case "approval.answered":
      return [`${at} ${event.payload.by} answered an approval: ${event.payload.answer}`];
    case "question.answered":
      return [`${at} ${event.payload.by} answered: ${[...event.payload.answer.choices, event.payload.answer.text].join(" ")}`];
    case "check.completed":
      return [`${at} check ${event.payload.evidence.checkId}: ${event.payload.evidence.run.passed ? "passed" : "did not pass"}`];
    case "turn.ended":
      return [`${at} the turn ended: ${event.payload.outcome}`];
    default:
      return [];
  }
}

function bothEnds(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.max(0, Math.floor((most - 40) / 2));
  return `${text.slice(0, half).toWellFormed()} … [${text.length - 2 * half} characters] … ${half === 0 ? "" : text.slice(-half).toWellFormed()}`;
}
