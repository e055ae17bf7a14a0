import type { Json } from "@holdfast/protocol";

/** What of a text is JSON, and what stands before, between and behind it. */
export interface LooseJson {
  readonly value: Json;
  readonly rest: readonly string[];
}

const leftOut = /\n(?:… )?\[\d+ characters left out\b[^\]\n]*\](?: …)?\n/;
const longestLead = 80;

/**
 * JSON, also where a short line of the server's stands before it ("Found 2 people:"), where something stands behind it, and
 * where its middle was left out: then what is whole before the gap, and of a list what is whole behind it. Undefined: no JSON.
 */
export function parseLoosely(text: string): LooseJson | undefined {
  const trimmed = text.trim();
  if (/^[[{"\d-]/.test(trimmed)) {
    const value = parse(trimmed);
    if (value !== undefined) return { value, rest: [] };
  }
  const start = startOf(trimmed);
  if (start === -1) return undefined;
  const lead = trimmed.slice(0, start);
  const gap = leftOut.exec(trimmed);
  const head = trimmed.slice(start, gap?.index);
  const { end, closed } = scan(head);
  if (end !== -1) {
    const value = parse(head.slice(0, end));
    return value === undefined ? undefined : { value, rest: [lead, trimmed.slice(start + end)].filter((part) => part.trim() !== "") };
  }
  const value = gap === null ? undefined : parse(`${head.slice(0, closed.at)}${closed.by}`);
  if (gap === null || value === undefined) return undefined;
  const tail = trimmed.slice(gap.index + gap[0].length);
  const { entries, before } = Array.isArray(value) ? lastOf(tail) : { entries: [], before: tail };
  return {
    value: Array.isArray(value) ? [...(value as Json[]), ...entries] : value,
    rest: [lead, head.slice(closed.at), before].filter((part) => part.trim() !== ""),
  };
}

function startOf(text: string): number {
  const [lead = ""] = text.split("\n", 1);
  if (/^[[{]/.test(text)) return 0;
  return lead.length <= longestLead && /^\n\s*[[{]/.test(text.slice(lead.length))
    ? text.slice(lead.length).search(/[[{]/) + lead.length
    : -1;
}

/** Where the value that a text begins with ends; -1: it is cut off, and then up to where it is whole, and what would close it there. */
function scan(text: string): { readonly end: number; readonly closed: { readonly at: number; readonly by: string } } {
  const open: string[] = [];
  let closed = { at: 0, by: "" };
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]!;
    if (isString) {
      if (sign === "\\") at += 1;
      else if (sign === '"') isString = false;
    } else if (sign === '"') isString = true;
    else if (sign === "[" || sign === "{") open.push(sign === "[" ? "]" : "}");
    else if (sign === "]" || sign === "}") {
      if (open.pop() !== sign) return { end: -1, closed: { at: 0, by: "" } };
      if (open.length === 0) return { end: at + 1, closed };
    } else if (sign === ",") closed = { at, by: open.toReversed().join("") };
  }
  return { end: -1, closed };
}

/**
 * The entries of a list behind a gap. Within a string no quote stands behind `},{` without a backslash, so text of others can't
 * make an entry begin; and all up to the end has to be JSON.
 */
function lastOf(tail: string): { readonly entries: readonly Json[]; readonly before: string } {
  let at = tail.search(entry);
  for (let tried = 0; at !== -1 && tried < 8; tried += 1) {
    const found = parse(`[${tail.slice(at + 1).replace(/^\s*,/, "")}`);
    if (Array.isArray(found)) return { entries: found as Json[], before: tail.slice(0, at + 1) };
    const next = tail.slice(at + 1).search(entry);
    at = next === -1 ? -1 : at + 1 + next;
  }
  return { entries: [], before: tail };
}
const entry = /\}\s*,\s*\{"/;

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
