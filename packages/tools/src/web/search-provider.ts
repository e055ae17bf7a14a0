import type { NetworkRequest } from "@holdfast/runtime/ports/network";
import { z } from "zod";
import type { SearchService } from "../http/ports.ts";
import { decodeEntities } from "./entities.ts";

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export type Asked = Pick<NetworkRequest, "url" | "method" | "headers" | "body">;

/**
 * A search in the words of each service: Brave `GET /res/v1/web/search`, Tavily `POST /search`, Exa `POST /search`,
 * SearXNG `GET /search?format=json` (which an instance may have switched off).
 */
export function searchRequest({ kind, baseUrl, apiKey }: SearchService, query: string, count: number): Asked {
  const get = (path: string, parameters: Record<string, string>, headers: Asked["headers"]): Asked => ({
    url: `${baseUrl}${path}?${new URLSearchParams(parameters).toString()}`,
    method: "GET",
    headers: [["Accept", "application/json"], ["User-Agent", "holdfast"], ...headers],
    body: null,
  });
  const post = (path: string, body: object, headers: Asked["headers"]): Asked => ({
    url: `${baseUrl}${path}`,
    method: "POST",
    headers: [["Accept", "application/json"], ["Content-Type", "application/json"], ["User-Agent", "holdfast"], ...headers],
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
  const key = apiKey ?? "";
  switch (kind) {
    case "brave":
      return get("/res/v1/web/search", { q: query, count: String(count), text_decorations: "false" }, [["X-Subscription-Token", key]]);
    case "searxng":
      return get("/search", { q: query, format: "json" }, key === "" ? [] : [["Authorization", `Bearer ${key}`]]);
    case "tavily":
      return post("/search", { query, max_results: count }, [["Authorization", `Bearer ${key}`]]);
    case "exa":
      return post("/search", { query, numResults: count, contents: { highlights: true } }, [["x-api-key", key]]);
  }
}

const text = z.string().nullish();
const page = z.object({ title: text, url: z.string() });
const brave = z.object({ web: z.object({ results: z.array(page.extend({ description: text })) }).nullish() });
const content = z.object({ results: z.array(page.extend({ content: text })) });
const exa = z.object({ results: z.array(page.extend({ text, highlights: z.array(z.string()).nullish() })) });

/** Null where the answer has another shape than the service's. */
export function searchResults(kind: SearchService["kind"], body: string): SearchResult[] | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return null;
  }
  switch (kind) {
    case "brave": {
      const { data } = brave.safeParse(answer);
      return data === undefined ? null : (data.web?.results ?? []).map((each) => result(each, each.description));
    }
    case "tavily":
    case "searxng": {
      const { data } = content.safeParse(answer);
      return data === undefined ? null : data.results.map((each) => result(each, each.content));
    }
    case "exa": {
      const { data } = exa.safeParse(answer);
      return data === undefined ? null : data.results.map((each) => result(each, each.highlights?.join(" … ") ?? each.text));
    }
  }
}

function result({ title, url }: z.infer<typeof page>, snippet: string | null | undefined): SearchResult {
  return { title: plain(title ?? url), url, text: plain(snippet ?? "") };
}

/** Services put `<strong>` and references into what they quote. */
function plain(quoted: string): string {
  return decodeEntities(quoted.replace(/<\/?[a-z]{1,10}>/gi, ""));
}
