import type { Key } from "./kinds.ts";
import type { WrittenLimits } from "./limits.ts";
import { applyLimits } from "./limits.ts";
import type { Problem, Setting } from "./settings.ts";
import { dotted, whereOf } from "./settings.ts";

/** What a project's file may not say: each is told with its line and why. Limits are judged apart, against the user's. */
export function refusedSettings(settings: readonly Setting[], userFile: string): Problem[] {
  return settings.flatMap((setting) => {
    if (setting.kind !== "value") return [];
    const why = refusal(setting);
    if (why === null) return [];
    const message = `a project can't set ${dotted(setting.path)}: ${why}`;
    return [{ severity: "error", where: whereOf(setting.source), message, hint: `if you want it, set it in ${userFile}` }];
  });
}

function refusal({ keys, value }: Setting): string | null {
  const inner = keys.toReversed();
  for (const key of inner) {
    const why = key.refused?.(value) ?? null;
    if (why !== null) return why;
  }
  const deciding = inner.find(decides);
  return deciding?.project === undefined ? (deciding?.reason ?? "it is yours to set") : null;
}

function decides(key: Key): boolean {
  return key.project !== undefined || key.reason !== undefined;
}

const fields = {
  max_steps: "stepsPerTurn",
  max_tool_calls: "callsPerTurn",
  max_tokens: "tokensPerSession",
  max_cost: "costPerSession",
  timeout: "activeMsPerTurn",
  command_timeout: "commandMs",
  mutating_call_timeout: "mutatingCallMs",
  max_depth: "depth",
} as const;
type LimitKey = keyof typeof fields;

/** A project's limits, as they may be laid over the user's. */
export interface TightLimits {
  readonly problems: readonly Problem[];
  /** The user's single limits that the project's preset makes tighter. */
  readonly replaced: readonly LimitKey[];
}

/** Compares a project's limits, each by itself, with what holds without them. */
export async function judgeLimits(project: readonly Setting[], before: WrittenLimits): Promise<TightLimits> {
  const own = project.filter(({ path, kind }) => kind === "value" && path[0] === "limits");
  if (own.length === 0) return { problems: [], replaced: [] };
  const { defaultLimits, strictLimits } = await import("@holdfast/protocol/limits");
  const base = (preset: WrittenLimits["preset"]) => (preset === "strict" ? strictLimits : defaultLimits);
  const held = applyLimits(base(before.preset), before);
  const problems: Problem[] = [];
  const replaced: LimitKey[] = [];
  for (const { path, leaf, value, source } of own) {
    const name = path[1] ?? "";
    const looser = (message: string): void => {
      problems.push({ severity: "error", where: whereOf(source), message, hint: "a project may only make limits tighter" });
    };
    if (name === "preset") {
      if (value === "default" && before.preset === "strict") looser("limits.preset is looser than yours, strict");
      if (value !== "strict") continue;
      for (const [key, field] of Object.entries(fields) as [LimitKey, (typeof fields)[LimitKey]][]) {
        if ((held[field] ?? Infinity) > (strictLimits[field] ?? Infinity)) replaced.push(key);
      }
      continue;
    }
    const wanted = leaf?.read(value) as number;
    const most = held[fields[name as LimitKey]];
    if (most != null && wanted > most)
      looser(`limits.${name} is looser than ${most}, which holds without it${name.endsWith("timeout") ? " (ms)" : ""}`);
  }
  return { problems, replaced };
}
