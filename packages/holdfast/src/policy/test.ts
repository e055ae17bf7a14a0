import { builtinRules, modes, type Rule } from "@holdfast/policy";
import { tryExamples } from "@holdfast/policy/examples/try-examples";
import { presetExamples } from "@holdfast/policy/presets/examples";
import type { Arguments } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { jsonLine } from "../render/json-events.ts";
import { plural } from "../render/numbers.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { gatherPolicy } from "./load.ts";
import { placeOf } from "./place.ts";

/** Reads every rule file that counts here, and tries all examples, those of the built-in rules too. */
export async function runTest(given: Arguments, io: Io): Promise<number> {
  const { place } = await placeOf(given, io);
  const { rules, problems, notes, files } = await gatherPolicy(place);
  const builtin = [...new Map(modes.flatMap((mode) => builtinRules(mode)).map((rule) => [rule.id, rule])).values()].map((rule): Rule => ({
    ...rule,
    ...presetExamples[rule.id],
  }));
  const failed = (await Promise.all(builtin.map(async (rule) => ({ rule, failed: await tryExamples(rule) })))).flatMap(({ rule, failed }) =>
    failed.map(({ kind, example, why }) => ({
      where: rule.source,
      message: `${kind} of the rule ${JSON.stringify(rule.id)} ${why}: ${typeof example === "string" ? example : JSON.stringify(example)}`,
    })),
  );
  const all = [...problems, ...failed];
  const examples = [...rules, ...builtin].reduce((sum, rule) => sum + rule.examples.length + rule.counterexamples.length, 0);
  if (given.has("json")) {
    io.stdout.write(
      jsonLine({
        type: "policy.tested",
        ok: all.length === 0,
        files,
        rules: rules.length + builtin.length,
        examples,
        problems: all,
        notes,
      }),
    );
  } else {
    for (const note of notes) io.stderr.write(`${sanitizeLine(note)}\n`);
    for (const { where, message, ...more } of all) {
      const hint = "hint" in more && more.hint !== undefined ? ` (${more.hint})` : "";
      io.stdout.write(`${sanitizeLine(`${where}: ${message}${hint}`)}\n`);
    }
    const what = `${plural(rules.length, "rule")} in ${plural(files.length, "file")} and ${builtin.length} built-in ones, ${plural(examples, "example")}`;
    io.stdout.write(`${what}: ${all.length === 0 ? "all hold" : plural(all.length, "problem")}\n`);
  }
  if (all.length === 0) return 0;
  return problems.some(({ message }) => !/^(?:counter)?example of/.test(message)) ? 2 : 1;
}
