import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileContent } from "@holdfast/runtime/ports/files";
import { z } from "zod";
import { missingText } from "./current.ts";
import { completed, defineTool, failed, type ToolPorts } from "./define.ts";
import { lookAtImage } from "@holdfast/runtime/image/look";
import { whole } from "./input.ts";
import { fileResource, isRefusal, placeOf } from "./place.ts";
import { decodeText, describeEncoding, type TextFile } from "./text/encoding.ts";
import { describeEndings, splitLines, type Line } from "./text/lines.ts";

const maxFileBytes = 64 * 1024 * 1024;
const maxLines = 2000;
const maxChars = 40_000;
const maxLine = 2000;

const input = z.strictObject({
  path: z.string(),
  offset: whole(1).optional().describe("first line"),
  limit: whole(1).optional().describe("number of lines"),
});

export function readFile(ports: ToolPorts) {
  return defineTool({
    name: "read_file",
    description: "Read a text file. Each line is shown after its number and a tab, which are not part of it.",
    input,
    async plan({ path }, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return place;
      const isInside = place.identity.root !== null;
      return { summary: `Read ${place.shown}`, reads: [fileResource(place.real)], workspace: isInside ? "shared" : "none" };
    },
    async run({ path, offset, limit }, intent, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return failed(place.text);
      if (!intent.plan.reads.includes(fileResource(place.real))) {
        return failed(`${place.shown} now leads to another file than when the call was decided. Propose it again.`);
      }
      if (place.identity.kind === "missing") return failed(await missingText(ports.files, place, context.cwd));
      if (place.identity.kind === "directory") return failed(`${place.shown} is a folder. List it with list_folder.`);
      let content: FileContent;
      try {
        content = await ports.files.read(place.real, maxFileBytes);
      } catch (error) {
        if (isHoldfastError(error)) return failed(`${error.message} (${error.code})`);
        throw error;
      }
      const image = lookAtImage(content.bytes);
      if (image !== null) return failed(`${place.shown} is an image (${image.name}). Look at it with view_image.`);
      const file = decodeText(content.bytes);
      if (file === null)
        return failed(
          `${place.shown} is a binary file of ${content.bytes.length} bytes. Look into it with a command such as xxd or strings.`,
        );
      return { ...completed(show(file, offset ?? 1, limit ?? maxLines)), seen: [{ path: place.real, digest: content.digest }] };
    },
  });
}

function show(file: TextFile, offset: number, limit: number): string {
  const lines = splitLines(file.text);
  if (lines.length === 0) return remarks(file, lines, ["empty file"]);
  if (offset > lines.length) return remarks(file, lines, [`the file ends at line ${lines.length}`]);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + Math.min(limit, maxLines))) {
    const text = `${offset + shown.length}\t${cut(line.text)}`;
    chars += text.length + 1;
    if (chars > maxChars && shown.length > 0) break;
    shown.push(text);
  }
  const last = offset + shown.length - 1;
  const rest = last < lines.length ? [`${lines.length} lines in all; go on with offset ${last + 1}`] : [];
  return [...shown, remarks(file, lines, rest)].filter((text) => text !== "").join("\n");
}

/** What the lines don't show and an edit must keep. */
function remarks(file: TextFile, lines: readonly Line[], first: readonly string[]): string {
  const all = [...first, describeEncoding(file), describeEndings(lines), lines.at(-1)?.ending === "" ? "no final newline" : null];
  const said = all.filter((text) => text !== null);
  return said.length === 0 ? "" : `[${said.join("; ")}]`;
}

/** Never between the halves of a surrogate pair. */
function cut(text: string): string {
  if (text.length <= maxLine) return text;
  const code = text.charCodeAt(maxLine - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? maxLine - 1 : maxLine;
  return `${text.slice(0, end)}… [+${text.length - end} characters]`;
}
