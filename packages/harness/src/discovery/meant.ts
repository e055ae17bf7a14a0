import type { Json } from "@holdfast/protocol";
import { fieldsOf } from "./fields.ts";

/** A call by the tool it means, with that one's input as JSON. */
export interface MeantCall {
  readonly tool: string;
  readonly input: string;
}

/** What a call as the model wrote it means: of one through `use_tool` the inner one. */
export function meantBy({ name, input }: { readonly name: string; readonly input: string }): MeantCall {
  if (name !== "use_tool") return { tool: name, input };
  try {
    const { name: meant, input: inner = {} } = fieldsOf(JSON.parse(input) as Json);
    if (typeof meant !== "string" || meant === "") return { tool: name, input };
    return { tool: meant, input: typeof inner === "string" ? inner : JSON.stringify(inner) };
  } catch {
    return { tool: name, input };
  }
}

/** These look into the session's past: what they give stands there already. */
export const looksBack: ReadonlySet<string> = new Set(["history_search", "history_read", "lookup"]);

/** These only look for something, in the past or among what could be called or loaded: neither what they are asked nor what they give is news. */
const looks: ReadonlySet<string> = new Set([...looksBack, "search_tools", "search_skills", "use_tool"]);

/** Their answers are news, their questions none: a question has the words of what is looked for, and not the value. */
const asks: ReadonlySet<string> = new Set([...looks, "search_documents", "web_search"]);

/** Whether what a call of this tool was asked, and what it gave, say nothing new. `tool`: the one that is meant; a `use_tool` that means none does nothing. */
export function isLook(tool: string): boolean {
  return looks.has(tool);
}

/** Whether the input of this tool is only a question. */
export function isQuestion(tool: string): boolean {
  return asks.has(tool);
}
