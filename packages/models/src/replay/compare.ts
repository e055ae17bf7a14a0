import type { Item } from "@holdfast/protocol";

/** Ids as the ports make them, a digit set and a length of their own: `call_01j…`. They are new in each run. */
const ids = /\b[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}\b/g;
/** Times that a program printed, which no two runs share. */
const times =
  /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\bduration_ms:? \d+(?:\.\d+)?|\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|min)\b/g;

/** Turns what the recorded session knew its workspace and its calls by into what this run does, and compares across the two. */
export interface Translation {
  /** A text of the recording in this run's terms. */
  translate(text: string): string;
  /** Learns from two items that stand at the same place which ids are the same thing. */
  learn(recorded: Item, current: Item): void;
  /** What differs between two items at the same place, in words; null where nothing that matters does. */
  difference(recorded: Item, current: Item): string | null;
  /** Whether a text of the recording stands within one of this run, but for ids, places and times. */
  isWithin(recorded: string, current: string): boolean;
}

export function createTranslation(recordedRoots: readonly string[], roots: readonly string[]): Translation {
  const known = new Map<string, string>();
  const places = (text: string, of: readonly string[], to: (index: number) => string): string =>
    of.reduce((sum, root, index) => sum.replaceAll(pathPattern(root), () => to(index)), text);
  const neutral = (text: string, of: readonly string[]): string =>
    places(text, of, (index) => `<root ${index}>`)
      .replace(ids, "<id>")
      .replace(times, "<time>");

  return {
    translate: (text) =>
      places(text, recordedRoots, (index) => roots[index] ?? recordedRoots[index] ?? "").replace(ids, (id) => known.get(id) ?? id),
    learn(recorded, current) {
      if (recorded.kind === "tool_call" && current.kind === "tool_call") known.set(recorded.callId, current.callId);
      const [before, after] = [textOf(recorded).match(ids) ?? [], textOf(current).match(ids) ?? []];
      for (const [index, id] of before.entries()) {
        const now = after[index];
        if (now !== undefined && !known.has(id)) known.set(id, now);
      }
    },
    difference(recorded, current) {
      if (recorded.kind !== current.kind) return `${named(recorded)} was there, now it is ${named(current)}`;
      if (recorded.kind === "tool_result" && current.kind === "tool_result" && recorded.status !== current.status)
        return `a tool result was ${recorded.status}, now it is ${current.status}: ${shorten(current.text)}`;
      const [before, after] = [neutral(textOf(recorded), recordedRoots), neutral(textOf(current), roots)];
      return before === after ? null : `${named(recorded)} differs: ${firstDifference(before, after)}`;
    },
    isWithin: (recorded, current) => neutral(current, roots).includes(neutral(recorded, recordedRoots)),
  };
}

/** The path itself and what lies in it, but not another that begins with the same letters. */
function pathPattern(root: string): RegExp {
  return new RegExp(`${root.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")}(?![\\w.-]*\\w)`, "g");
}

function textOf(item: Item): string {
  switch (item.kind) {
    case "user_message":
      // An image's blob has another id in each store; that there is one counts.
      return item.parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
    case "tool_call":
      return `${item.name} ${item.input}`;
    case "assistant_message":
    case "reasoning":
    case "notice":
    case "tool_result":
      return item.text;
  }
}

export function named(item: Item): string {
  switch (item.kind) {
    case "user_message":
      return "the person's message";
    case "tool_result":
      return "a tool result";
    case "notice":
      return "what the runtime told the model";
    case "assistant_message":
    case "reasoning":
    case "tool_call":
      return "the model's answer";
  }
}

/** The first lines that aren't the same. */
function firstDifference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const at = old.findIndex((line, index) => line !== now[index]);
  const index = at < 0 ? old.length : at;
  const line = (lines: readonly string[]): string => (lines[index] === undefined ? "nothing more" : shorten(lines[index]));
  return `line ${index + 1} was ${line(old)}, now it is ${line(now)}`;
}

function shorten(text: string): string {
  return JSON.stringify(text.length <= 120 ? text : `${text.slice(0, 119).toWellFormed()}…`);
}
