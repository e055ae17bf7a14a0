import type { Item, SessionEvent, ToolResult } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol";

/**
 * The items a model sees, oldest first. Results are placed in call order, right after the calls of their sampling, however
 * they came in; nothing else can come between. The array only grows and its items keep their identity.
 */
export interface Window {
  readonly items: readonly Item[];
  add(event: SessionEvent): void;
}

export function createWindow(): Window {
  const items: Item[] = [];
  let open: string[] = [];
  const results = new Map<string, ToolResult>();

  const append = (...added: Item[]): void => {
    if (open.length > 0) throw new HoldfastError("internal", `an item came while the calls ${open.join(", ")} had no result`);
    items.push(...added);
  };

  return {
    items,
    add(event) {
      switch (event.type) {
        case "turn.started":
        case "input.taken":
          append(event.payload.message);
          break;
        case "notice.added":
          append(event.payload.notice);
          break;
        case "sampling.settled":
          append(...event.payload.items);
          open = event.payload.items.flatMap((item) => (item.kind === "tool_call" ? [item.callId] : []));
          break;
        case "call.settled":
          if (!open.includes(event.payload.callId) || results.has(event.payload.callId)) {
            throw new HoldfastError("internal", `call ${event.payload.callId} was settled twice or never proposed`);
          }
          results.set(event.payload.callId, event.payload.result);
          if (results.size === open.length) {
            const placed = open.map((callId) => results.get(callId) as ToolResult);
            open = [];
            results.clear();
            append(...placed);
          }
          break;
        default:
          break;
      }
    },
  };
}
