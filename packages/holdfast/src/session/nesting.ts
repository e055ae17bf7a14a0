import type { Limits } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Env } from "../config/provider.ts";

/** Throws `depth_reached` where a session's command, hook or MCP server has started this program, and that too often in a row. */
export function assertNesting(env: Env, { depth }: Limits): void {
  const nested = Number.parseInt(env["HOLDFAST_DEPTH"] ?? "0", 10);
  if (!(nested > depth)) return;
  throw new HoldfastError("depth_reached", `Holdfast was started from within Holdfast ${nested} times over; the limit is ${depth}`, {
    hint: "do the work in the session that is there, or raise limits.max_depth in your config",
  });
}
