import type { HookCall } from "@holdfast/runtime";

/** What a hook reads, as JSON with the names that hooks of other harnesses know. */
export function hookInput({ event, session, cwd, data }: HookCall): string {
  return JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...data });
}
