import type { EventPayload } from "@holdfast/protocol";
import { addUsage } from "@holdfast/protocol/usage";
import { grow, turn } from "./change.ts";
import type { Head } from "./state.ts";

export function spend(head: Head, usage: EventPayload<"sampling.settled">["usage"] | null, cost: number | null): Head {
  return {
    ...head,
    usage: usage === null ? head.usage : addUsage(head.usage, usage),
    cost: cost === null ? head.cost : (head.cost ?? 0) + cost,
    ...(cost === null && usage !== null && usage.inputTokens + usage.outputTokens > 0 ? { hasUnknownCost: true } : {}),
  };
}

export function samplingFailed(head: Head, payload: EventPayload<"sampling.failed">, at: number): Head {
  return turn(spend(head, payload.usage, payload.cost ?? null), (t) => ({
    sampling:
      payload.retryAt === null || t.sampling === null
        ? null
        : { ...t.sampling, attempt: payload.attempt + 1, retryAt: payload.retryAt, firstFailureAt: t.sampling.firstFailureAt ?? at },
  }));
}

export function samplingSettled(head: Head, payload: EventPayload<"sampling.settled">): Head {
  const calls = payload.items.filter((item) => item.kind === "tool_call");
  // White space, or thoughts that led to nothing, are no answer: nobody can read them.
  const isEmpty = !payload.items.some(
    (item) => item.kind === "tool_call" || (item.kind === "assistant_message" && item.text.trim() !== ""),
  );
  const { inputTokens: tokens, estimated } = payload.usage;
  const measured = estimated === true ? {} : { measured: { tokens, chars: head.windowChars } };
  return turn(grow({ ...spend(head, payload.usage, payload.cost), ...measured }, payload.items), (t) => ({
    sampling: null,
    calls: t.calls + calls.length,
    open: calls.map((call) => ({ id: call.callId, name: call.name, state: "ready", attempt: 0, isUncertain: false })),
    saysDone: calls.length === 0 && payload.finish !== "length" && !isEmpty,
    wasCut: calls.length === 0 && payload.finish === "length",
    empty: isEmpty ? t.empty + 1 : 0,
  }));
}
