import type { ToolSpec } from "@holdfast/runtime";

/** A tool's JSON on a wire, made once for as long as the tool is there. */
export function keptTools(toJson: (spec: ToolSpec) => string): (spec: ToolSpec) => string {
  const texts = new WeakMap<ToolSpec, string>();
  return (spec) => {
    const json = texts.get(spec) ?? toJson(spec);
    texts.set(spec, json);
    return json;
  };
}
