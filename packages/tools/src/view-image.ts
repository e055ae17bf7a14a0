import { isHoldfastError } from "@holdfast/protocol/error";
import type { FileContent } from "@holdfast/runtime/ports/files";
import { z } from "zod";
import { missingText } from "./current.ts";
import { completed, defineTool, failed, type ToolPorts } from "./define.ts";
import { lookAtImage } from "@holdfast/runtime/image/look";
import { fileResource, isRefusal, placeOf } from "./place.ts";

/** What every provider takes: 5 MB once encoded as base64, 8000 pixels a side. What is larger is scaled down where that can be done. */
const maxBytes = 3_750_000;
const maxSide = 8000;
const maxRead = 40_000_000;

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
        content = await ports.files.read(place.real, maxRead);
      } catch (error) {
        if (isHoldfastError(error)) return failed(`${error.message} (${error.code}) An image may have ${maxRead} bytes.`);
        throw error;
      }
      const look = lookAtImage(content.bytes);
      if (look === null) return failed(`${place.shown} is no image: its content is not PNG, JPEG, GIF or WebP.`);
      const { name, mediaType, size } = look;
      if (mediaType === null) return failed(`${place.shown} is a ${name} image, which models don't read. Convert it to PNG first.`);
      if (size === null) return failed(`${place.shown} begins as a ${name} image but is damaged or cut off.`);
      const { width, height } = size;
      const { fitImage } = await import("@holdfast/runtime/image/fit");
      const fitted = await fitImage(content.bytes);
      const told = `${place.shown}: ${name}, ${width}×${height} pixels, ${content.bytes.length} bytes`;
      if (fitted !== null) {
        const { bytes } = fitted;
        return {
          ...completed(`${told}; shown scaled down to ${fitted.width}×${fitted.height}`),
          images: [{ blob: await ports.blobs.put(bytes), mediaType: fitted.mediaType, bytes: bytes.length }],
        };
      }
      if (width > maxSide || height > maxSide)
        return failed(`${place.shown} has ${width}×${height} pixels; at most ${maxSide} a side can be shown. Scale it down first.`);
      if (content.bytes.length > maxBytes)
        return failed(`${place.shown} has ${content.bytes.length} bytes; at most ${maxBytes} can be shown. Scale it down first.`);
      return { ...completed(told), images: [{ blob: await ports.blobs.put(content.bytes), mediaType, bytes: content.bytes.length }] };
    },
  });
}
