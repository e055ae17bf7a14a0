import type { CheckDefinition, SessionEvent } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { erasingOf } from "../src/kernel/copies.ts";
import { withoutItem } from "../src/kernel/erased.ts";

const check = (id: string, from: string): CheckDefinition => ({
  id,
  kind: "stated",
  name: `${id} in words`,
  authority: "user",
  isRequired: false,
  from,
  constraint: { source: "words", turn: 1 },
});

test("the constraints that an erased message held go with it, from what was accepted and from the report", () => {
  const message = { kind: "user_message" as const, id: "itm_1", trust: "user" as const, parts: [{ type: "text" as const, text: "x" }] };
  const row = (id: string) => ({
    checkId: id,
    name: `${id} in words`,
    baseline: "not taken" as const,
    now: "not judged" as const,
    evidence: "",
  });
  const accepted: SessionEvent = { type: "checks.accepted", payload: { checks: [check("c1", "itm_1"), check("c2", "itm_2")] } };
  const judged: SessionEvent = {
    type: "round.judged",
    payload: {
      round: 1,
      verdict: "fail",
      report: {
        heading: "refuted: c1 in words fails",
        message: "",
        criteria: [row("c1"), row("c2")],
        changes: [],
        changesKnown: true,
        subject: null,
        reasons: ["c1 in words: broken"],
      },
    },
  };
  const started: SessionEvent = { type: "turn.started", payload: { turnId: "trn_1", message } };
  const events = [accepted, started, judged].map((event, index) => ({ ...event, seq: index + 1 }));
  const erasing = erasingOf(message, started, events, "");
  const left = JSON.stringify(events.map((event) => withoutItem(event, erasing)));
  expect(left).not.toContain("c1 in words");
  expect(left).toContain("c2 in words");
});
