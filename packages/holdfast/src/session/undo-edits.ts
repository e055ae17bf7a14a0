import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { ApplyResult, EditClaim, FileEdit, Files } from "@holdfast/runtime";
import type { OpenHost } from "../runtime-api.ts";
import { planUndo } from "../undo.ts";

/** Files larger than this are not restored by us. */
const mostBytes = 256 * 1024 * 1024;

export interface Undone {
  readonly callIds: readonly string[];
  readonly files: readonly { readonly path: string; readonly change: "restored" | "deleted" }[];
}

/**
 * Takes back edits from their before-images, all files or none. An undo whose process died on the way is gone on with: a
 * file that is as it was before already is done. Throws `undo_conflict` naming every file that is neither so nor as our
 * last edit left it, or whose earlier content is gone. `isDry` only says what would be done.
 */
export async function undoEdits(host: OpenHost, session: string, reach: "last" | "all", isDry: boolean): Promise<Undone> {
  const { ports, runtime } = host;
  const plan = planUndo(await ports.log.read(session, 1), reach);
  const conflicts = plan.interleaved.map((path) => `${path}: changed by something else between our edits`);
  const edits: FileEdit[] = [];
  const already = new Set<string>();
  for (const file of plan.files) {
    if (plan.interleaved.includes(file.path)) continue;
    const now = await digestNow(host, file.path);
    if (now === file.beforeDigest) already.add(file.path);
    else if (now !== file.nowDigest) {
      conflicts.push(`${file.path}: ${now === null ? "deleted" : "changed"} since`);
      continue;
    }
    const after = file.before === null ? null : await ports.blobs.get(file.before);
    if (after === null && file.beforeDigest !== null) {
      conflicts.push(`${file.path}: its earlier content was not kept`);
      continue;
    }
    edits.push({ path: file.path, before: file.nowDigest, after, afterDigest: file.beforeDigest, mode: file.mode });
  }
  if (conflicts.length > 0) throw conflictError(conflicts);
  const undone: Undone = {
    callIds: plan.callIds,
    files: edits.flatMap((edit) =>
      already.has(edit.path) ? [] : [{ path: edit.path, change: edit.after === null ? ("deleted" as const) : ("restored" as const) }],
    ),
  };
  if (isDry || plan.callIds.length === 0) return undone;
  if (edits.length > 0) {
    // The same undo has the same name, so that the next one finds what this one left where it dies.
    const callId = `undo ${plan.callIds[0]} ${plan.callIds.at(-1)}`;
    const result = await applyAgain(ports.files, edits, { session, callId });
    switch (result.type) {
      case "applied":
        break;
      case "changed":
        throw conflictError([`${result.path}: changed just now`]);
      case "failed":
        throw new HoldfastError("undo_conflict", `can't write ${result.path}: ${result.message}`, { hint: "nothing was changed" });
    }
  }
  await runtime.recordUndo(ports, session, plan.callIds);
  return undone;
}

/** Applies edits of which an earlier process may have made some: those count as done. */
async function applyAgain(
  files: Files,
  edits: readonly FileEdit[],
  claim: Omit<EditClaim, "attempt">,
): Promise<Exclude<ApplyResult, { type: "revoked" }>> {
  // Takes away what a killed one left beside the files, and makes the next attempt a repeated one.
  await files.probe(edits, { ...claim, attempt: 1 });
  for (let attempt = 2; ; attempt += 1) {
    const result = await files.apply(edits, { ...claim, attempt });
    if (result.type !== "revoked") return result;
  }
}

async function digestNow(host: OpenHost, path: string): Promise<string | null> {
  try {
    return (await host.ports.files.read(path, mostBytes)).digest;
  } catch (error) {
    if (isHoldfastError(error, "file_missing")) return null;
    throw error;
  }
}

function conflictError(conflicts: readonly string[]): HoldfastError {
  return new HoldfastError("undo_conflict", ["nothing was undone:", ...conflicts.map((conflict) => `  ${conflict}`)].join("\n"), {
    hint: "put these files back as they were, or restore them by hand (git diff, git restore)",
  });
}
