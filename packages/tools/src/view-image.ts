import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileContent } from "@holdfast/runtime/ports/files";
import { z } from "zod";
import { missingText } from "./current.ts";
import { completed, defineTool, failed, type ToolPorts } from "./define.ts";
import { lookAtImage } from "./image/look.ts";
import { fileResource, isRefusal, placeOf } from "./place.ts";

/** What every provider takes: 5 MB once encoded as base64, 8000 pixels a side. */
const maxBytes = 3_750_000;
const maxSide = 8000;

const input = z.strictObject({ path: z.string() });

export function viewImage(ports: ToolPorts) {
  return defineTool({
    name: "view_image",
    description: "Look at a PNG, JPEG, GIF or WebP file.",
    input,
    async plan({ path }, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return place;
      const isInside = place.identity.root !== null;
      return { summary: `View ${place.shown}`, reads: [fileResource(place.real)], workspace: isInside ? "shared" : "none" };
    },
    async run({ path }, intent, context) {
      const place = await placeOf(ports.files, context.cwd, path);
      if (isRefusal(place)) return failed(place.text);
      if (!intent.plan.reads.includes(fileResource(place.real))) {
        return failed(`${place.shown} now leads to another file than when the call was decided. Propose it again.`);
      }
      if (place.identity.kind === "missing") return failed(await missingText(ports.files, place, context.cwd));
      let content: FileContent;
      try {
        content = await ports.files.read(place.real, maxBytes);
      } catch (error) {
        if (isHoldfastError(error)) return failed(`${error.message} (${error.code}) An image may have ${maxBytes} bytes.`);
        throw error;
      }
      const look = lookAtImage(content.bytes);
      if (look === null) return failed(`${place.shown} is no image: its content is not PNG, JPEG, GIF or WebP.`);
      const { name, mediaType, size } = look;
      if (mediaType === null) return failed(`${place.shown} is a ${name} image, which models don't read. Convert it to PNG first.`);
      if (size === null) return failed(`${place.shown} begins as a ${name} image but is damaged or cut off.`);
      const { width, height } = size;
      if (width > maxSide || height > maxSide) {
        return failed(`${place.shown} has ${width}×${height} pixels; at most ${maxSide} a side can be shown. Scale it down first.`);
      }
      return {
        ...completed(`${place.shown}: ${name}, ${width}×${height} pixels, ${content.bytes.length} bytes`),
        images: [{ blob: await ports.blobs.put(content.bytes), mediaType }],
      };
    },
  });
}
