import { HoldfastError } from "@holdfast/protocol/error";

/** Refuses what a later version wrote, before anything of it is used. What names no version is of the first. Throws `session_newer`. */
export function refuseNewer(what: string, version: unknown, newest: number): void {
  if (version === undefined || (typeof version === "number" && version <= newest)) return;
  throw new HoldfastError("session_newer", `${what} is of format ${String(version)}; this program knows ${newest}`, {
    hint: "use the version of Holdfast that wrote it, or a later one; it was left as it is",
  });
}
