import type { CallOutcome } from "@holdfast/protocol/call";
import { isHoldfastError } from "@holdfast/protocol/error";
import { z } from "zod";
import { defineTool, failed, interrupted, refuse, throwIfLetGo } from "./define.ts";
import type { HttpPorts, SearchProvider } from "./http/ports.ts";
import { redactText } from "./http/redact.ts";
import { targetOf } from "./http/target.ts";
import { whole } from "./input.ts";
import { decodeOutput } from "./output/decode.ts";
import { isRefusal } from "./place.ts";
import { askModel, findingsOf } from "./web/search-model.ts";
import { searchRequest, searchResults, type SearchResult } from "./web/search-provider.ts";

const timeoutMs = 20_000;
/** A model searches several times and reads what it finds. */
const modelTimeoutMs = 120_000;
const maxBytes = 2 * 1024 * 1024;
const maxSnippet = 600;

const input = z.strictObject({ query: z.string().trim().min(1).max(400), count: whole(1, 20).optional().describe("default 8") });

export function webSearch(http: HttpPorts, provider: SearchProvider) {
  return defineTool({
    name: "web_search",
    description: "Search the web. Read what is found with web_fetch.",
    input,
    async plan({ query }) {
      const target = targetOf(addressOf(provider));
      if (isRefusal(target)) return refuse(`The search service is not well configured: ${target.text}`);
      return {
        summary: `Search the web (${provider.kind === "model" ? provider.model : provider.kind}): ${query}`,
        reads: [target.resource],
      };
    },
    async run({ query, count = 8 }, _intent, _context, signal): Promise<CallOutcome> {
      const target = targetOf(addressOf(provider));
      if (isRefusal(target)) return failed(target.text);
      const secrets = [...http.secrets.values(), ...secretsOf(provider)];
      try {
        const response = await http.network.exchange(
          {
            ...(provider.kind === "model" ? askModel(provider, query, count) : searchRequest(provider, query, count)),
            // The user's config names the service, wherever it is.
            reach: { isOpen: false, hosts: [target.host] },
            timeoutMs: provider.kind === "model" ? modelTimeoutMs : timeoutMs,
            maxBytes,
            maxRedirects: 0,
          },
          signal,
        );
        const body = new TextDecoder().decode(response.body);
        if (response.status !== 200) {
          return { ...answer(`The search service answered ${response.status}: ${body.slice(0, 500)}`, secrets), status: "failed" };
        }
        const found = resultsOf(provider, body, count);
        if (found === null) return { ...answer("The search service's answer can't be read.", secrets), status: "failed" };
        return answer(found === "" ? "Nothing was found." : found, secrets);
      } catch (error) {
        throwIfLetGo(signal);
        if (!isHoldfastError(error)) throw error;
        return signal.aborted ? interrupted("The search was interrupted.", signal) : failed(`${error.message} (${error.code})`);
      }
    },
  });
}

function secretsOf(provider: SearchProvider): string[] {
  return [...(provider.apiKey === null ? [] : [provider.apiKey]), ...(provider.kind === "model" ? Object.values(provider.headers) : [])];
}

function addressOf(provider: SearchProvider): string {
  return provider.kind === "model" ? provider.url : provider.baseUrl;
}

/** What was found, as the model reads it; null where the answer can't be read. */
function resultsOf(provider: SearchProvider, body: string, count: number): string | null {
  if (provider.kind !== "model") {
    const found = searchResults(provider.kind, body);
    return found === null ? null : listed(found, count);
  }
  const found = findingsOf(provider.wire, body);
  if (found === null) return null;
  const sources = listed(found.pages, count);
  return [found.text.trim(), sources === "" ? "" : `Sources:\n\n${sources}`].filter((part) => part !== "").join("\n\n");
}

function listed(found: readonly SearchResult[], count: number): string {
  return found
    .slice(0, count)
    .map(({ title, url, text }, at) => `${at + 1}. ${oneLine(title)}\n${oneLine(url)}\n${oneLine(text).slice(0, maxSnippet)}`.trimEnd())
    .join("\n\n");
}

function answer(text: string, secrets: readonly string[]): CallOutcome {
  return { status: "completed", text: redactText(decodeOutput(new TextEncoder().encode(text)), secrets), trust: "untrusted" };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
