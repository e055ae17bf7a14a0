import type { Item, SessionEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { createHasher } from "../hash.ts";
import { compactedItems, compactedNotice } from "./compacted.ts";
import { hasImages, withinBounds, withoutSeen } from "./window-images.ts";
import { noWeight, weighed, type Weight } from "./worst-input.ts";

/**
 * The items a model sees, oldest first. Results are placed in call order, right after the calls of their sampling, however
 * they came in; nothing else can come between. The array only grows and its items keep their identity, until a compaction
 * begins another, or older images give way to newer ones.
 */
export interface Window {
  readonly items: readonly Item[];
  /** Where the untrusted content among them came from, each source once, the first ones. Empty: there is none. */
  readonly untrusted: readonly string[];
  /** Of its items, and of results that are not placed yet. */
  readonly weight: Weight;
  /** Whether a result that names this handle for its whole is untrusted. */
  isUntrustedOutput(handle: string): boolean;
  /** `salt`: that of the stored event; only the digest needs it. */
  add(event: SessionEvent, salt?: string | null): void;
  /** Of all items, each with the salt of the event that brought it. An item is hashed once, whenever this is asked. */
  digest(): string;
}

interface Salted {
  readonly item: Item;
  readonly salt: string;
}

/** Sources that are named. */
const mostSources = 20;

/** `isWhole`: with what was in windows before. `takesAll`: for who only reads; of a log that lost events, what is left as it comes. */
export function createWindow(isWhole = false, takesAll = false): Window {
  let items: Item[] = [];
  const untrusted: string[] = [];
  const untrustedOutputs = new Set<string>();
  const otherOutputs = new Set<string>();
  /** What was in windows before came from anywhere: so may outputs that this one doesn't name. */
  let hasUntrustedPast = false;
  /** What calls without a result are called, for the sources. */
  const called = new Map<string, string>();
  let open: string[] = [];
  const results = new Map<string, Salted>();
  let hasher = createHasher();
  let unhashed: Salted[] = [];
  let weight = noWeight;

  /** The results that there are, in call order. */
  const closed = (): readonly Salted[] => {
    const placed = open.flatMap((callId) => results.get(callId) ?? []);
    open = [];
    results.clear();
    return placed;
  };

  const place = (given: readonly Salted[]): void => {
    if (open.length > 0 && !takesAll) throw new HoldfastError("internal", `an item came while the calls ${open.join(", ")} had no result`);
    const added = open.length > 0 ? [...closed(), ...given] : given;
    for (const { item } of added) {
      items.push(isWhole || !hasImages(item) ? item : withoutSeen(item, items));
      note(item);
    }
    if (!isWhole && added.some(({ item }) => hasImages(item))) items = [...withinBounds(items)];
    unhashed.push(...added);
  };

  const note = (item: Item): void => {
    if (item.kind === "tool_call") called.set(item.callId, item.name);
    if (!("trust" in item)) return;
    const source = item.kind === "tool_result" ? (called.get(item.callId) ?? "a call") : item.kind === "notice" ? "a notice" : "a message";
    if (item.kind === "tool_result") called.delete(item.callId);
    if (item.kind === "tool_result" && item.output !== undefined && item.trust !== "untrusted") otherOutputs.add(item.output);
    if (item.trust !== "untrusted") return;
    if (item.kind === "tool_result" && item.output !== undefined) untrustedOutputs.add(item.output);
    if (untrusted.length < mostSources && !untrusted.includes(source)) untrusted.push(source);
  };

  return {
    get items() {
      return items;
    },
    get weight() {
      return weight;
    },
    untrusted,
    isUntrustedOutput: (handle) => untrustedOutputs.has(handle) || (hasUntrustedPast && !otherOutputs.has(handle)),
    digest() {
      for (const { item, salt } of unhashed) hasher.update(`${salt} ${JSON.stringify(item)}\n`);
      unhashed = [];
      return hasher.digest();
    },
    add(event, salt) {
      const append = (...added: readonly Item[]): void => place(added.map((item) => ({ item, salt: salt ?? "" })));
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
        case "call.decided":
          if (event.payload.tool !== undefined) called.set(event.payload.callId, event.payload.tool);
          break;
        case "call.settled":
          if (!open.includes(event.payload.callId) || results.has(event.payload.callId)) {
            if (takesAll) {
              append(event.payload.result);
              break;
            }
            throw new HoldfastError("internal", `call ${event.payload.callId} was settled twice or never proposed`);
          }
          results.set(event.payload.callId, { item: event.payload.result, salt: salt ?? "" });
          if (results.size === open.length) place(closed());
          break;
        case "window.compacted":
          if (!isWhole) {
            items = [];
            hasher = createHasher();
            unhashed = [];
            untrusted.length = 0;
            hasUntrustedPast ||= event.payload.trust === "untrusted";
          }
          // Whoever has the windows before has these already.
          append(...(isWhole ? [compactedNotice(event.payload)] : compactedItems(event.payload)));
          break;
        default:
          break;
      }
      weight = weighed(weight, event);
    },
  };
}
