import type { ModelError } from "@holdfast/protocol";
import { asList, asRecord, asText, type Shape } from "./shape.ts";
import { cleanText } from "./text.ts";

export type ErrorClass = ModelError["class"];

/** What is known of a failure before it is put into words. `message` is the provider's own, or what we observed. */
export interface Failure {
  /** Where we know it; else it is read from `status`, `code` and `kind`. */
  readonly class?: ErrorClass;
  readonly status?: number | null;
  /** The structured `code` and `type` of the provider's error object. */
  readonly code?: string | null;
  readonly kind?: string | null;
  /** The parameter that the provider says is wrong. */
  readonly param?: string | null;
  readonly message: string;
  readonly retryAfterMs?: number | null;
  /** Length of the request's body, bytes, where its size may be what is wrong. */
  readonly sentBytes?: number;
}

/** Who failed, and what must never be shown. */
export interface Target {
  /** `provider/name`. */
  readonly id: string;
  readonly host: string;
  readonly secrets: readonly string[];
}

/**
 * Codes (or types) that decide whatever the status is. An exhausted quota is `auth`: waiting doesn't bring it back, a
 * person has to fix the account. Sources: OpenAI API reference, "Error codes" and the `error` object of a response;
 * llama.cpp's server (`exceed_context_size_error`); Azure OpenAI (`content_filter`); Google's `ErrorInfo` (`API_KEY_INVALID`).
 */
const byCode: Readonly<Record<string, ErrorClass>> = {
  context_length_exceeded: "context_overflow",
  exceed_context_size_error: "context_overflow",
  insufficient_quota: "auth",
  billing_hard_limit_reached: "auth",
  billing_not_active: "auth",
  invalid_api_key: "auth",
  billing_error: "auth",
  API_KEY_INVALID: "auth",
  content_filter: "refused",
  content_policy_violation: "refused",
  image_content_policy_violation: "refused",
};

/** Codes that count only where no status does: errors inside a stream. Google's are those of gRPC. */
const byStreamCode: Readonly<Record<string, ErrorClass>> = {
  rate_limit_exceeded: "rate_limited",
  rate_limit_error: "rate_limited",
  server_error: "overloaded",
  server_is_overloaded: "overloaded",
  service_unavailable: "overloaded",
  slow_down: "overloaded",
  overloaded: "overloaded",
  overloaded_error: "overloaded",
  api_error: "overloaded",
  timeout_error: "overloaded",
  RESOURCE_EXHAUSTED: "rate_limited",
  UNAVAILABLE: "overloaded",
  INTERNAL: "overloaded",
  DEADLINE_EXCEEDED: "overloaded",
  ABORTED: "overloaded",
  insufficient_system_resource: "overloaded",
  authentication_error: "auth",
  permission_error: "auth",
  UNAUTHENTICATED: "auth",
  PERMISSION_DENIED: "auth",
  invalid_request_error: "invalid_request",
  request_too_large: "invalid_request",
  not_found_error: "invalid_request",
  INVALID_ARGUMENT: "invalid_request",
  FAILED_PRECONDITION: "invalid_request",
  NOT_FOUND: "invalid_request",
  invalid_prompt: "invalid_request",
  invalid_image: "invalid_request",
  model_not_found: "invalid_request",
};

function byStatus(status: number): ErrorClass {
  if (status === 401 || status === 402 || status === 403 || status === 407) return "auth";
  if (status === 408) return "network";
  // A conflict is a lock that somebody else holds at this moment.
  if (status === 409 || status === 425) return "overloaded";
  if (status === 429) return "rate_limited";
  if (status === 501 || status === 505) return "invalid_request";
  return status >= 500 ? "overloaded" : "invalid_request";
}

/** The class of an error from its status and structured code alone, never from its text. */
export function classify(status: number | null, code: string | null, kind: string | null): ErrorClass {
  for (const name of [code, kind]) {
    const known = name === null ? undefined : byCode[name];
    if (known !== undefined) return known;
  }
  if (status !== null) return byStatus(status);
  for (const name of [code, kind]) {
    if (name === null) continue;
    // Gateways pass the status of the server behind them on as the code.
    if (/^[45]\d\d$/.test(name)) return byStatus(Number(name));
    const known = byStreamCode[name];
    if (known !== undefined) return known;
  }
  return "cut";
}

/** Puts a failure into words that name the host, the model and what to do. */
export function describeFailure(failure: Failure, target: Target): ModelError {
  const status = failure.status ?? null;
  const code = failure.code ?? failure.kind ?? null;
  const group = failure.class ?? classify(status, failure.code ?? null, failure.kind ?? null);
  const facts = [status === null ? null : `HTTP ${status}`, code].filter((fact) => fact !== null).join(", ");
  const said = cleanText(failure.message, target.secrets, 240);
  const text = `${target.host} ${verbs[group]} ${target.id}${facts === "" ? "" : ` (${facts})`}${said === "" ? "" : `: ${said}`}`;
  return {
    class: group,
    message: cleanText(sentences(text, advise(group, status, code, failure)), target.secrets),
    status,
    code: code === null ? null : cleanText(code, target.secrets, 100),
    retryAfterMs: failure.retryAfterMs ?? null,
  };
}

/** What a provider says ends as it likes; a sentence behind it begins behind a full stop. */
function sentences(text: string, advice: string): string {
  return advice === "" ? text : `${text.trimEnd()}${/[.!?…。！？]["'”’)\]]*$/.test(text.trimEnd()) ? "" : "."}${advice}`;
}

const verbs: Readonly<Record<ErrorClass, string>> = {
  rate_limited: "limits the rate of",
  overloaded: "could not serve",
  auth: "denied access to",
  invalid_request: "rejected the request for",
  context_overflow: "says that the request is too long for",
  network: "could not be reached for",
  cut: "did not finish the answer of",
  refused: "refused to let answer",
  script: "played the script of",
};

function advise(group: ErrorClass, status: number | null, code: string | null, { sentBytes, retryAfterMs }: Failure): string {
  if (code !== null && (code === "insufficient_quota" || code.startsWith("billing"))) return " Check the plan and billing of the account.";
  if (group === "auth") return " Check the API key and what it may use.";
  if (status === 404 || status === 405) return " Check the model's name and the base URL.";
  if (status === 413) {
    const size = sentBytes === undefined ? "" : ` of ${(sentBytes / 1e6).toFixed(1)} MB`;
    return ` The request's body${size} is too large, whatever its tokens: images or outputs in it must become smaller.`;
  }
  if (retryAfterMs != null && retryAfterMs > 60_000) return ` It asks to wait ${inWords(retryAfterMs)}.`;
  return "";
}

function inWords(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / (24 * 60))} days`;
}

/** The error object of a provider's JSON in any of its usual forms; null where the value is no error. */
export function errorIn(value: unknown): Pick<Failure, "code" | "kind" | "param" | "message" | "retryAfterMs"> | null {
  const outer = asRecord(Array.isArray(value) ? value[0] : value);
  if (outer === null) return null;
  const inner = asRecord(outer["error"]);
  if (inner !== null) return innerError(inner);
  if (typeof outer["error"] === "string" && outer["error"] !== "") {
    return { message: asText(outer["message"]) ?? outer["error"], code: asText(outer["code"]), kind: null };
  }
  const isFlat = outer["object"] === "error" || outer["type"] === "error";
  if (isFlat)
    return {
      message: asText(outer["message"]) ?? "",
      code: asText(outer["code"]),
      kind: outer["object"] === "error" ? asText(outer["type"]) : null,
    };
  const detail = asText(outer["detail"]) ?? asText(outer["message"]);
  return detail === null || "choices" in outer || "output" in outer ? null : { message: detail, code: asText(outer["code"]), kind: null };
}

/** Google's errors name their code in `status`, beside the number of HTTP in `code`; what is exact stands in `details`. */
function innerError(inner: Shape): Pick<Failure, "code" | "kind" | "param" | "message" | "retryAfterMs"> {
  const details = asList(inner["details"]).map((detail) => asRecord(detail) ?? {});
  const reason = details.map((detail) => asText(detail["reason"])).find((found) => found !== null) ?? null;
  const delay = details.map((detail) => /^(\d{1,9}(?:\.\d+)?)s$/.exec(asText(detail["retryDelay"]) ?? "")?.[1]).find(Boolean);
  const status = typeof inner["code"] === "number" ? asText(inner["status"]) : null;
  return {
    message: asText(inner["message"]) ?? "",
    code: status ?? asText(inner["code"]),
    kind: asText(inner["type"]) ?? reason,
    ...(typeof inner["param"] === "string" ? { param: inner["param"] } : {}),
    ...(delay === undefined ? {} : { retryAfterMs: Math.ceil(Number(delay) * 1000) }),
  };
}
