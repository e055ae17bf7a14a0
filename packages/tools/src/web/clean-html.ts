import { decodeEntities, escapeAttribute } from "./entities.ts";
import { endOf, readTag } from "./tags.ts";

/** A page's HTML with what Markdown can say and nothing else, balanced, its links absolute. */
export interface CleanPage {
  readonly title: string;
  readonly html: string;
  /** True where the page went on. */
  readonly isCut: boolean;
}

/** Elements whose content is no markup: left open, they take the rest of the page (HTML standard, 13.2.5). */
const raw = new Set("script style noscript iframe textarea title".split(" "));
/** Elements that go with all they hold, where they end. */
const dropped = new Set("template object svg math canvas audio video select datalist button dialog".split(" "));
/** Elements that stay; of any other only its content does. */
const kept = new Set(
  "h1 h2 h3 h4 h5 h6 p div section article main blockquote ul ol li dl dt dd pre code kbd samp em strong b i del a img table thead tbody tr th td br hr".split(
    " ",
  ),
);
const empty = new Set(["br", "hr", "img"]);
/** Text that runs on, and the paragraph it runs in. */
const inline = new Set("code kbd samp em strong b i del a p".split(" "));
/** Within a link these are only text: what the link says is worth more than how. */
const flattened = new Set("p div section article main h1 h2 h3 h4 h5 h6".split(" "));
/** What an element ends that was left open (HTML standard, 13.1.2.4), and the elements beyond which it does not. */
const implied: Readonly<Record<string, { readonly ends: readonly string[]; readonly within: readonly string[] }>> = {
  li: { ends: ["li"], within: ["ul", "ol"] },
  dt: { ends: ["dt", "dd"], within: ["dl"] },
  dd: { ends: ["dt", "dd"], within: ["dl"] },
  thead: { ends: ["thead", "tbody"], within: ["table"] },
  tbody: { ends: ["thead", "tbody"], within: ["table"] },
  tr: { ends: ["tr"], within: ["table"] },
  th: { ends: ["th", "td"], within: ["tr", "table"] },
  td: { ends: ["th", "td"], within: ["tr", "table"] },
};
/** Deeper elements are left out, their text is not: a page's depth costs its readers the square of it. */
const maxDepth = 30;
/** The same for what is indented or aligned once more at each level. */
const mostLists = 6;
const mostTables = 2;
const tables = new Set(["table"]);
const lists = new Set(["ul", "ol", "dl", "blockquote"]);
/** Characters of HTML that are converted. */
const maxChars = 600_000;

/** What has been written so far. */
interface Writer {
  readonly out: string[];
  /** Elements that are open, outermost first. */
  readonly open: string[];
  size: number;
  base: string;
}

/** One pass over the text: its time grows with the length of the page and with nothing else. */
export function cleanHtml(html: string, url: string): CleanPage {
  const writer: Writer = { out: [], open: [], size: 0, base: url };
  /** Elements that end nowhere any more: looked for once. */
  const endless = new Set<string>();
  let title = "";
  let at = 0;
  while (at < html.length && writer.size < maxChars) {
    const found = html.indexOf("<", at);
    const next = Math.min(found === -1 ? html.length : found, at + maxChars - writer.size);
    write(writer, html.slice(at, next));
    at = next;
    if (at !== found) continue;
    const tag = readTag(html, at);
    at = tag.end;
    switch (tag.type) {
      case "text":
        write(writer, "&lt;");
        break;
      case "none":
        break;
      case "end":
        if (writer.open.includes(tag.name)) closeTo(writer, writer.open.lastIndexOf(tag.name));
        break;
      case "start":
        if (raw.has(tag.name)) {
          const end = endOf(html, tag.name, at) ?? html.length;
          if (tag.name === "title" && title === "") title = decodeEntities(html.slice(at, end)).replace(/\s+/g, " ").trim();
          at = end;
        } else if (dropped.has(tag.name)) {
          const isEmpty = html[at - 2] === "/";
          const end = isEmpty || endless.has(tag.name) ? null : endOf(html, tag.name, at);
          if (end === null && !isEmpty) endless.add(tag.name);
          at = end ?? at;
        } else start(writer, tag.name, tag.attributes);
    }
  }
  closeTo(writer, 0);
  return { title, html: writer.out.join(""), isCut: at < html.length };
}

function start(writer: Writer, name: string, attributes: ReadonlyMap<string, string>): void {
  const { open } = writer;
  if (name === "base") writer.base = absolute(attributes.get("href"), writer.base) ?? writer.base;
  if (!kept.has(name)) return;
  const tag = written(name, attributes, writer.base);
  if (empty.has(name)) return write(writer, tag);
  const link = open.lastIndexOf("a");
  if (link !== -1 && flattened.has(name)) return write(writer, " ");
  const { ends, within } = implied[name] ?? { ends: [], within: [] };
  const left = open.findLastIndex((each) => ends.includes(each));
  if (left > open.findLastIndex((each) => within.includes(each))) closeTo(writer, left);
  if (name === "a" && link !== -1) closeTo(writer, link);
  // A block ends the text that runs on, so that no page can make a parser rebuild it again and again.
  if (!inline.has(name) || name === "p") closeTo(writer, open.findLastIndex((each) => !inline.has(each)) + 1);
  if (isTooDeep(open, name) || tag === "<a>") return;
  open.push(name);
  write(writer, tag);
}

function isTooDeep(open: readonly string[], name: string): boolean {
  const within = (names: ReadonlySet<string>) => (names.has(name) ? open.filter((each) => names.has(each)).length : 0);
  return open.length >= maxDepth || within(lists) >= mostLists || within(tables) >= mostTables;
}

function closeTo(writer: Writer, depth: number): void {
  while (writer.open.length > depth) write(writer, `</${writer.open.pop()}>`);
}

function write(writer: Writer, text: string): void {
  writer.out.push(text);
  writer.size += text.length;
}

function written(name: string, attributes: ReadonlyMap<string, string>, base: string): string {
  const pairs: string[] = [];
  const add = (key: string, value: string | undefined): void => {
    if (value !== undefined && value !== "") pairs.push(` ${key}="${escapeAttribute(value)}"`);
  };
  if (name === "a") add("href", absolute(attributes.get("href"), base));
  if (name === "code" && /^[\w\s-]*language-/.test(attributes.get("class") ?? "")) add("class", attributes.get("class"));
  if (name === "img") {
    const alt = attributes.get("alt")?.trim();
    // A picture without words says nothing here.
    if (alt === undefined || alt === "") return "";
    add("alt", alt);
    add("src", absolute(attributes.get("src"), base) ?? "#");
  }
  return `<${name}${pairs.join("")}>`;
}

/** Undefined for a place within the page, and for what is not fetched (`javascript:`, `data:`). */
function absolute(link: string | undefined, base: string): string | undefined {
  const text = link?.trim() ?? "";
  if (text === "" || text.startsWith("#") || !URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  return /^(?:https?|mailto|ftp):$/.test(url.protocol) ? url.href : undefined;
}
