import type { CallOutcome } from "@holdfast/protocol/call";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { isNamedHost } from "@holdfast/runtime/network/hosts";
import type { NetworkResponse } from "@holdfast/runtime/ports/network";
import type { CallContext, CallIntent } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { defineTool, failed, interrupted, refuse, throwIfLetGo, type ToolPorts } from "./define.ts";
import { bodyText } from "./http/body-text.ts";
import { headerProblem, headersInput, resolveHeaders } from "./http/headers.ts";
import type { HttpPorts } from "./http/ports.ts";
import { requestIdentity } from "./http/same-request.ts";
import { redactBytes, redactText } from "./http/redact.ts";
import { httpUrl, reachFor, targetOf } from "./http/target.ts";
import { expectation, expectationOf } from "./expectation.ts";
import { flag, whole } from "./input.ts";
import { readBytes } from "./output/bytes.ts";
import { decodeOutput } from "./output/decode.ts";
import { handleOf } from "./output/handle.ts";
import { outputWindow } from "./output/window.ts";
import { isRefusal } from "./place.ts";

const defaultTimeoutS = 15;
const maxBytes = 10 * 1024 * 1024;
const maxHeaderChars = 3_000;
const maxRedirects = 5;
/** How long a target is taken to remember a key; the APIs that have keys promise a day or more. */
const keyLifetimeMs = 24 * 60 * 60 * 1000;

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;

const input = z.strictObject({
  url: httpUrl(),
  method: z.preprocess((value) => (typeof value === "string" ? value.toUpperCase() : value), z.enum(methods)).optional(),
  headers: headersInput(),
  json: z.unknown().optional().describe("body, sent as application/json"),
  body: z.string().optional().describe("body as text, instead of json"),
  timeout_s: whole(1, 600).optional().describe(`default ${defaultTimeoutS}`),
  idempotent: flag().optional().describe("the API documents that it honours Idempotency-Key: where an answer is lost, send it again"),
  expect: expectation(["status", "output_contains", "output_matches"]),
});
type Input = z.infer<typeof input>;

export function httpRequest(ports: ToolPorts, http: HttpPorts) {
  return defineTool({
    name: "http_request",
    description: `Send an HTTP request, as to a REST API, and read the answer. For a page to read use web_fetch.${secretsOf(http)}`,
    input,
    async plan(wanted, context) {
      const target = targetOf(wanted.url);
      if (isRefusal(target)) return target;
      const method = wanted.method ?? "GET";
      const most = context.limits.mutatingCallMs / 1000;
      if (!isSafe(method) && wanted.timeout_s !== undefined && wanted.timeout_s > most)
        return refuse(
          `timeout_s: a ${method} may wait ${most} s here (limits.mutating_call_timeout in the user's config). Nothing was sent.`,
        );
      const hasBody = wanted.json !== undefined || wanted.body !== undefined;
      if (wanted.json !== undefined && wanted.body !== undefined) return refuse("Give json or body, not both. Nothing was sent.");
      if (hasBody && isSafe(method)) return refuse(`A ${method} request has no body here; put it into the URL. Nothing was sent.`);
      const problem = await headerProblem(wanted.headers ?? {}, target, http.secrets);
      if (problem !== null) return problem;
      const isKnown = isNamedHost(target.host, target.port, http.keyedHosts);
      const isKeyed = !isSafe(method) && (isKnown || wanted.idempotent === true);
      return {
        summary: `${method} ${target.url}`,
        reads: isSafe(method) ? [target.resource] : [],
        writes: isSafe(method) ? [] : [target.resource],
        replay: isSafe(method) ? "safe" : isKeyed ? "keyed" : "never",
        identity: requestIdentity({ ...wanted, url: target.url, method }),
        ...(isKeyed && { keyLifetimeMs }),
        ...(isKeyed && !isKnown && { isKeyClaimed: true }),
        ...expectationOf(wanted.expect),
      };
    },
    run: (wanted, intent, context, signal) => run(ports, http, wanted, intent, context, signal),
  });
}

function secretsOf({ secretNames }: HttpPorts): string {
  return secretNames.length === 0 ? "" : ` Secrets for headers: ${secretNames.join(", ")}.`;
}

function isSafe(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

async function run(
  ports: ToolPorts,
  http: HttpPorts,
  wanted: Input,
  intent: CallIntent,
  context: CallContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const target = targetOf(wanted.url);
  const method = wanted.method ?? "GET";
  const headers = isRefusal(target) ? target : await resolveHeaders(wanted.headers ?? {}, target, http.secrets);
  if (isRefusal(headers)) return unsent(headers.text, intent, method);
  const body = wanted.json !== undefined ? JSON.stringify(wanted.json) : wanted.body;
  const has = (name: string) => headers.pairs.some(([each]) => each.toLowerCase() === name);
  const pairs = [
    ...headers.pairs,
    ...(has("user-agent") ? [] : [["User-Agent", "holdfast"] as const]),
    ...(has("accept") ? [] : [["Accept", "*/*"] as const]),
    ...(body === undefined || has("content-type")
      ? []
      : [["Content-Type", wanted.json === undefined ? "text/plain; charset=utf-8" : "application/json"] as const]),
    ...(isSafe(method) ? [] : [["Idempotency-Key", intent.key] as const]),
  ];
  try {
    const response = await http.network.exchange(
      {
        url: wanted.url,
        method,
        headers: pairs,
        body: body === undefined ? null : new TextEncoder().encode(body),
        reach: reachFor(context, intent.scope),
        timeoutMs: Math.min((wanted.timeout_s ?? defaultTimeoutS) * 1000, isSafe(method) ? Infinity : context.limits.mutatingCallMs),
        maxBytes,
        // What changes something was approved for this URL: where it is sent on to is the model's to propose.
        maxRedirects: isSafe(method) ? maxRedirects : 0,
      },
      signal,
    );
    // RFC 9110, 15.6.3 and 15.6.5: a gateway that doesn't know what became of the request.
    if (!isSafe(method) && (response.status === 502 || response.status === 504)) {
      throw new HoldfastError("network_unanswered", `a gateway before ${new URL(wanted.url).host} answered ${response.status}`);
    }
    return await outcomeOf(ports, response, wanted, intent, [...http.secrets.values(), ...headers.used]);
  } catch (error) {
    throwIfLetGo(signal);
    if (!isHoldfastError(error)) throw error;
    // Whether it happened is not known: the call's class says what then.
    if (error.code === "network_unanswered" && !isSafe(method)) throw error;
    if (signal.aborted) return interrupted("The request was interrupted; nothing was changed by it.", signal);
    return unsent(`${error.message} (${error.code})`, intent, method);
  }
}

/** This attempt sent nothing that changes anything. One before it that had no answer may have: then it can't be told that nothing was done. */
function unsent(text: string, intent: CallIntent, method: string): CallOutcome {
  if (!isSafe(method) && intent.isUncertain === true)
    throw new HoldfastError("network_unanswered", `an earlier attempt had no answer; now ${text}`);
  return failed(text);
}

async function outcomeOf(
  ports: ToolPorts,
  response: NetworkResponse,
  wanted: Input,
  intent: CallIntent,
  secrets: readonly string[],
): Promise<CallOutcome> {
  const { status, url } = response;
  const contentType = response.headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const text = bodyText(response.body, contentType);
  const shown = text === null ? redactBytes(response.body, secrets) : new TextEncoder().encode(redactText(text, secrets));
  const handle = handleOf(intent.callId, intent.attempt);
  const window = text === null ? null : await outputWindow(readBytes(shown), `read_output ${handle}`);
  const isWhole = shown.length === 0 || window?.isWhole === true;
  const notes = [
    `HTTP ${status}`,
    ...(url === wanted.url ? [] : [`after a redirect to ${url}`]),
    `${shown.length} bytes`,
    ...(response.end === "capped" ? [`more than ${maxBytes}, the rest was not read`] : []),
    ...(response.end === "cut" ? ["the body was cut off"] : []),
    ...(shown.length > 0 && window === null ? [`binary, kept as ${handle}`] : []),
  ];
  const lines = [notes.join("; "), headerLines(response.headers), ...(window === null || shown.length === 0 ? [] : ["", window.text])];
  const expected = expectationOf(wanted.expect).expect?.status;
  const isExpected = expected === undefined ? status < 400 : status === expected;
  return {
    status: isExpected ? "completed" : "failed",
    text: redactText(lines.join("\n"), secrets),
    trust: "untrusted",
    httpStatus: status,
    ...(isWhole ? {} : { output: handle, whole: await ports.blobs.put(shown) }),
  };
}

function headerLines(headers: NetworkResponse["headers"]): string {
  const text = headers.map(([name, value]) => decodeOutput(new TextEncoder().encode(`${name}: ${value}`)).replaceAll("\n", " ")).join("\n");
  return text.length <= maxHeaderChars ? text : `${text.slice(0, maxHeaderChars)}…`;
}
