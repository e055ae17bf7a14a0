import { z } from "zod";
import type { SearchModel } from "../http/ports.ts";
import type { Asked, SearchResult } from "./search-provider.ts";

/** What a model found, in its own words, and the pages it gives for that. */
export interface Findings {
  readonly text: string;
  readonly pages: readonly SearchResult[];
}

/** Searches that a model may make for one question. */
const mostSearches = 3;
/** Tokens of an answer, for the provider that must be told. */
const mostTokens = 4_096;

/**
 * One question to a model that has its provider's search: OpenAI's `web_search` (Responses), Anthropic's `web_search_20250305`
 * (Messages), Google's `google_search` (Gemini). Nothing of the session is in it but the query.
 */
export function askModel({ wire, url, model, apiKey, headers }: SearchModel, query: string, count: number): Asked {
  const question = `Search the web for what stands in the last line, and report what you find: facts with their dates, and where each is from. At most ${count} sources.\n${query}`;
  const key = apiKey ?? "";
  const post = (body: object, own: Record<string, string>): Asked => ({
    url,
    method: "POST",
    headers: Object.entries({ accept: "application/json", "content-type": "application/json", ...own, ...headers }),
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  switch (wire) {
    case "responses":
      return post(
        { model, input: question, tools: [{ type: "web_search" }], tool_choice: "required", store: false },
        key === "" ? {} : { authorization: `Bearer ${key}` },
      );
    case "messages":
      return post(
        {
          model,
          max_tokens: mostTokens,
          messages: [{ role: "user", content: question }],
          tools: [{ type: "web_search_20250305", name: "web_search", max_uses: mostSearches }],
        },
        { "anthropic-version": "2023-06-01", ...(key === "" ? {} : { "x-api-key": key }) },
      );
    case "gemini":
      return post(
        { contents: [{ role: "user", parts: [{ text: question }] }], tools: [{ google_search: {} }] },
        key === "" ? {} : { "x-goog-api-key": key },
      );
  }
}

const text = z.string().nullish();
const page = z.object({ url: z.string(), title: text, cited_text: text });
const pages = z.array(z.unknown()).nullish();
const responses = z.object({
  output: z.array(z.object({ content: z.array(z.object({ text, annotations: pages })).nullish() })),
});
const messages = z.object({ content: z.array(z.object({ type: z.string(), text, citations: pages, content: z.unknown().optional() })) });
const gemini = z.object({
  candidates: z.array(
    z.object({
      content: z.object({ parts: z.array(z.object({ text, thought: z.boolean().nullish() })).nullish() }).nullish(),
      groundingMetadata: z
        .object({ groundingChunks: z.array(z.object({ web: z.object({ uri: z.string(), title: text }).nullish() })).nullish() })
        .nullish(),
    }),
  ),
});

/** Null where the answer has another shape than the provider's, or says nothing. */
export function findingsOf(wire: SearchModel["wire"], body: string): Findings | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return null;
  }
  const found = read(wire, answer);
  return found === null || (found.text.trim() === "" && found.pages.length === 0) ? null : { ...found, pages: once(found.pages) };
}

function read(wire: SearchModel["wire"], answer: unknown): Findings | null {
  switch (wire) {
    case "responses": {
      const parts = responses.safeParse(answer).data?.output.flatMap(({ content }) => content ?? []);
      return parts === undefined
        ? null
        : { text: joined(parts, "\n\n"), pages: pagesIn(parts.flatMap(({ annotations }) => annotations ?? [])) };
    }
    case "messages": {
      const blocks = messages.safeParse(answer).data?.content;
      if (blocks === undefined) return null;
      const said = blocks.filter(({ type }) => type === "text");
      const cited = said.flatMap(({ citations }) => citations ?? []);
      const results = blocks.flatMap(({ type, content }) => (type === "web_search_tool_result" && Array.isArray(content) ? content : []));
      // What it cites says more than the list of what its search gave.
      return { text: joined(said, ""), pages: pagesIn(cited.length > 0 ? cited : results) };
    }
    case "gemini": {
      const [first] = gemini.safeParse(answer).data?.candidates ?? [];
      if (first === undefined) return null;
      const chunks = first.groundingMetadata?.groundingChunks ?? [];
      return {
        text: joined(
          (first.content?.parts ?? []).filter(({ thought }) => thought !== true),
          "",
        ),
        pages: chunks.flatMap(({ web }) => (web ? [{ url: web.uri, title: web.title ?? web.uri, text: "" }] : [])),
      };
    }
  }
}

function joined(parts: readonly { readonly text?: string | null | undefined }[], between: string): string {
  return parts.map((part) => part.text ?? "").join(between);
}

function pagesIn(found: readonly unknown[]): SearchResult[] {
  return found.flatMap((each) => {
    const { data } = page.safeParse(each);
    return data === undefined ? [] : [{ url: data.url, title: data.title ?? data.url, text: data.cited_text ?? "" }];
  });
}

function once(found: readonly SearchResult[]): SearchResult[] {
  return [...new Map(found.toReversed().map((each) => [each.url, each])).values()].toReversed();
}
