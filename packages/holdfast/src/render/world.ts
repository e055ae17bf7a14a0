import type { EventPayload } from "@holdfast/protocol";
import { bytes } from "./numbers.ts";

/** What a person should know of what the model is told of the world: what it isn't told, and why. */
export function worldRemarks({ sections, shed = [] }: EventPayload<"world.observed">): string[] {
  const isDistrusted = sections.some(({ id, trust }) => id === "instructions" && trust === "untrusted");
  const instructions = sections.filter(({ id }) => id.startsWith("instructions:"));
  return [
    ...(isDistrusted ? ["this project's instructions were found and are not obeyed: it is not trusted (holdfast trust)"] : []),
    // What is not the project's words is why they aren't read.
    ...instructions.flatMap(({ trust, text }) => (trust === "project" ? [] : [text])),
    ...instructions.flatMap(({ snapshot }) => {
      const { path, bytes: all, shown } = asSizes(snapshot);
      return shown < all ? [`${path} is told in part: ${bytes(shown)} of ${bytes(all)} ([instructions] max_bytes)`] : [];
    }),
    ...shed.map(({ id, tokens, why }) => `${id} is told without ${tokens} tokens of it: ${why}`),
  ];
}

function asSizes(snapshot: unknown): { readonly path: string; readonly bytes: number; readonly shown: number } {
  const { path, bytes: all, shown } = (snapshot ?? {}) as { path?: unknown; bytes?: unknown; shown?: unknown };
  return { path: String(path), bytes: typeof all === "number" ? all : 0, shown: typeof shown === "number" ? shown : 0 };
}
