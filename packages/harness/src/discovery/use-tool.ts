import type { Json } from "@holdfast/protocol";
import type { Tool } from "@holdfast/runtime";
import { fieldsOf } from "./fields.ts";

const wrongInput =
  "use_tool takes {name, input}: the name of a tool that search_tools found, and its input as an object. Nothing was done.";

/** Passes a call on to the tool it names; by itself it does nothing. */
export const useTool: Tool = {
  spec: {
    name: "use_tool",
    description: "Call a tool that search_tools found.",
    schema: { type: "object", properties: { name: { type: "string" }, input: { type: "object" } }, required: ["name", "input"] },
  },
  unwrap(input) {
    const { name, input: inner } = fieldsOf(input);
    if (typeof name !== "string" || name === "") return { type: "refused", text: wrongInput };
    return { name, input: decoded(inner ?? {}) };
  },
  plan: async () => ({ type: "refused", text: wrongInput }),
  run: async () => {
    throw new Error("use_tool runs nothing itself");
  },
};

/** An object that a model encoded once too often is taken for what it is. */
function decoded(input: Json): Json {
  if (typeof input !== "string") return input;
  try {
    const value = JSON.parse(input) as Json;
    return typeof value === "object" ? value : input;
  } catch {
    return input;
  }
}
