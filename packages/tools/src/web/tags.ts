import { decodeEntities } from "./entities.ts";

/** What begins at a `<`, and where it ends. */
export type Tag =
  | { readonly type: "start"; readonly name: string; readonly attributes: ReadonlyMap<string, string>; readonly end: number }
  | { readonly type: "end"; readonly name: string; readonly end: number }
  /** A comment or a declaration. */
  | { readonly type: "none"; readonly end: number }
  /** Not a tag at all. */
  | { readonly type: "text"; readonly end: number };

/** What begins at a `<`. One that the page never ends takes the rest of the page with it, as in a browser. */
export function readTag(html: string, start: number): Tag {
  if (html.startsWith("<!--", start)) return { type: "none", end: after(html, "-->", start + 2) };
  const second = html[start + 1] ?? "";
  if (second === "!" || second === "?") return { type: "none", end: after(html, ">", start) };
  const isEnd = second === "/";
  let at = start + (isEnd ? 2 : 1);
  if (!/[a-z]/i.test(html[at] ?? "")) return isEnd ? { type: "none", end: after(html, ">", start) } : { type: "text", end: start + 1 };
  const from = at;
  while (at < html.length && !/[\s/>]/.test(html[at]!)) at += 1;
  const name = html.slice(from, at).toLowerCase();
  const attributes = new Map<string, string>();
  const end = readAttributes(html, at, attributes);
  return isEnd ? { type: "end", name, end } : { type: "start", name, attributes, end };
}

function readAttributes(html: string, start: number, attributes: Map<string, string>): number {
  let at = start;
  for (;;) {
    while (at < html.length && /[\s/]/.test(html[at]!)) at += 1;
    if (at >= html.length) return html.length;
    if (html[at] === ">") return at + 1;
    const nameFrom = at;
    at += 1;
    while (at < html.length && !/[\s/>=]/.test(html[at]!)) at += 1;
    const name = html.slice(nameFrom, at).toLowerCase();
    while (at < html.length && /\s/.test(html[at]!)) at += 1;
    let value = "";
    if (html[at] === "=") {
      at += 1;
      while (at < html.length && /\s/.test(html[at]!)) at += 1;
      const quote = html[at] === '"' || html[at] === "'" ? html[at]! : "";
      const valueFrom = at + quote.length;
      at = valueFrom;
      while (at < html.length && (quote === "" ? !/[\s>]/.test(html[at]!) : html[at] !== quote)) at += 1;
      value = html.slice(valueFrom, at);
      at += quote.length;
    }
    if (!attributes.has(name)) attributes.set(name, decodeEntities(value));
  }
}

/** Where the end tag of an element begins; null where there is none. */
export function endOf(html: string, name: string, from: number): number | null {
  const tag = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  tag.lastIndex = from;
  return tag.exec(html)?.index ?? null;
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}
