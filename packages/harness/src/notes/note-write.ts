import type { Json } from "@holdfast/protocol";
import type { Tool } from "@holdfast/runtime";
import { fieldsOf } from "../discovery/fields.ts";

/** Characters of one note. Longer things belong in files. */
export const longestNote = 2_000;
const sectionName = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u;

/** A note as a call gives it. An empty text takes the section's note away. */
export interface Note {
  readonly section: string;
  readonly text: string;
  readonly isAppended: boolean;
}

/** The note that a call of `note_write` gives; null for what is none. Pure. */
export function noteOf(input: Json): Note | null {
  const { section, text, append = false } = fieldsOf(input);
  if (typeof section !== "string" || !sectionName.test(section.trim())) return null;
  if (typeof text !== "string" || typeof append !== "boolean" || text.length > longestNote) return null;
  return { section: section.trim().toLowerCase(), text: text.trim(), isAppended: append };
}

/**
 * `note_write`: the model's own working notes, in sections. Its call is the record: when a new window begins, the notes are
 * taken from the log and stand in it.
 */
export const noteWriteTool: Tool = {
  isDeferred: true,
  isUnnamed: true,
  spec: {
    name: "note_write",
    description:
      "Keep a note for yourself: it is still before you when the conversation is shortened. One note a section (goal, state, next, findings, decisions, questions, or a name of yours): it replaces the earlier one; append adds to it; an empty text takes it away.",
    schema: {
      type: "object",
      properties: { section: { type: "string" }, text: { type: "string" }, append: { type: "boolean" } },
      required: ["section", "text"],
    },
  },
  async plan(input) {
    const note = noteOf(input);
    if (note === null) {
      const text = `note_write takes {section, text, append?}: a section's name of letters and digits, at most 40; a text of at most ${longestNote} characters.`;
      return { type: "refused", text };
    }
    return {
      input: { section: note.section, text: note.text, append: note.isAppended },
      summary: note.text === "" ? `Take the note ${note.section} away` : `Note ${note.section}`,
      reads: [],
      writes: [],
      workspace: "none",
      replay: "safe",
      changesWorkspace: false,
    };
  },
  run: async () => ({ status: "completed", text: "Noted.", trust: "system" }),
};
