import type { CallOutcome, Expectation, Judgement } from "@holdfast/protocol";

/** Holds what a call said it would show against what was observed; null where it said nothing. */
export function judgeExpectation(expect: Expectation | undefined, outcome: CallOutcome): Judgement | null {
  if (expect === undefined) return null;
  const parts: { expected: string; observed: string; isMet: boolean | null }[] = [];
  if (expect.exitCode !== undefined) {
    const code = outcome.exitCode;
    parts.push({
      expected: `exit status ${expect.exitCode}`,
      observed: code == null ? "no exit status" : `exit status ${code}`,
      isMet: code === undefined ? null : code === expect.exitCode,
    });
  }
  if (expect.outputContains !== undefined) {
    const isThere = outcome.text.includes(expect.outputContains);
    // The text may be a part of the output: what is not in the part may still be in the whole.
    const isMet = isThere || (outcome.output === undefined ? false : null);
    parts.push({
      expected: `output with ${JSON.stringify(expect.outputContains)}`,
      observed: isThere ? "output with it" : "output without it",
      isMet,
    });
  }
  if (expect.status !== undefined) {
    const status = outcome.httpStatus;
    parts.push({
      expected: `status ${expect.status}`,
      observed: status === undefined ? "no answer" : `status ${status}`,
      isMet: status === undefined ? null : status === expect.status,
    });
  }
  if (expect.fileChanged !== undefined) {
    const path = expect.fileChanged;
    const isMet =
      outcome.changed === undefined ? null : outcome.changed.some((file) => file.path === path || file.path.endsWith(`/${path}`));
    parts.push({ expected: `${path} changed`, observed: isMet === true ? `${path} changed` : `${path} not seen to change`, isMet });
  }
  if (parts.length === 0) return null;
  const verdict = parts.some((part) => part.isMet === false) ? "unmet" : parts.some((part) => part.isMet === null) ? "unknown" : "met";
  const join = (side: "expected" | "observed"): string => parts.map((part) => part[side]).join(", ");
  return { verdict, expected: join("expected"), observed: join("observed"), ...(verdict === "unmet" ? causeOf(outcome) : {}) };
}

function causeOf(outcome: CallOutcome): Pick<Judgement, "cause"> {
  if (outcome.status === "denied") return { cause: "denied" };
  if (outcome.timedOut === true || outcome.signal != null) return { cause: "environment" };
  // RFC 9110, 15: who may not, what was wrong with the request, and what is wrong on the other side.
  const status = outcome.httpStatus ?? 0;
  if (status === 401 || status === 403) return { cause: "denied" };
  if (status === 429 || status >= 500) return { cause: "environment" };
  if (status >= 400) return { cause: "wrong_input" };
  if (outcome.exitCode === 126 || outcome.exitCode === 127) return { cause: "environment" };
  return { cause: "wrong_belief" };
}
