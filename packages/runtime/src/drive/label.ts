import type { CallPlan, Scope, TrustLabel } from "@holdfast/protocol";
import type { Driver } from "./driver.ts";
import { settingsOf } from "./driver.ts";

/**
 * What a result counts as: what its tool says, or less. In a project without trust whatever is read of it, or put out by
 * commands that run in it, is its authors' word. A command that reached the network may show what came from there. And
 * what is read on of a result is what that result was.
 */
export function labelFor(
  driver: Driver,
  { plan, scope }: { readonly plan: CallPlan; readonly scope: Scope },
  trust: TrustLabel,
): TrustLabel {
  if (trust !== "tool" && trust !== "project") return trust;
  const { isTrusted, network } = settingsOf(driver);
  const isCommand = plan.command !== undefined || plan.typed !== undefined;
  const isContent = isCommand || plan.reads.length > 0 || plan.writes.length > 0;
  if (!isTrusted && isContent) return "untrusted";
  if (isCommand && plan.replay !== "safe" && (network !== "none" || scope.network !== undefined)) return "untrusted";
  const handles = plan.reads.flatMap((resource) => (resource.startsWith("output:") ? [resource.slice("output:".length)] : []));
  return handles.some((handle) => driver.window.isUntrustedOutput(handle)) ? "untrusted" : trust;
}
