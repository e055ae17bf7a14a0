import type { RiskNote } from "@holdfast/protocol";
import { wrap } from "./layout.ts";
import { sanitizeLine } from "./sanitize.ts";

const reversible: Readonly<Record<RiskNote["reversible"], string>> = {
  nothing: "there is nothing to take back",
  by_hand: "it can be taken back by hand",
  unknown: "whether it can be taken back isn't known",
  no: "it can't be taken back",
};
const reach: Readonly<Record<RiskNote["reach"], string>> = {
  workspace: "stays in the workspace",
  machine: "reaches this machine outside the workspace",
  elsewhere: "reaches beyond this machine",
};

/** What to weigh before an answer, a line a point. */
export function renderRisk(risk: RiskNote, width: number): string[] {
  const points = [
    `risk ${risk.level}: ${reach[risk.reach]}; ${reversible[risk.reversible]}`,
    ...(risk.touches.length === 0 ? [] : [`touches ${risk.touches.join("; ")}`]),
    ...risk.trust,
  ];
  return points.flatMap((point, index) =>
    wrap(sanitizeLine(point), width - 2).map((line, at) => (index === 0 && at === 0 ? line : `  ${line}`)),
  );
}
