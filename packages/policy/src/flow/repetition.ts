import type { Json } from "@holdfast/protocol";
import { canonical } from "@holdfast/runtime/canonical";
import type { Mandate } from "./action.ts";
import type { Finding, FlowCall } from "./finding.ts";
import { meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { ownName } from "./memory.ts";
import type { Role } from "./slots.ts";
import { slotsOf } from "./slots.ts";
import type { Action } from "./tool.ts";

/**
 * The same once more: the user's words ask for it as often as they say it. Calls of the same answer, which are decided
 * together and have no result yet, count as well.
 */
export function judgeRepetition(memory: FlowMemory, call: FlowCall, action: Action, { by }: Mandate): Finding[] {
  // "Pay all of them": what is equal in all is still one.
  const roles = by.some(({ open }) => open === "all") ? null : decisiveOf(action);
  const own = keyOf(call.input, call, action, roles);
  const before = [...(memory.done.get(call.called) ?? []), ...openBefore(memory, call)];
  const times = before.filter((input) => keyOf(input, call, action, roles) === own).length;
  if (times === 0 || times < by.length) return [];
  return [{ type: "unproven", id: "again", path: "", value: ownName(call.called), sentence: "It was already done." }];
}

/** What of a call says that it is the same again, whatever else it says; null: all of it. */
function decisiveOf({ kinds, things }: Action): readonly Role[] | null {
  const [kind] = kinds;
  if (kind === "pay" || (kind === "create" && meet(things, money))) return ["address", "target", "id", "amount"];
  if (kind === "delete" || kind === "invite") return ["address", "target", "id"];
  if (kind === "book") return ["address", "target", "id", "time"];
  if (kind === "create") return ["address", "target", "id", "amount", "title", "time", "place"];
  return null;
}

const money = new Set(["money"]);

function keyOf(input: Json, { schema }: FlowCall, { kinds }: Action, roles: readonly Role[] | null): string {
  if (roles === null) return canonical(input);
  const values = slotsOf(known(input, schema), schema, kinds).slots.filter(({ role }) => roles.includes(role));
  return JSON.stringify(values.map(({ path, value }) => [path, value]).toSorted());
}

/** Without the fields that the tool doesn't have. */
function known(input: Json, schema: Json): Json {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(input) || !isObject(properties) || Object.keys(properties).length === 0) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => Object.hasOwn(properties, key)));
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function openBefore(memory: FlowMemory, { callId, called }: FlowCall): Json[] {
  if (callId === undefined) return [];
  const open = [...memory.open];
  return open.slice(0, Math.max(0, open.indexOf(callId))).flatMap((id) => {
    const before = memory.calls.get(id);
    return before?.tool === called ? [before.input] : [];
  });
}
