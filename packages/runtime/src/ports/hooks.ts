import type { HookEvent, Json } from "@holdfast/protocol";

/** What hooks are asked or told. `data` is a JSON object: what the moment is about. */
export interface HookCall {
  readonly event: HookEvent;
  readonly session: string;
  readonly cwd: string;
  /** The tool of a call, which a hook may be for alone. */
  readonly tool?: string;
  readonly data: { readonly [key: string]: Json };
}

/** What one hook answered. It can refuse and add, never allow. */
export interface HookAnswer {
  readonly hook: string;
  /** Whose words it brings: the user's own, or a project's. */
  readonly trust: "user" | "project";
  readonly result: "passed" | "denied" | "changed" | "failed";
  readonly reason: string;
  /** Words to the model; "" for none. */
  readonly context: string;
  /** With `changed`: the call's input as it should be. */
  readonly input?: Json;
  readonly durationMs: number;
}

/** Commands that a person set for moments of a session. Asked again after a crash: at least once. */
export interface Hooks {
  /** False where nobody is to be asked; then nothing is prepared for it. */
  has(event: HookEvent, session: string, tool?: string): boolean;
  /** In order; the input that one changed is shown to the next. Ends with the first that refuses or fails where it could have refused. */
  run(call: HookCall, signal: AbortSignal): Promise<readonly HookAnswer[]>;
}
