import type { CallOutcome } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";

/** Characters of the beginning and of the end that a result shows. */
const headChars = 6_000;
const tailChars = 10_000;
/** What is kept at all. */
const mostChars = 8_000_000;

/** A text that fits into a result: whole, or its beginning and end, with the whole as a blob that `read_output` reads by `handle`. */
export async function fitText(text: string, handle: string, blobs: BlobStore): Promise<Pick<CallOutcome, "text" | "output" | "whole">> {
  if (text.length <= headChars + tailChars) return { text };
  const kept = text.slice(0, mostChars);
  const whole = await blobs.put(new TextEncoder().encode(kept.toWellFormed()));
  const head = upToLine(kept.slice(0, headChars));
  const tail = fromLine(kept.slice(-tailChars));
  const left = text.length - head.length - tail.length;
  return { text: `${head}\n[${left} characters left out; read_output ${handle} reads all]\n${tail}`, output: handle, whole };
}

function upToLine(text: string): string {
  const end = text.lastIndexOf("\n");
  return (end > text.length / 2 ? text.slice(0, end) : text).toWellFormed();
}

function fromLine(text: string): string {
  const start = text.indexOf("\n");
  return (start !== -1 && start < text.length / 2 ? text.slice(start + 1) : text).toWellFormed();
}
