import { z } from "zod";
import { planChanges, prepareChanges, probeChanges, runChanges } from "./changes.ts";
import { currentText } from "./current.ts";
import { defineTool, refuse, type ToolPorts } from "./define.ts";
import { decoded, flag } from "./input.ts";
import { isRefusal, placeOf } from "./place.ts";
import { encodeText } from "./text/encoding.ts";
import { replace } from "./text/replace.ts";

const input = z.strictObject({
  path: z.string(),
  edits: decoded(
    z
      .array(
        z.strictObject({
          old: z.string().describe("exact text, found once"),
          new: z.string(),
          all: flag().optional().describe("replace every one"),
        }),
      )
      .min(1),
  ),
});

export function editFile(ports: ToolPorts) {
  return defineTool({
    name: "edit_file",
    description: "Replace literal text in a file. All edits refer to the file as it is now.",
    input,
    async plan({ path, edits }, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return place;
      const what = edits.map((edit) => ({ ...edit, all: edit.all ?? false }));
      return planChanges(`Edit ${place.shown}`, [place], what);
    },
    async prepare({ path, edits }, plan, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return place;
      const current = await currentText(ports.files, place, context);
      if (isRefusal(current)) return current;
      // A mark that the file itself holds, in text that is being replaced, is no secret's.
      if (edits.some((edit) => ports.isRedacted(edit.new) && !ports.isRedacted(edit.old))) return refuse(redactedText(place.shown));
      const replaced = replace(
        current.file,
        edits.map((edit) => ({ old: edit.old, new: edit.new, all: edit.all ?? false })),
      );
      if (replaced.type === "refused") return refuse(`${place.shown} was not changed. ${replaced.text}`);
      const after = encodeText(replaced.text, current.file);
      if (after === null) return refuse(`${place.shown} was not changed. Its encoding has no bytes for the new text.`);
      const change = { place, before: current.content, after, mode: null, movedFrom: null };
      return prepareChanges(ports.blobs, plan, [change], replaced.notes);
    },
    run: (_, intent, context, signal) => runChanges(ports, intent, context, signal),
    probe: (_, intent, context) => probeChanges(ports, intent, context),
  });
}

export function redactedText(shown: string): string {
  return `${shown} was not changed: the new text holds the mark that stands for a redacted secret. Leave that part of the file as it is.`;
}
