import type { AssistantMessage, SessionEvent } from "@holdfast/protocol";
import type { State } from "../kernel/state.ts";
import type { SamplingRequest } from "../ports/index.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";

/** Answers that the model may correct. */
const mostRepairs = 1;

/** The last words of the model since the person spoke. */
export function finalMessage({ window }: Driver): AssistantMessage | null {
  const found = window.items.findLast((item) => item.kind === "assistant_message" || item.kind === "user_message");
  return found?.kind === "assistant_message" ? found : null;
}

/** What a sampling is told of the schema; the answer is judged here whatever a provider makes of it. */
export function outputOf({ head, registers }: State): Pick<SamplingRequest, "output"> {
  const schema = registers.get("settings", "")?.outputSchema ?? null;
  const isRepair = (head.turn?.output?.repairs ?? 0) > 0;
  return schema === null ? {} : { output: { schema, isRepair } };
}

/** Holds the final answer to the schema: valid, told once what is wrong with it, or the end of the turn. */
export async function judgeOutput(driver: Driver, step: number): Promise<SessionEvent[]> {
  const message = finalMessage(driver);
  const secrets = driver.ports.secrets.values();
  const schema = settingsOf(driver).outputSchema ?? null;
  const problems = await driver.ports.verifier.answerProblems(schema, message?.text ?? "");
  const judged: SessionEvent = {
    type: "output.judged",
    payload: { step, itemId: message?.id ?? null, problems: problems.map((problem) => redact(problem, secrets)) },
  };
  if (problems.length === 0) return [judged];
  if ((driver.head.turn?.output?.repairs ?? 0) >= mostRepairs) {
    const reason = "the final answer is not valid under the output schema, also after it was corrected once";
    return [judged, { type: "turn.stopping", payload: { outcome: "failed", reason, error: { code: "output_invalid", message: reason } } }];
  }
  const list = problems.map((problem) => `- ${problem}`).join("\n");
  const text = `Your final answer is not valid under its JSON Schema:\n${list}\nThe schema: ${JSON.stringify(schema)}\nGive the whole answer again, corrected: the JSON alone.`;
  const notice = { kind: "notice" as const, id: newId(driver)("itm"), trust: "tool" as const, text: redact(text, secrets) };
  return [judged, { type: "notice.added", payload: { notice } }];
}
