import { addFact, addNeed, type Judge } from "../facts/fact.ts";
import { readAwk } from "../reads/awk-call.ts";
import { literalWord } from "../shell/command.ts";
import { isInput } from "../shell/inner.ts";
import { operandsOf, optionValues } from "../shell/options.ts";

const runs = /\bsystem\s*\(|\|\s*getline|\|&|\|\s*"|\bprintf?\b[^;}\n]*\|\s*\w|@load|@\w+\s*\(|\/inet[46]?\//;
/** Of a file whose name is worked out. */
const writesSomewhere = /\bprintf?\b[^;}\n]{0,400}>\s{0,4}[A-Za-z_($]/;

/** awk programs can run commands and write files; the text is the first operand, or what an option gives. */
export const awk: Judge = (call, findings) => {
  if (readAwk(call.args) !== null) return;
  const files = optionValues(call.args, ["-f", "-E", "--file", "--exec"], "Fvieldop");
  const fromInput = files.some(({ literal }) => literal === "-" || isInput.test(literal ?? ""));
  if (fromInput && call.command.hereText === null) addFact(findings, "hidden_code", `${call.text} runs what it reads as its input`);
  const code = [...call.args.map((word) => word.literal ?? word.text), fromInput ? (call.command.hereText ?? "") : ""].join(" ");
  if (runs.test(code)) addFact(findings, "inline_code", "an awk program that runs other programs");
  if (/\bENVIRON\b(?!\s*\[\s*"(?!\w*(?:SECRET|TOKEN|PASSW|API_?KEY|ACCESS_KEY|PRIVATE_KEY))\w+"\s*\])/.test(code))
    addFact(findings, "secret_read", "an awk program that prints the environment");
  // What only nothing is printed to is emptied.
  const filled = code.replaceAll(/\bprintf?\s*\(?\s*""\s*\)?\s*>(?!>)/g, ";");
  for (const [whole, path] of code.matchAll(/>>?\s*"([^"]+)"/g))
    addNeed(findings, filled.includes(whole) ? "write" : "truncate", literalWord(path!));
  if (writesSomewhere.test(code)) {
    // Any path that it was given may be that file.
    for (const [, path] of code.matchAll(/(?:=|"|^|\s)((?:~\/|\.|\/)?[\w.-]+(?:\/[\w.-]+)+|\.\w+)(?=["\s]|$)/g))
      addNeed(findings, "write", { ...literalWord(path!), fromHome: path!.startsWith("~") }, { isGuess: true });
  }
  if (optionValues(call.args, ["-i", "--include"], "Fvf").some(({ literal }) => literal?.startsWith("inplace") === true))
    for (const word of operandsOf(call.args, ["-i", "-v", "-F", "-f"], false)) addNeed(findings, "write", word);
};
