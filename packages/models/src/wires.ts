import type { Identity } from "./identity.ts";
import type { WireName } from "./providers.ts";
import type { Wire, WireOptions } from "./wire.ts";

type CreateWire = (identity: Identity, options: WireOptions) => Wire;

/** A session speaks one of them, as a rule: only that one is loaded. */
const wires: Readonly<Record<WireName, () => Promise<CreateWire>>> = {
  responses: async () => (await import("./responses/wire.ts")).responsesWire,
  chat: async () => (await import("./chat/wire.ts")).chatWire,
  messages: async () => (await import("./messages/wire.ts")).messagesWire,
  gemini: async () => (await import("./gemini/wire.ts")).geminiWire,
};

export function isWireName(name: string): name is WireName {
  return Object.hasOwn(wires, name);
}

export function loadWire(name: WireName): Promise<CreateWire> {
  return wires[name]();
}
