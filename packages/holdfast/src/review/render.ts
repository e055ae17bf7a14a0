import { quotedPath } from "@holdfast/runtime/paths/quoted";
import { wrap } from "../render/layout.ts";
import { plural } from "../render/numbers.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import type { Changes } from "./changes.ts";
import type { ReviewAnswer } from "./findings.ts";

/** A review as a person reads it. `coverage`: what the runtime saw of how much was read. */
export function renderReview({ summary, findings }: ReviewAnswer, changes: Changes, coverage: string, width: number): string[] {
  const body = (text: string, indent: string): string[] =>
    sanitize(text)
      .split("\n")
      .flatMap((line) => wrap(line, width - indent.length))
      .map((line) => `${indent}${line}`);
  return [
    `${sanitizeLine(changes.range)}: ${findings.length === 0 ? "no finding" : plural(findings.length, "finding")}; ${sanitizeLine(coverage)}`,
    ...changes.notInspected.map((path) => `not inspected: ${sanitizeLine(quotedPath(path))}, a repository of its own`),
    ...(summary.trim() === "" ? [] : ["", ...body(summary.trim(), "")]),
    ...findings.flatMap(({ file, line, severity, title, detail, evidence, isThere }) => [
      "",
      `${severity.toUpperCase()}  ${sanitizeLine(quotedPath(file))}:${line}${isThere ? "" : "  (there is no such line)"}`,
      ...body(title, "  "),
      ...body(detail, "  "),
      ...body(`Evidence: ${evidence}`, "  "),
    ]),
  ];
}
