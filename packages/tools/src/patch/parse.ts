export interface PatchLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
  /** Followed by `\ No newline at end of file`. */
  readonly lacksNewline: boolean;
}

export interface Hunk {
  /** Line of the patch, for messages. */
  readonly at: number;
  /** Texts after `@@`: each names a line to look below, one inside the other. */
  readonly headers: readonly string[];
  /** Line of the file from a unified header, counted from 0. It only decides between places that match. */
  readonly hint: number | null;
  readonly lines: readonly PatchLine[];
  /** Followed by `*** End of File`. */
  readonly atEnd: boolean;
}

export type Section =
  | { readonly type: "add"; readonly path: string; readonly content: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "update"; readonly path: string; readonly moveTo: string | null; readonly hunks: readonly Hunk[] };

export type ParsedPatch =
  | { readonly type: "parsed"; readonly sections: readonly Section[] }
  | { readonly type: "refused"; readonly text: string };

class PatchProblem extends Error {}

/** Reads the `*** Begin Patch` format. Sections of the same path for updates are joined; other repeats are refused later. */
export function parsePatch(patch: string): ParsedPatch {
  try {
    return { type: "parsed", sections: sectionsOf(bodyOf(patch)) };
  } catch (error) {
    if (error instanceof PatchProblem) return { type: "refused", text: error.message };
    throw error;
  }
}

interface Row {
  readonly at: number;
  readonly text: string;
}

/** The rows between the two marks. A fence or a here-document around the patch is not part of it. */
function bodyOf(patch: string): Row[] {
  const rows = patch.split("\n").map((text, index) => ({ at: index + 1, text: text.replace(/\r$/, "") }));
  const begin = rows.findIndex((row) => row.text.trim() === "*** Begin Patch");
  const wraps = /^(```.*|(apply_patch\s+)?<<\s*['"]?\w+['"]?|)$/;
  if (begin === -1 || rows.slice(0, begin).some((row) => !wraps.test(row.text.trim()))) {
    const isGit = rows.some((row) => /^(diff --git|--- |\+\+\+ )/.test(row.text));
    throw new PatchProblem(`The patch must begin with "*** Begin Patch"${isGit ? "; a git diff is not understood" : ""}.`);
  }
  const end = rows.findIndex((row, index) => index > begin && row.text.trim() === "*** End Patch");
  if (end === -1) throw new PatchProblem('The patch has no "*** End Patch": it may have been cut off. Nothing was changed.');
  if (rows.slice(end + 1).some((row) => !/^(```|\w+|)$/.test(row.text.trim()))) {
    throw new PatchProblem(`Line ${end + 2}: there is text after "*** End Patch".`);
  }
  return rows.slice(begin + 1, end);
}

const headings = { add: "*** Add File: ", delete: "*** Delete File: ", update: "*** Update File: " } as const;

function sectionsOf(rows: readonly Row[]): Section[] {
  const sections: Section[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at]!;
    const kind = (["add", "delete", "update"] as const).find((each) => row.text.startsWith(headings[each]));
    if (kind === undefined) {
      if (row.text.trim() !== "")
        throw new PatchProblem(
          `Line ${row.at}: expected "*** Add File: ", "*** Update File: " or "*** Delete File: ", found "${brief(row.text)}".`,
        );
      at += 1;
      continue;
    }
    const path = row.text.slice(headings[kind].length).trim();
    if (path === "") throw new PatchProblem(`Line ${row.at}: the path is missing.`);
    let end = at + 1;
    while (end < rows.length && !isHeading(rows[end]!.text)) end += 1;
    sections.push(sectionOf(kind, path, row, rows.slice(at + 1, end)));
    at = end;
  }
  if (sections.length === 0) throw new PatchProblem("The patch names no file.");
  return joinUpdates(sections);
}

function isHeading(text: string): boolean {
  return Object.values(headings).some((heading) => text.startsWith(heading));
}

function sectionOf(kind: "add" | "delete" | "update", path: string, heading: Row, rows: readonly Row[]): Section {
  const last = rows.findLastIndex((row) => row.text !== "");
  const body = rows.slice(0, last + 1);
  switch (kind) {
    case "add":
      return { type: "add", path, content: contentOf(body) };
    case "delete": {
      if (body.length > 0) throw new PatchProblem(`Line ${body[0]!.at}: a Delete File section has no lines.`);
      return { type: "delete", path };
    }
    case "update": {
      const move = body[0]?.text.startsWith("*** Move to: ") ? body[0].text.slice("*** Move to: ".length).trim() : null;
      if (move === "") throw new PatchProblem(`Line ${body[0]!.at}: the new path is missing.`);
      const hunks = hunksOf(move === null ? body : body.slice(1));
      if (hunks.length === 0 && move === null) throw new PatchProblem(`Line ${heading.at}: the update of ${path} changes nothing.`);
      return { type: "update", path, moveTo: move, hunks };
    }
  }
}

function contentOf(rows: readonly Row[]): string {
  let content = "";
  for (const row of rows) {
    if (row.text.startsWith("\\")) content = content.replace(/\n$/, "");
    else if (row.text === "" || row.text.startsWith("+")) content += `${row.text.slice(1)}\n`;
    else throw new PatchProblem(`Line ${row.at}: every line of an added file begins with "+", found "${brief(row.text)}".`);
  }
  return content;
}

function hunksOf(rows: readonly Row[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (let at = 0; at < rows.length;) {
    let body = at;
    while (body < rows.length && rows[body]!.text.startsWith("@@")) body += 1;
    let end = body;
    while (end < rows.length && !rows[end]!.text.startsWith("@@")) end += 1;
    hunks.push(hunkOf(rows.slice(at, body), rows.slice(body, end), rows[at]!.at));
    at = end;
  }
  return hunks;
}

function hunkOf(heads: readonly Row[], rows: readonly Row[], at: number): Hunk {
  const headers: string[] = [];
  let hint: number | null = null;
  for (const { text } of heads) {
    const unified = /^@@ -(\d+)(,\d+)? \+\d+(,\d+)? @@/.exec(text);
    // What git writes after the numbers is a remark, cut to 80 characters; it doesn't have to be a line of the file.
    if (unified !== null) hint = Math.max(0, Number(unified[1]) - (unified[2] === ",0" ? 0 : 1));
    else if (text.slice(2).trim() !== "") headers.push(text.slice(2).trim());
  }
  // Rows without even a space before the next hunk separate; they are not context.
  const body = rows.slice(0, rows.findLastIndex((row) => row.text !== "") + 1);
  const atEnd = body.at(-1)?.text.trim() === "*** End of File";
  const lines: PatchLine[] = [];
  for (const row of atEnd ? body.slice(0, -1) : body) {
    const mark = row.text === "" ? " " : row.text[0]!;
    const last = lines.at(-1);
    if (mark === " " || mark === "-" || mark === "+") lines.push({ mark, text: row.text.slice(1), lacksNewline: false });
    else if (mark === "\\" && last !== undefined) lines[lines.length - 1] = { ...last, lacksNewline: true };
    else throw new PatchProblem(`Line ${row.at}: a line of a hunk begins with " ", "-" or "+", found "${brief(row.text)}".`);
  }
  if (!lines.some((line) => line.mark !== " ")) throw new PatchProblem(`Line ${at}: this hunk has no "-" or "+" line.`);
  return { at, headers, hint, lines, atEnd };
}

function joinUpdates(sections: readonly Section[]): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const at = joined.findIndex((other) => other.path === section.path);
    const earlier = joined[at];
    if (section.type === "update" && earlier?.type === "update" && section.moveTo === null) {
      joined[at] = { ...earlier, hunks: [...earlier.hunks, ...section.hunks] };
    } else joined.push(section);
  }
  return joined;
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
