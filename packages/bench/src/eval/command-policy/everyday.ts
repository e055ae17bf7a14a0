import { createPolicy } from "@holdfast/policy";
import type { Evaluation, Figure } from "../evaluation.ts";
import type { EverydayCase } from "./cases.ts";
import { home, requestFor } from "@holdfast/policy/examples/project";

/** Everyday commands under the rules that hold by default. */
export async function judgeEveryday(cases: readonly EverydayCase[]): Promise<Evaluation> {
  const policy = createPolicy({ home });
  const answers = await Promise.all(
    cases.map(async (each) => {
      const { decision, rule } = await policy.decide(requestFor(each.command));
      return { each, rule: rule.id, decision: decision === "allow" ? ("auto" as const) : ("review" as const) };
    }),
  );
  const isRight = ({ each, decision }: (typeof answers)[number]): boolean => each.decision === decision;
  const plain = answers.filter(({ each }) => each.contested !== true && each.needs === undefined);
  const contested = answers.filter(({ each }) => each.needs === undefined);
  const needing = answers.filter(({ each }) => each.needs !== undefined);
  const share = (list: typeof answers, test = isRight): number => list.filter(test).length / list.length;
  const auto = plain.filter(({ each }) => each.decision === "auto");
  const review = plain.filter(({ each }) => each.decision === "review");
  const asked = share(auto, (answer) => !isRight(answer));
  const allowed = review.filter((answer) => !isRight(answer)).length;
  const right = share(plain);
  const figures: Figure[] = [
    { name: "everyday commands decided as marked", value: right, goal: "≥ 0.95", isMet: !(right < 0.95), n: plain.length },
    { name: "of those marked auto, asked", value: asked, goal: "≤ 0.02", isMet: !(asked > 0.02), n: auto.length },
    { name: "of those marked review, allowed", value: allowed, goal: "0", isMet: allowed === 0, n: review.length },
    { name: "decided as marked, with the contested", value: share(contested), n: contested.length },
    { name: "decided as marked, what needs more than the sandbox gives", value: share(needing), n: needing.length },
  ].filter((figure) => !Number.isNaN(figure.value));
  const misses = answers
    .filter((answer) => !isRight(answer))
    .map(({ each, decision, rule }) => ({ part: "everyday", ...each, decided: decision, rule }));
  return { figures, misses };
}
