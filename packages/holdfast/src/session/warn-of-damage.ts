import type { SessionRow } from "@holdfast/runtime";
import type { Io } from "../cli/io.ts";
import type { StorePorts } from "../runtime-api.ts";

/**
 * Says in a line on stderr where a session's log was changed or damaged, or has lost content that nothing erased: what can be
 * read of it is shown all the same. Returns that sentence for a view that others read; null where the log is whole.
 */
export async function warnOfDamage(
  { stderr }: Pick<Io, "stderr">,
  { log }: StorePorts,
  { session, seq }: SessionRow,
): Promise<string | null> {
  const [{ findLogFault, findOtherEnd }, { loadState }, { describeDamage }] = await Promise.all([
    import("@holdfast/runtime/session/verify"),
    import("@holdfast/runtime/session/stored"),
    import("../render/log-fault.ts"),
  ]);
  const { row, head } = await loadState(log, session);
  const fault = findOtherEnd(row, head) ?? findLogFault(await log.read(session, 1), seq);
  if (fault === null) return null;
  const said = `${describeDamage(fault)} (session_corrupt)`;
  stderr.write(`${session}: ${said}; holdfast sessions verify ${session} says more\n`);
  return said;
}
