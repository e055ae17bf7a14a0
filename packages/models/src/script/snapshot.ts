import type { Item } from "@holdfast/protocol";
import type { SamplingRequest, ToolSpec } from "@holdfast/runtime";

/** A request as it was when it came, frozen: nothing that happens later can change what a test looks at. */
export interface RequestSnapshot {
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  readonly items: readonly Item[];
  readonly cacheKey: string;
  readonly effort: string | null;
  readonly maxOutputTokens: number | null;
}

/** Takes snapshots. Each item and tool is copied once, so a long session isn't copied anew at each step. */
export function createSnapshots(): (request: SamplingRequest) => RequestSnapshot {
  const copies = new WeakMap<object, object>();
  function copy<T extends object>(value: T): T {
    const known = copies.get(value) as T | undefined;
    if (known !== undefined) return known;
    const fresh = freeze(structuredClone(value));
    copies.set(value, fresh);
    return fresh;
  }
  return (request) =>
    Object.freeze({
      instructions: request.instructions,
      tools: Object.freeze(request.tools.map(copy)),
      items: Object.freeze(request.items.map(copy)),
      cacheKey: request.cacheKey,
      effort: request.effort,
      maxOutputTokens: request.maxOutputTokens,
    });
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
