import type { Op } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { op as opSchema } from "@holdfast/protocol/op";
import type { InboxRow } from "../ports/index.ts";
import { parseStored } from "../session/stored.ts";

/** Throws `session_corrupt`. */
export function parseOp(row: InboxRow): Op {
  const parsed = opSchema.safeParse(parseStored(row.body, `inbox row ${row.number}`));
  if (!parsed.success)
    throw new HoldfastError("session_corrupt", `inbox row ${row.number} is no op this version knows: ${parsed.error.message}`, {
      hint: "holdfast doctor --repair sets it aside",
    });
  return parsed.data;
}
