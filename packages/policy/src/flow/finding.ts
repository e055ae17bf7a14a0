import type { Json } from "@holdfast/protocol";
import type { DescribedTool } from "./tool.ts";

export interface FlowCall {
  readonly tool: DescribedTool;
  /** By which its calls are known in the window. */
  readonly called: string;
  readonly schema: Json;
  readonly input: Json;
  /** By which it stands in the window; absent where it doesn't yet. */
  readonly callId?: string;
}

/**
 * What speaks against a call. `tainted`: a value that decides comes from text that others wrote. `unproven`: nothing shows
 * that the user's words ask for it.
 */
export interface Finding {
  readonly type: "tainted" | "unproven";
  readonly id: string;
  /** Where in the input. */
  readonly path: string;
  readonly value: string;
  /** For the person: which value, and where it comes from. */
  readonly sentence: string;
  /** The user's words point to the place that it comes from. */
  readonly isPointedTo?: boolean;
}
