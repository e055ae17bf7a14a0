import type { CheckDefinition } from "@holdfast/protocol";
import type { Arguments } from "../cli/command.ts";
import type { Io } from "../cli/io.ts";
import { isTrusted } from "../config/trust-store.ts";
import { findWorkspace } from "../config/workspace.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import { describeCheck, newChecks, statedConstraints } from "./checks.ts";
import type { SessionWishes } from "./flags.ts";
import { openSetup, setupFor } from "./start.ts";

/** What the prompt itself limits, where it stands on the command line. */
async function ofWords(given: Arguments): Promise<CheckDefinition[]> {
  const [prompt] = given.words;
  if (prompt === undefined || prompt === "resume" || prompt === "-") return [];
  return (await import("@holdfast/checks/constraints")).constraintsOf(prompt);
}

/** Shows the checks of a session that would begin now. Nothing is stored, run or asked. */
export async function planChecks(
  io: Io,
  wishes: SessionWishes,
  { given, isJson }: { readonly given: Arguments; readonly isJson: boolean },
): Promise<number> {
  const setup = await openSetup(io, { isEphemeral: true, profile: given.value("profile"), overrides: given.values("config") });
  const workspace = await findWorkspace(wishes.folder, io.cwd, io.env);
  const trusted = wishes.trustsProject || (await isTrusted(setup.home, workspace.root));
  const { loaded } = await setupFor(setup, workspace.root, trusted);
  const checks = [...newChecks(loaded, wishes.checks), ...(await statedConstraints(loaded, wishes.constraints)), ...(await ofWords(given))];
  if (isJson) io.stdout.write(`${JSON.stringify({ checks })}\n`);
  else if (checks.length === 0) io.stdout.write("no check: an end of the work is unverified\n");
  else
    for (const check of checks)
      io.stdout.write(`${sanitizeLine(`${check.name === "" ? check.id : check.name}  ${describeCheck(check)}`)}\n`);
  return 0;
}
