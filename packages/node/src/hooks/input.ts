import type { Json } from "@holdfast/protocol";
import type { HookCall } from "@holdfast/runtime";

/** What a hook reads, as JSON with the names that hooks of other harnesses know. */
export function hookInput({ event, session, cwd, data }: HookCall): string {
  return JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...data });
}

/** Bytes that fit into an environment variable (128 kB on Linux), with room to spare. */
const mostBytes = 120_000;
/** Where the whole doesn't fit, texts are cut to so many UTF-16 units, less each time. */
const cuts = [20_000, 4_000, 400, 0] as const;

/** The same within what a variable holds: longer texts are cut, and `truncated` says so. */
export function boundedInput(call: HookCall): { readonly text: string; readonly isCut: boolean } {
  const whole = hookInput(call);
  if (fits(whole)) return { text: whole, isCut: false };
  for (const length of cuts) {
    const text = hookInput({ ...call, data: { ...(cut(call.data, length) as HookCall["data"]), truncated: true } });
    if (fits(text)) return { text, isCut: true };
  }
  return { text: hookInput({ ...call, data: { truncated: true } }), isCut: true };
}

function fits(text: string): boolean {
  return new TextEncoder().encode(text).length <= mostBytes;
}

function cut(value: Json, length: number): Json {
  if (typeof value === "string") return value.length <= length ? value : value.slice(0, length).toWellFormed();
  if (Array.isArray(value)) return value.map((one: Json) => cut(one, length));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner as Json, length)]));
  }
  return value;
}
