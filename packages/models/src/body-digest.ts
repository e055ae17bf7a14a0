import type { SentBody } from "@holdfast/protocol";
import type { SamplingRequest } from "@holdfast/runtime";
import { bodyLayout, type Wire } from "./wire.ts";
import { isWireName, loadWire } from "./wires.ts";

/**
 * Digests of the bodies that requests to `provider/name` have, written as `sent` says: nothing is sent, and no key or
 * address is needed. Null for a wire or a layout that isn't known here. What was encoded once is kept, as for sampling.
 */
export function createBodyDigest(): (model: string, sent: SentBody, request: SamplingRequest) => Promise<string | null> {
  const wires = new Map<string, Wire>();
  return async (model, { wire: name, mostOutput, layout, isStored = false, loadsTools = false, isWhole = false }, request) => {
    if (!isWireName(name) || layout !== bodyLayout) return null;
    const slash = model.indexOf("/");
    const key = JSON.stringify([model, name, mostOutput, isStored, loadsTools]);
    const identity = { provider: model.slice(0, slash), model: model.slice(slash + 1) };
    const wire = wires.get(key) ?? (await loadWire(name))(identity, { maxOutputTokens: mostOutput ?? null, isStored, loadsTools });
    wires.set(key, wire);
    return (await wire.body(request, isWhole)).digest;
  };
}
