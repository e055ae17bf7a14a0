import type { DriveEnd } from "@holdfast/runtime";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { writeAtomically } from "../config/home.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { ReadySession } from "./start.ts";

/**
 * Writes the attestation of the turn that just ended. One that isn't verified leaves the file empty, so that nobody takes an
 * earlier turn's for its. What goes wrong comes back as the error: the turn has ended all the same, and is shown first.
 */
export async function writeAttestation(
  path: string,
  { host, session }: ReadySession,
  home: string,
  end: DriveEnd,
): Promise<HoldfastError | null> {
  let failure: HoldfastError | null = null;
  let text = "";
  if (end.standing === "verified") {
    try {
      const { attest } = await import("../evidence/attest.ts");
      text = await attest(host, home, session, null);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      failure = error;
    }
  }
  try {
    await writeAtomically(path, text, 0o644);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    failure ??= new HoldfastError(
      "file_unwritten",
      `--attest: the attestation could not be written to ${sanitizeLine(path)}: ${sanitizeLine(why)}`,
      {
        hint: `holdfast attest ${session} -o FILE writes it`,
        cause: error,
      },
    );
  }
  return failure;
}
