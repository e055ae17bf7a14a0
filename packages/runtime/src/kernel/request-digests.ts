import type { RequestRecord, SentBody, ToolSpec } from "@holdfast/protocol";
import { sha256 } from "../hash.ts";
import type { SamplingRequest } from "../ports/index.ts";

/** Digests of requests. What stays the same from step to step is hashed once. */
export interface RequestDigests {
  tools(specs: readonly ToolSpec[]): string;
  /** `windowDigest` is that of the window whose items are asked, `sent` what the model says of the body. */
  record(request: SamplingRequest, windowDigest: string, sent: SentBody | null): RequestRecord;
}

const length = 32;

export function createRequestDigests(): RequestDigests {
  const ofTools = new WeakMap<readonly ToolSpec[], string>();
  let instructions = { text: "", digest: half(sha256("")) };

  const toolsDigest = (specs: readonly ToolSpec[]): string => {
    const known = ofTools.get(specs) ?? half(sha256(JSON.stringify(specs)));
    ofTools.set(specs, known);
    return known;
  };
  return {
    tools: toolsDigest,
    record(request, windowDigest, sent) {
      if (request.instructions !== instructions.text) {
        instructions = { text: request.instructions, digest: half(sha256(request.instructions)) };
      }
      return {
        instructions: instructions.digest,
        tools: toolsDigest(request.tools),
        items: half(windowDigest),
        maxOutputTokens: request.maxOutputTokens,
        ...(sent === null ? {} : { body: { ...sent, digest: keyedDigest(windowDigest, sent.digest) } }),
      };
    },
  };
}

/** The half of the window's digest that is not recorded is the key: it can't be told without the salts of all items. */
export function keyedDigest(windowDigest: string, digest: string): string {
  return half(sha256(`${windowDigest.slice(length)} ${digest}`));
}

function half(digest: string): string {
  return digest.slice(0, length);
}
