import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import type { WorldSection } from "@holdfast/protocol";
import { pinnedCut, pinnedUnread } from "@holdfast/harness/text/v1";
import { showHidden } from "@holdfast/runtime/hidden";
import { isWithin } from "../config/workspace.ts";
import { documentName, placeOf } from "./sources.ts";

/** Bytes of all pinned documents together; those named first have the first claim. */
const mostBytes = 8 * 1024;

interface PinnedPlaces {
  readonly userHome: string;
  readonly roots: readonly string[];
  readonly pinned: readonly string[];
}

/**
 * The documents that the config names, a section each. In a project without trust those that lie in the workspace are not read:
 * they would speak as the project. What can't be read is told.
 */
export async function pinnedSections({ userHome, roots, pinned }: PinnedPlaces, isTrusted: boolean): Promise<WorldSection[]> {
  let left = mostBytes;
  const sections: WorldSection[] = [];
  for (const name of new Set(pinned)) {
    const read = await readPinned(name, roots, userHome, isTrusted, left);
    const context = { kind: "documents" as const, source: name, reason: "named in [documents] pinned" };
    if (read.type === "refused") {
      sections.push({ id: `document:${name}`, trust: "system", text: pinnedUnread(name, read.why), context });
      continue;
    }
    left -= read.bytes;
    const text = `${name}:\n${read.text}${read.isWhole ? "" : `\n${pinnedCut(read.bytes, read.size)}`}`;
    sections.push({ id: `document:${name}`, trust: read.isOwn ? "user" : "project", text, context });
  }
  return sections;
}

type Read =
  | {
      readonly type: "text";
      readonly text: string;
      readonly bytes: number;
      readonly size: number;
      readonly isWhole: boolean;
      readonly isOwn: boolean;
    }
  | { readonly type: "refused"; readonly why: string };

async function readPinned(name: string, roots: readonly string[], userHome: string, isTrusted: boolean, room: number): Promise<Read> {
  const refuse = (why: string): Read => ({ type: "refused", why });
  const place = placeOf(name, roots[0], userHome);
  const real = place === null ? null : await realpath(place.path).catch(() => null);
  if (place === null || real === null) return refuse("there is no such file");
  if (place.within !== null && !isWithin(place.within, real)) return refuse("it leads out of the project");
  // Keys and settings of programs are no documents, whoever names them.
  if (!documentName.test(name) || !documentName.test(real)) return refuse("it is no document (Markdown, text …)");
  const isOwn = !roots.some((root) => isWithin(root, real));
  if (!isOwn && !isTrusted) return refuse("this project is not trusted");
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return refuse("it can't be read");
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return refuse("it is no regular file");
    const buffer = Buffer.alloc(Math.min(stat.size, Math.max(0, room)));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (buffer.includes(0)) return refuse("it is no text");
    // Half a character at the end is left out.
    const text = new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true });
    const plain = showHidden(text.replaceAll("\r\n", "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ""));
    return { type: "text", text: plain, bytes: bytesRead, size: stat.size, isWhole: bytesRead >= stat.size, isOwn };
  } finally {
    await handle.close();
  }
}
