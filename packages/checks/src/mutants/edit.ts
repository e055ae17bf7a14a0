/** A piece of a file and what stands there instead. */
export interface Edit {
  readonly from: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Where a test can be made to fail without knowing what it tests. `values`: what is expected becomes something else. `turns`:
 * an assertion is turned round, or fails whatever it is given.
 */
export interface Sites {
  readonly values: readonly Edit[];
  readonly turns: readonly Edit[];
}

/** The text with all edits made. */
export function edited(text: string, edits: readonly Edit[]): string {
  let out = "";
  let at = 0;
  for (const { from, end, text: by } of edits.toSorted((a, b) => a.from - b.from || a.end - b.end)) {
    if (from < at) continue;
    out += text.slice(at, from) + by;
    at = end;
  }
  return out + text.slice(at);
}
