import { chatWire } from "./chat/wire.ts";
import { geminiWire } from "./gemini/wire.ts";
import type { Identity } from "./identity.ts";
import { messagesWire } from "./messages/wire.ts";
import type { WireName } from "./providers.ts";
import { responsesWire } from "./responses/wire.ts";
import type { Wire, WireOptions } from "./wire.ts";

const wires: Readonly<Record<WireName, (identity: Identity, options: WireOptions) => Wire>> = {
  responses: responsesWire,
  chat: chatWire,
  messages: messagesWire,
  gemini: geminiWire,
};

export function isWireName(name: string): name is WireName {
  return Object.hasOwn(wires, name);
}

export function wireFor(name: WireName): (identity: Identity, options: WireOptions) => Wire {
  return wires[name];
}
