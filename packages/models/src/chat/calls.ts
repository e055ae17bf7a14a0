import { asRecord, asText, parseJson, type Shape } from "../shape.ts";

/** A call as its fragments build it. */
export interface CallDraft {
  /** The server's, used to route fragments only. */
  id: string;
  name: string;
  input: string;
  /** Its place among the calls by the server's count. */
  readonly order: number;
  /** How deep in objects and lists its input is so far, and whether inside a string. */
  depth: number;
  place: "outside" | "string" | "escape";
}

/** Fragments of calls, routed to their call. */
export interface CallDrafts {
  /** In the order in which they began. */
  readonly drafts: readonly CallDraft[];
  /** Takes one element of `delta.tool_calls`; gives the call it went to and the text it added. */
  add(fragment: Shape): { readonly draft: CallDraft; readonly text: string };
}

/**
 * Routes by index as the wire says, and copes with servers that give every call index 0 or none, repeat or leave out
 * ids, or repeat the name in each fragment. The rule behind it: arguments that are a whole JSON object can't go on, so
 * more of them, or another id or name, is another call.
 */
export function createCallDrafts(): CallDrafts {
  const drafts: CallDraft[] = [];
  const byIndex = new Map<number, CallDraft>();

  function begin(index: number | null, id: string, name: string): CallDraft {
    const draft: CallDraft = { id, name, input: "", order: index ?? drafts.length, depth: 0, place: "outside" };
    drafts.push(draft);
    if (index !== null) byIndex.set(index, draft);
    return draft;
  }
  return {
    drafts,
    add: (fragment) => {
      const index = typeof fragment["index"] === "number" ? fragment["index"] : null;
      const id = asText(fragment["id"]) ?? "";
      const call = asRecord(fragment["function"]);
      const name = asText(call?.["name"]) ?? "";
      const text = argumentsText(call?.["arguments"]);
      const current =
        index !== null ? byIndex.get(index) : ((id === "" ? undefined : drafts.findLast((one) => one.id === id)) ?? drafts.at(-1));
      const draft =
        current === undefined || isAnother(current, { id, name, text }, index !== null)
          ? begin(index, id, name || (id === "" ? (current?.name ?? "") : ""))
          : current;
      if (draft.id === "") draft.id = id;
      if (draft.name === "") draft.name = name;
      draft.input += text;
      follow(draft, text);
      return { draft, text };
    },
  };
}

function isAnother(
  current: CallDraft,
  next: { readonly id: string; readonly name: string; readonly text: string },
  hasIndex: boolean,
): boolean {
  if (next.id !== "" && current.id !== "" && next.id !== current.id) return true;
  const startsAnew = next.text.trimStart().startsWith("{");
  const isOtherName = next.name !== "" && current.name !== "" && next.name !== current.name;
  if (isOtherName && (!hasIndex || isWhole(current) || (startsAnew && current.input === ""))) return true;
  return startsAnew && isWhole(current);
}

/** Parsed only where an object has just closed: parsing at each fragment would cost the square of the length. */
function isWhole({ input, depth, place }: CallDraft): boolean {
  return depth === 0 && place === "outside" && input !== "" && asRecord(parseJson(input)) !== null;
}

function follow(draft: CallDraft, text: string): void {
  for (const character of text) {
    if (draft.place === "escape") draft.place = "string";
    else if (draft.place === "string") draft.place = character === "\\" ? "escape" : character === '"' ? "outside" : "string";
    else if (character === '"') draft.place = "string";
    else if (character === "{" || character === "[") draft.depth += 1;
    else if (character === "}" || character === "]") draft.depth -= 1;
  }
}

/** Arguments are JSON text; some servers send the object itself. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return asRecord(value) === null ? "" : JSON.stringify(value);
}
