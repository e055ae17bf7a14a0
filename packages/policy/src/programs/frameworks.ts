import type { Judge } from "../facts/fact.ts";
import { operandsOf } from "../shell/options.ts";
import { judgeCode } from "./inline-code.ts";

/** Code that a project's own tool is given: `rails runner CODE`, `mix run -e CODE`. */
function runsCode(language: string, words: RegExp, valued: readonly string[]): Judge {
  return (call, findings) => {
    const operands = operandsOf(call.args, valued, true);
    if (!words.test(operands[0]?.literal ?? "")) return;
    const given = call.args.flatMap((word, i) => (/^(?:-e|--eval)$/.test(word.literal ?? "") ? [call.args[i + 1]] : []));
    // A name or a path is a script of the project.
    const code = [...operands.slice(1), ...given].map((word) => word?.literal ?? word?.text ?? "").filter((text) => /[^\w./-]/.test(text));
    if (code.length > 0) judgeCode(call, language, code.join("\n"), findings);
  };
}

export const frameworkJudges: ReadonlyMap<string, Judge> = new Map([
  ["rails", runsCode("ruby", /^(?:r|runner)$/, ["-e", "--environment"])],
  ["mix", runsCode("elixir", /^(?:run|eval)$/, [])],
]);
