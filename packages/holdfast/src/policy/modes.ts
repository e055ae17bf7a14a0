import type { Mode } from "@holdfast/policy";
import type { SandboxMode, Settings } from "@holdfast/protocol";

/** The sandbox of a mode, and whether the session only plans. */
export function sandboxOf(mode: Mode): { readonly mode: SandboxMode; readonly isPlanning?: true } {
  switch (mode) {
    case "read-only":
      return { mode: "read-only" };
    case "workspace":
      return { mode: "workspace-write" };
    case "full":
      return { mode: "off" };
    case "plan":
      return { mode: "read-only", isPlanning: true };
  }
}

/** The mode that a session's settings come to. */
export function modeOf({ sandbox, isPlanning }: Pick<Settings, "sandbox" | "isPlanning">): Mode {
  if (isPlanning === true) return "plan";
  return sandbox === "off" ? "full" : sandbox === "read-only" ? "read-only" : "workspace";
}

/** What a person should see of a mode before anything happens in it; null for the usual one. */
export function markOf(mode: Mode): string | null {
  switch (mode) {
    case "workspace":
      return null;
    case "read-only":
      return "read-only: nothing is changed";
    case "full":
      return "full access: commands run without a sandbox, with everything your account may do";
    case "plan":
      return "plan mode: the session explores, changes nothing, and ends in a plan for you to accept";
  }
}
