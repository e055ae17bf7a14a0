import type { FileChange } from "@holdfast/protocol";
import { nameOf } from "./paths.ts";
import { simpleCommands } from "./shell-words.ts";
import { unwrap } from "./programs.ts";

/** What a session's log knows of the model's work. */
export interface Done {
  /** The calls that the log still shows. */
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  /** False where earlier calls are no longer among them: then nothing is said of what was not done. */
  readonly isWhole: boolean;
  readonly changes: readonly FileChange[];
  readonly changesKnown: boolean;
}

/** Something that the model says and the log contradicts. `path`: true only where this is a tracked file. */
export interface Contradiction {
  readonly says: string;
  readonly path: string | null;
}

const adverb = "(?: also| just| then| now)?";
/** "I ran the tests", "I have re-run all unit tests", "we then ran the test suite". Not: "I ran no tests", "run the tests". */
const ranTests = new RegExp(
  String.raw`\b(?:(?:I|we)${adverb} (?:re-?)?ran|(?:I|we)(?:['’]ve| have)${adverb} (?:re-?)?r[au]n) (?!no\b|none\b|out\b)[^.!?;\n]{0,40}\b(?:tests?|test suite|suite)\b`,
  "gi",
);
/** "I edited `a.ts` and `b.ts`", "I've updated `a.ts`". The names stand in backticks. */
const changed = new RegExp(
  String.raw`\b(?:I|we)(?:['’]ve| have)?${adverb} (?:edited|changed|updated|modified|rewrote|rewritten|fixed)\b((?:(?!\b(?:not|never|without|because|since|which)\b)[^.!?;\n]|\.(?=\w))*)`,
  "gi",
);
/** How a sentence leads to a claim that is its own statement: from its beginning, or after `and`. */
const leadsIn =
  /^(?:[-*+•]\s+|\d+[.)]\s+)?[*_]*(?:(?:done|summary|result|finally|first|next|then|also|now|so|yes|afterwards|after that)\b[:,]?[*_]*\s*)*$|[\s,](?:and|then|and then)\s+$/i;
/** What makes a statement of somebody else's, of another time, of a case or of a doubt out of what follows it. */
const unsureBefore =
  /["“”'‘>?]|n['’]t\b|\b(?:if|whether|that|who|what|which|where|when|while|though|although|unless|until|before|after(?! that)|because|since|as|claim\w*|sa(?:y|ys|id)|ask\w*|th(?:ink|inks|ought)|believ\w*|doubt\w*|assum\w*|suppos\w*|imagin\w*|pretend\w*|wish\w*|hop\w*|seem\w*|look\w*|nobody|no|not|never|neither|without|would|could|should|might|may|must|can|cannot|will|had|but|earlier|previous\w*|last|ago|yesterday)\b/i;
const unsureAfter =
  /\?|["”]|\b(?:but|if|unless|until|whether|would|should|before|earlier|previous\w*|last|ago|yesterday|session|refused|denied|rejected|reverted|undone|rolled|claim\w*|sa(?:ys|id)|lie|untrue|false|wrong)\b/i;
/** What takes a claim back: "or so it seems", "actually I did not", "no, I never did". */
const takenBack =
  /\b(?:or (?:so|not|rather)|seemingly|(?:it|so) (?:seems|appears)|apparently|supposedly|allegedly|not really|(?:scratch|strike) that|correction|by mistake|meant to|wanted to|tried to)\b|\b(?:I|we)(?: \w+)? (?:(?:did|have|had)(?: not|n['’]t)|never)(?: \w+)?(?=\s*(?:[,;:)]|\W*$)|\s+(?:run|do|did|done|edit|change|update)\b)/i;
const quotedPath = /`([\w@./-]+\.\w{1,8})`/g;
/** Commands that only look, or say something. */
const looks = ["ls", "cat", "head", "tail", "pwd", "echo", "printf", "grep", "wc", "cd", "which", "true"];
/** Commands that run no tests, whatever follows them. All others might. */
const runsNone = new Set([...looks, "rg", "find", "mkdir", "cp", "mv", "rm", "touch", "sed", "diff"]);
/** Commands that change no file, whatever follows them, unless their output goes into one. */
const changesNone = new Set([...looks, "cmp", "stat", "file"]);

/**
 * The claims of a final message that the log contradicts, by the rules in docs/checks.md. Whatever is not certain is left
 * alone: other words, other names, a log that is not whole, a command that may have run tests.
 */
export function contradictions(message: string, { calls, isWhole, changes, changesKnown }: Done): Contradiction[] {
  const found: Contradiction[] = [];
  if (!isWhole) return found;
  if (claimsIn(message, ranTests).length > 0 && !calls.some(mayRunTests))
    found.push({ says: "says that tests were run: no command of this session ran any", path: null });
  if (!changesKnown) return found;
  const names = new Set(claimsIn(message, changed).flatMap(([, rest = ""]) => [...rest.matchAll(quotedPath)].map(([, path = ""]) => path)));
  for (const name of names) {
    const path = name.replace(/^\.?\//, "");
    const isChanged = changes.some((one) => one.path === path || one.path.endsWith(`/${path}`));
    // A call that names it may have changed it in an earlier turn, or back.
    const isNamed = calls.some((call) => mayChange(call) && call.input.includes(editors.has(call.name) ? path : nameOf(path)));
    if (!isChanged && !isNamed) found.push({ says: `says that it changed ${path}: it is as it was`, path });
  }
  return found;
}

/** Where the message says it as a statement of its own, about this session. Nothing of questions, reports, conditions or code. */
function claimsIn(message: string, claim: RegExp): RegExpExecArray[] {
  return sentencesOf(message).flatMap((sentence) =>
    [...sentence.matchAll(claim)].filter((match) => {
      const [before, after] = [sentence.slice(0, match.index), sentence.slice(match.index)];
      return leadsIn.test(before) && !unsureBefore.test(before) && !unsureAfter.test(after) && !takenBack.test(after);
    }),
  );
}

const fenced = /^[ \t]*(```|~~~)[^]*?(?:^[ \t]*\1|$(?![^]))/gm;
/** A line end within a paragraph: what follows goes on with the sentence. */
const wrapped = /\n(?=[ \t]*[^\s\-*+•#>|\d])/g;

function sentencesOf(message: string): string[] {
  const prose = message.replaceAll("\r\n", "\n").replaceAll(fenced, "");
  return prose.replaceAll(wrapped, (end, at: number) => (prose[at - 1] === "\n" ? end : " ")).split(/(?<=[.!?])[*_)]*\s+|\n/);
}

const readers = new Set(["read_file", "search", "find_files", "list_folder"]);
/** They name the files that they change with their whole paths. */
const editors = new Set(["edit_file", "write_file", "apply_patch"]);

function mayChange({ name, input }: Done["calls"][number]): boolean {
  if (name !== "run_command") return !readers.has(name);
  const command = commandIn(input);
  // What is in a substitution is not read; an output may go nowhere, or where the errors go.
  if (command === null || /`|\$\(|[<>]\(|>(?!\s*\/dev\/null\b|&\d)/.test(command)) return true;
  return simpleCommands(command).some(([program = ""]) => !changesNone.has(program) && !/^\d$/.test(program));
}

function mayRunTests({ name, input }: Done["calls"][number]): boolean {
  if (readers.has(name) || editors.has(name) || ["update_plan", "give_up", "ask_user"].includes(name)) return false;
  if (name !== "run_command") return true;
  const command = commandIn(input);
  return command === null || simpleCommands(command).some((words) => !runsNone.has(nameOf(unwrap(words)[0] ?? "")));
}

function commandIn(input: string): string | null {
  try {
    const { command } = JSON.parse(input) as { command?: unknown };
    return typeof command === "string" ? command : null;
  } catch {
    return null;
  }
}
