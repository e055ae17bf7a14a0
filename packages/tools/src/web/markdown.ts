import { cleanHtml } from "./clean-html.ts";

export interface Page {
  readonly title: string;
  readonly markdown: string;
  /** True where the page is longer than what is converted. */
  readonly isCut: boolean;
}

/** A page as Markdown. The converter is loaded when the first page comes. */
export async function markdownOf(html: string, url: string): Promise<Page> {
  const { title, html: clean, isCut } = cleanHtml(html, url);
  const { default: Turndown } = await import("turndown");
  const converter = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-", hr: "---" });
  const oneLine = (content: string) => content.trim().replace(/\s*\n\s*/g, " ");
  converter.addRule("cell", {
    filter: ["th", "td"],
    replacement: (content) => `| ${oneLine(content).replaceAll("|", "\\|")} `,
  });
  converter.addRule("row", {
    filter: "tr",
    replacement(content, node) {
      const cells = [...node.childNodes].filter((each) => each.nodeName === "TH" || each.nodeName === "TD").length;
      const isFirst = node.previousSibling === null && (node.parentNode?.nodeName !== "TBODY" || node.parentNode.previousSibling === null);
      return `\n${oneLine(content)} |${isFirst ? `\n${"| --- ".repeat(cells)}|` : ""}`;
    },
  });
  converter.addRule("rows", { filter: ["thead", "tbody"], replacement: (content) => content });
  converter.addRule("table", { filter: "table", replacement: (content) => `\n\n${content.trim()}\n\n` });
  return { title, markdown: converter.turndown(clean), isCut };
}
