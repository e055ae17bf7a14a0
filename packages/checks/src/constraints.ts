import type { CheckDefinition, DiffCheck } from "@holdfast/protocol";
import { sha256 } from "@holdfast/runtime/hash";

type Source = NonNullable<CheckDefinition["constraint"]>["source"];

const most = 20;
/** In UTF-16 units: a longer sentence is a task, not a limit of one. */
const longest = 300;

/** How a sentence or clause begins that limits the work. Listed in docs/checks.md. */
const limiting =
  /^(?:please\s+)?(?:do(?:n['’]t| not)|never|must(?:n['’]t| not)|no (?:new|other|more|changes?)|only (?:change|touch|edit|modify)|without\s+(?:adding|changing|touching|editing|modifying|breaking)|(?:leave|keep)\s.+\s(?:alone|unchanged|untouched|as (?:it|they) (?:is|are)|as-is|stable|compatible))\b/i;

const not = "(?:do(?:n['’]t| not)|never|must(?:n['’]t| not))";
const further = "(?:new|other|more|extra|additional|further|added)";
/** The whole of a clause that wants nothing brought in from elsewhere, as people write it. */
const someDependencies = new RegExp(
  String.raw`^(?:please\s+)?(?:(?:(?:add )?no|without(?: any)?) ${further}|add no|(?:${not} (?:add|install|introduce|use|pull in)|without (?:adding|installing|introducing|pulling in))(?: any| a)?(?: ${further})?)\s+(?:npm |third[- ]party |external |runtime )?(?:dependenc(?:y|ies)|deps?|packages?|librar(?:y|ies)|libs?)(?:,?\s+please)?[.!]*$`,
  "i",
);

/** What a person's words to the model limit, word for word. Questions, quoted text and code are left alone. */
export function constraintsIn(words: string): string[] {
  const plain = words.replace(/^```[\s\S]*?^```/gm, "").replace(/^\s*>.*$/gm, "");
  const clauses = plain
    .split(
      /\n|(?<=[.!?;])\s+|;|,?\s+(?:but|and)\s+(?=(?:please\s+)?(?:do(?:n['’]t| not)|never|no (?:new|extra|additional)|only|without|leave|keep)\b)|,\s+(?=(?:do(?:n['’]t| not)|never|no (?:new|extra|additional)|without)\b)/i,
    )
    .map((clause) => clause.replace(/^\s*(?:[-*•]|\d+[.)])?\s*/, "").trim());
  const found = clauses.filter(
    (clause) => clause.length <= longest && !clause.endsWith("?") && (limiting.test(clause) || someDependencies.test(clause)),
  );
  return [...new Set(found.map((clause) => clause.replace(/[.!;,]+$/, "")))].slice(0, most);
}

const mostLines = 200;

/** A person's words as checks. What looks like a patch, or like anything else that was not written for the model, says nothing. */
export function constraintsOf(words: string): CheckDefinition[] {
  if (/^(?:diff --git |@@ |\+\+\+ )/m.test(words) || words.split("\n").length > mostLines) return [];
  return constraintsIn(words).map((text) => constraintCheck(text, "words"));
}

export function flagConstraints(texts: readonly string[]): CheckDefinition[] {
  return texts.map((text) => constraintCheck(text, "flag"));
}

const untouched =
  /^(?:please\s+)?(?:(?:do(?:n['’]t| not)|never|must(?:n['’]t| not)) (?:touch|change|edit|modify|delete|remove|rename|move)|without (?:touching|changing|editing|modifying)|leave|keep)\s+(?:anything in |(?:the )?(?:files?|folders?|director(?:y|ies)) (?:in )?)?(.+?)(?:\s+(?:alone|unchanged|untouched|as-is|as (?:it|they) (?:is|are)))?$/i;
const within =
  /^(?:please\s+)?(?:only (?:touch|change|edit|modify)(?: files in)?|(?:do(?:n['’]t| not)|never) (?:touch|change|edit|modify) (?:anything|any files?|files) (?:outside(?: of)?|except|but)|no (?:changes?|other files?) (?:outside(?: of)?|except(?: in)?))\s+(.+)$/i;

/**
 * A constraint as a check. Where its whole text says something that code can judge (no new dependencies, these paths not, only
 * these paths), it is held against what was changed; everything else is told, and shown as not judged.
 */
export function constraintCheck(text: string, source: Source, authority: CheckDefinition["authority"] = "user"): CheckDefinition {
  const name = text.trim().replace(/\s+/g, " ");
  const asked = { id: `constraint_${sha256(name).slice(0, 12)}`, name, authority, isRequired: true, constraint: { source } };
  const diff = (more: Partial<DiffCheck>): DiffCheck => ({
    ...asked,
    kind: "diff",
    only: [],
    never: [],
    maxFiles: null,
    maxLines: null,
    keepsTests: false,
    addsNoSecrets: false,
    ...more,
  });
  const said = name.replace(/[.!]+$/, "");
  if (someDependencies.test(said)) return diff({ addsNoDependencies: true });
  const only = pathsIn(within.exec(said)?.[1]);
  if (only !== null) return diff({ only });
  const never = pathsIn(untouched.exec(said)?.[1]);
  if (never !== null) return diff({ never });
  return { ...asked, kind: "stated", isRequired: false };
}

/** Globs of the paths in a list such as `src/api, docs/ and "a.ts"`; null where a word of it is no path. */
function pathsIn(list: string | undefined): string[] | null {
  if (list === undefined) return null;
  const words = list.split(/\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/).map((word) => word.trim());
  const globs: string[] = [];
  for (const word of words) {
    const quoted = /^[`"'](.+)[`"']$/.exec(word)?.[1];
    const path = (quoted ?? word).replace(/^\.\//, "");
    const isPath = /^[\w@.*?/{}()[\]+-]+$/.test(path) && (quoted !== undefined || /\/|^[\w-]*\.[A-Za-z]\w*$|\*/.test(path));
    if (!isPath || path.startsWith("/") || path.includes("..")) return null;
    const bare = path.replace(/\/$/, "");
    // A path from the top: a glob without a slash would match the name in any folder.
    if (bare.includes("*")) globs.push(bare);
    else globs.push(`/${bare}`, `/${bare}/**`);
  }
  return globs;
}
