/**
 * Every error a person or a client can meet has a stable code. Codes are never reused and never matched by text.
 * The message says what is wrong and where; `hint` says what to do next.
 */
export const errorCodes = [
  "usage",
  "config_invalid",
  "policy_invalid",
  "no_model",
  "session_busy",
  "session_not_found",
  "session_newer",
  "session_corrupt",
  "item_not_found",
  "stale_driver",
  "store_failed",
  "store_full",
  "head_too_large",
  "approval_not_found",
  "approval_elsewhere",
  "approval_closed",
  "approval_expired",
  "approval_changed",
  "approval_not_offered",
  "question_not_found",
  "question_closed",
  "output_invalid",
  "sandbox_unavailable",
  "sandbox_lost",
  "terminal_unavailable",
  "workspace_invalid",
  "workspace_busy",
  "home_busy",
  "tool_input_invalid",
  "tool_unknown",
  "tool_refused",
  "file_changed",
  "file_exists",
  "file_missing",
  "file_unreadable",
  "file_unwritten",
  "patch_invalid",
  "path_outside",
  "claim_lost",
  "undo_conflict",
  "not_attestable",
  "key_invalid",
  "depth_reached",
  "network_refused",
  "network_unreached",
  "network_unanswered",
  "model_rate_limited",
  "model_overloaded",
  "model_auth",
  "model_invalid_request",
  "model_context_overflow",
  "model_network",
  "model_cut",
  "model_refused",
  "model_script",
  "internal",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

const marker = Symbol.for("holdfast.error");

/** An error with a stable code. Told apart by a symbol, so it survives two copies of this package in one process. */
export class HoldfastError extends Error {
  readonly [marker] = true;
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HoldfastError";
    this.code = code;
    this.hint = options.hint;
  }
}

export function isHoldfastError(value: unknown, code?: ErrorCode): value is HoldfastError {
  return typeof value === "object" && value !== null && marker in value && (code === undefined || (value as HoldfastError).code === code);
}
