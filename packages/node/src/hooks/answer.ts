import type { HookEvent, Json } from "@holdfast/protocol";
import type { HookAnswer } from "@holdfast/runtime";

/** How a hook's command ended. */
export interface HookEnd {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

type Said = Pick<HookAnswer, "result" | "reason" | "context" | "input">;

/** Characters of a reason, and of words to the model, that are taken; what a hook says beyond is dropped. */
const mostReason = 4_000;
const mostContext = 32_000;
/** Levels of what it wrote; deeper than any tool's input. */
const mostLevels = 64;

/** Events at which plain output is meant for the model. */
const plainIsContext: readonly HookEvent[] = ["session_start", "prompt_submitted"];

/**
 * What a hook says by how it ended. Exit status 0: what it wrote, a JSON object with `decision` ("deny"), `reason`,
 * `context`, `input`; or plain text, which at the start of a session and at a prompt is context. 2: refused, the reason on
 * standard error. Anything else: it failed. The names that Claude Code and Codex use for the same are taken too
 * (https://code.claude.com/docs/en/hooks).
 */
export function readAnswer(event: HookEvent, end: HookEnd, timeoutMs: number): Said {
  const said = readWhole(event, end, timeoutMs);
  return { ...said, reason: begins(said.reason, mostReason), context: begins(said.context, mostContext) };
}

function readWhole(event: HookEvent, { exitCode, timedOut, stdout, stderr }: HookEnd, timeoutMs: number): Said {
  const text = stdout.trim();
  if (timedOut) return failed(`it ran longer than ${timeoutMs} ms and was ended`);
  if (exitCode === 2) return { result: "denied", reason: stderr.trim() || text || "no reason was given", context: "" };
  if (exitCode !== 0) return failed(`${exitCode === null ? "it was ended by a signal" : `exit status ${exitCode}`}${tail(stderr)}`);
  if (!text.startsWith("{")) return { result: "passed", reason: "", context: plainIsContext.includes(event) ? text : "" };
  const said = parse(text);
  if (said === null) return failed("what it wrote begins like JSON and is none");
  return isWithin(said, mostLevels) ? fromJson(event, said) : failed(`what it wrote is nested deeper than ${mostLevels} levels`);
}

function fromJson(event: HookEvent, said: Readonly<Record<string, Json>>): Said {
  const specific = asObject(said["hookSpecificOutput"]) ?? {};
  const decision = said["decision"] ?? specific["permissionDecision"];
  const reason = textOf(said["reason"]) ?? textOf(specific["permissionDecisionReason"]) ?? textOf(said["stopReason"]) ?? "";
  const context = textOf(said["context"]) ?? textOf(specific["additionalContext"]) ?? "";
  const input = event === "before_tool" ? (said["input"] ?? specific["updatedInput"]) : undefined;
  if (decision === "deny" || decision === "block" || said["continue"] === false) {
    return { result: "denied", reason: reason || "no reason was given", context };
  }
  return { result: input === undefined ? "passed" : "changed", reason, context, ...(input === undefined ? {} : { input }) };
}

function failed(reason: string): Said {
  return { result: "failed", reason, context: "" };
}

function tail(stderr: string): string {
  const text = stderr.trim().slice(-300).toWellFormed();
  return text === "" ? "" : `: ${text}`;
}

/** Text as it is stored: cut, with a mark, and without halves of characters. */
function begins(text: string, most: number): string {
  return (text.length > most ? `${text.slice(0, most)}… (${text.length - most} characters more)` : text).toWellFormed();
}

function isWithin(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner: Json) => isWithin(inner, levels - 1));
}

function parse(text: string): Readonly<Record<string, Json>> | null {
  try {
    return asObject(JSON.parse(text) as Json);
  } catch {
    return null;
  }
}

function asObject(value: Json | undefined): Readonly<Record<string, Json>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, Json>>) : null;
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
