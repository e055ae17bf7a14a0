import type { CallOutcome } from "@holdfast/protocol/call";
import { isHoldfastError } from "@holdfast/protocol/error";
import { redactionMark } from "@holdfast/runtime/redact";
import type { NetworkResponse } from "@holdfast/runtime/ports/network";
import type { CallIntent } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { defineTool, failed, interrupted, throwIfLetGo, type ToolPorts } from "./define.ts";
import { bodyText, isHtml, mediaTypeOf } from "./http/body-text.ts";
import type { HttpPorts } from "./http/ports.ts";
import { redactBytes, redactText } from "./http/redact.ts";
import { httpUrl, reachFor, targetOf } from "./http/target.ts";
import { readBytes } from "./output/bytes.ts";
import { decodeOutput } from "./output/decode.ts";
import { handleOf } from "./output/handle.ts";
import { outputPart } from "./output/read.ts";
import { windowBytes } from "./output/window.ts";
import { isRefusal } from "./place.ts";

const timeoutMs = 30_000;
const maxBytes = 5 * 1024 * 1024;
const maxRedirects = 10;

const input = z.strictObject({ url: httpUrl() });

const accepted = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

export function webFetch(ports: ToolPorts, http: HttpPorts) {
  return defineTool({
    name: "web_fetch",
    description: "Read a web page, as Markdown.",
    input,
    async plan({ url }) {
      const target = targetOf(url);
      return isRefusal(target) ? target : { summary: `Fetch ${target.url}`, reads: [target.resource] };
    },
    async run({ url }, intent, context, signal) {
      try {
        const response = await http.network.exchange(
          {
            url,
            method: "GET",
            headers: [
              ["User-Agent", "Mozilla/5.0 (compatible; holdfast)"],
              ["Accept", accepted],
            ],
            body: null,
            reach: reachFor(context, intent.scope),
            timeoutMs,
            maxBytes,
            maxRedirects,
          },
          signal,
        );
        return await outcomeOf(ports, response, url, intent, http.secrets.values());
      } catch (error) {
        throwIfLetGo(signal);
        if (!isHoldfastError(error)) throw error;
        return signal.aborted ? interrupted("The fetch was interrupted.", signal) : failed(`${error.message} (${error.code})`);
      }
    },
  });
}

async function outcomeOf(
  ports: ToolPorts,
  response: NetworkResponse,
  asked: string,
  intent: CallIntent,
  secrets: readonly string[],
): Promise<CallOutcome> {
  const { status, url } = response;
  const contentType = response.headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const text = bodyText(response.body, contentType);
  const page = text === null ? null : await pageOf(redactText(text, secrets), response.body, contentType, url);
  const notes = [
    ...(status < 400 ? [] : [`HTTP ${status}`]),
    ...(url === asked ? [] : [`redirected to ${url}`]),
    ...(response.end === "whole" && page?.isCut !== true ? [] : ["the page goes on, but this is all that was read"]),
  ];
  const handle = handleOf(intent.callId, intent.attempt);
  const kept = page === null ? redactBytes(response.body, secrets) : new TextEncoder().encode(page.text);
  const isWhole = page !== null && kept.length <= windowBytes;
  const body = page === null ? describeBinary(kept, contentType, handle) : await outputPart(readBytes(kept), 0);
  const more = isWhole || page === null ? [] : [`[read_output ${handle} reads on]`];
  const title = page === null || page.title === "" ? [] : [`Title: ${decodeOutput(new TextEncoder().encode(page.title))}`];
  return {
    status: status < 400 ? "completed" : "failed",
    text: redactText([...notes.map((note) => `[${note}]`), ...title, body, ...more].join("\n"), secrets),
    trust: "untrusted",
    httpStatus: status,
    ...(isWhole ? {} : { output: handle, whole: await ports.blobs.put(kept) }),
  };
}

interface PageText {
  readonly title: string;
  readonly text: string;
  readonly isCut: boolean;
}

async function pageOf(text: string, bytes: Uint8Array, contentType: string, url: string): Promise<PageText> {
  if (!isHtml(mediaTypeOf(contentType).type, bytes)) return { title: "", text, isCut: false };
  const { markdownOf } = await import("./web/markdown.ts");
  const { title, markdown, isCut } = await markdownOf(text, url);
  if (markdown === "") return { title, text: "[The page has no text; it may be made by a script.]", isCut };
  // Markdown escapes brackets; the mark has to stay what it is known by.
  return { title, text: markdown.replaceAll(redactionMark.replace("[", "\\[").replace("]", "\\]"), redactionMark), isCut };
}

function describeBinary(bytes: Uint8Array, contentType: string, handle: string): string {
  const isPdf = [0x25, 0x50, 0x44, 0x46].every((byte, at) => bytes[at] === byte);
  const what = isPdf ? "a PDF" : `binary (${mediaTypeOf(contentType).type || "of no type"})`;
  return `This is ${what} of ${bytes.length} bytes, not text; it is kept as ${handle}. To work with it, download it with a command.`;
}
