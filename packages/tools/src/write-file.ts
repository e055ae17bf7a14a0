import { z } from "zod";
import { planChanges, prepareChanges, probeChanges, runChanges } from "./changes.ts";
import { currentContent } from "./current.ts";
import { defineTool, refuse, type ToolPorts } from "./define.ts";
import { redactedText } from "./edit-file.ts";
import { isRefusal, placeOf } from "./place.ts";
import { asciiOnly, inStyleOf } from "./text/rewrite.ts";
import { decodeText, encodeText } from "./text/encoding.ts";

const input = z.strictObject({ path: z.string(), content: z.string() });

export function writeFile(ports: ToolPorts) {
  return defineTool({
    name: "write_file",
    description: "Write a whole file: a new one, or one you have read.",
    input,
    async plan({ path, content }, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      return isRefusal(place) ? place : planChanges(`Write ${place.shown}`, [place], content);
    },
    async prepare({ path, content }, plan, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return place;
      const before = await currentContent(ports.files, place, context);
      if (before !== null && isRefusal(before)) return before;
      // An empty file holds nothing that could be lost.
      if (before !== null && before.bytes.length > 0 && context.seenDigest(place.real) === null) {
        return refuse(`${place.shown} exists and you have not read it (file_exists). Read it first, or use edit_file.`);
      }
      const was = before === null ? null : decodeText(before.bytes);
      if (before !== null && was === null) return refuse(`${place.shown} is a binary file; it is not overwritten with text.`);
      if (ports.isRedacted(content) && !(was !== null && ports.isRedacted(was.text))) return refuse(redactedText(place.shown));
      if (was !== null && asciiOnly(was, content)) {
        return refuse(`${place.shown} is not UTF-8 and may only be written with ASCII text. Edit its ASCII parts with edit_file.`);
      }
      const rewritten = was === null ? { text: content, hasBom: false, notes: [] } : await inStyleOf(was, content);
      const after = encodeText(rewritten.text, { encoding: was?.encoding ?? "utf-8", hasBom: rewritten.hasBom });
      if (after === null) return refuse(`${place.shown} was not changed. Its encoding has no bytes for the new text.`);
      if (was !== null && rewritten.text === was.text && rewritten.hasBom === was.hasBom) {
        return refuse(`${place.shown} already has this content.`);
      }
      return prepareChanges(ports.blobs, plan, [{ place, before, after, mode: null, movedFrom: null }], rewritten.notes);
    },
    run: (_, intent, context, signal) => runChanges(ports, intent, context, signal),
    probe: (_, intent, context) => probeChanges(ports, intent, context),
  });
}
