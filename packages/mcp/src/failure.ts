import { showUrls } from "@holdfast/runtime/show-url";
import { cleanLine } from "./clean.ts";

/** What an error of a call means for the call. */
export type CallFailure =
  /** The server answered with an error, or refused it: it did what an error stands for. */
  | { readonly type: "answered"; readonly text: string }
  /** It never reached the server: nothing was done. */
  | { readonly type: "unsent"; readonly text: string }
  /** The server doesn't know the connection any more (an HTTP session that ran out) and did nothing. */
  | { readonly type: "expired" }
  /** It may have been carried out. */
  | { readonly type: "unknown"; readonly text: string };

/** Errors of the client package by their codes, which are part of its API. HTTP by RFC 9110; 404 by the MCP transport's rules. */
export function failureOf(error: unknown): CallFailure {
  const text = cleanLine(showUrls(error instanceof Error ? error.message : String(error)), 500);
  const { code, data } = fieldsOf(error);
  if (typeof code === "number") return { type: "answered", text };
  const { status } = fieldsOf(data);
  if (typeof status === "number" && status >= 400 && status < 500) {
    return status === 404 ? { type: "expired" } : { type: "answered", text: `${text} (HTTP ${status})` };
  }
  switch (code) {
    case "NOT_CONNECTED":
    case "SEND_FAILED":
      return { type: "unsent", text };
    case "INVALID_RESULT":
    case "UNSUPPORTED_RESULT_TYPE":
    case "INPUT_REQUIRED_ROUNDS_EXCEEDED":
      return { type: "answered", text: `its answer can't be used: ${text}` };
    case "CAPABILITY_NOT_SUPPORTED":
    case "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION":
      return { type: "unsent", text };
    default:
      return isUnreached(error) ? { type: "unsent", text: "it can't be reached" } : { type: "unknown", text };
  }
}

/** No connection came about: the system says so in the error's cause. */
function isUnreached(error: unknown): boolean {
  const { code } = fieldsOf(fieldsOf(error).cause);
  return code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EHOSTUNREACH" || code === "ENETUNREACH";
}

function fieldsOf(value: unknown): {
  readonly code?: unknown;
  readonly data?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
} {
  return typeof value === "object" && value !== null ? value : {};
}
