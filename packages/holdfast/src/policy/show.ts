import { builtinRules, type Mode, type Rule } from "@holdfast/policy";
import { presetExamples } from "@holdfast/policy/presets/examples";
import { ruleDataOf } from "@holdfast/policy/rules/rule-data-of";
import { renderRule } from "@holdfast/policy/rules/rule-data";
import type { Arguments } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { usesColour } from "../cli/io.ts";
import { jsonLine } from "../render/json-events.ts";
import { sanitize, sanitizeLine } from "../render/sanitize.ts";
import { createStyle } from "../render/style.ts";
import { loadPolicy } from "./load.ts";
import { placeOf } from "./place.ts";

/** The rules that hold here in a mode, the highest authority first, each as its file says it. */
export async function runShow(given: Arguments, io: Io): Promise<number> {
  const { place } = await placeOf(given, io);
  const mode = (given.value("mode") as Mode | undefined) ?? "workspace";
  const own = await loadPolicy(place);
  const rules = [...own, ...builtinRules(mode).map((rule): Rule => ({ ...rule, ...presetExamples[rule.id] }))];
  if (given.has("json")) {
    for (const rule of rules)
      io.stdout.write(jsonLine({ type: "rule", authority: rule.authority, source: rule.source, ...ruleDataOf(rule) }));
    return 0;
  }
  const style = createStyle(usesColour(io.stdout, io.env));
  const lines = [`# The rules of a session of mode ${mode} in ${sanitizeLine(place.project ?? "")}.`];
  for (const rule of rules) {
    const { examples: _, counterexamples: __, ...data } = ruleDataOf(rule);
    lines.push("", style.dim(sanitizeLine(`# ${rule.authority}: ${rule.source}`)), sanitize(renderRule(data)).trimEnd());
  }
  io.stdout.write(`${lines.join("\n")}\n`);
  return 0;
}
