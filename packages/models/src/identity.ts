import type { Json, Opaque } from "@holdfast/protocol";
import { asRecord, type Shape } from "./shape.ts";

/** Who a wire speaks to. Opaque parts go back to the same provider and model alone. */
export interface Identity {
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
}

export function opaqueOf(identity: Identity, payload: Json): { readonly opaque: Opaque } {
  return { opaque: { provider: identity.provider, model: identity.model, payload } };
}

/** The payload of an opaque part that came from this provider and model; null for any other. */
export function ownPayload(opaque: Opaque | undefined, identity: Identity): Shape | null {
  return opaque !== undefined && opaque.provider === identity.provider && opaque.model === identity.model ? asRecord(opaque.payload) : null;
}
