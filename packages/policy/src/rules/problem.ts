/** What is wrong in a rule file, and at which line. `unknown`: a word that isn't any of the `known` ones. */
export interface RuleProblem {
  readonly line: number;
  readonly message: string;
  readonly hint?: string;
  readonly unknown?: { readonly word: string; readonly known: readonly string[] };
}

/** Notes a problem at a key. */
export type Wrong = (path: readonly string[], message: string, more?: Pick<RuleProblem, "hint" | "unknown">) => void;

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
