import { top } from "./build.ts";
import type { Config } from "./keys.ts";
import type { Table } from "./kinds.ts";
import type { Setting, Source } from "./settings.ts";
import { dotted } from "./settings.ts";

/** A value as `config show` names it. `value` null: it is secret; `source` null: it is built in. */
export interface ShownSetting {
  readonly key: string;
  readonly value: unknown;
  readonly source: Source | null;
}

/** What is set, and what is built in where nothing is, in the order of the table of keys. `config` null: only what is set. */
export async function shownSettings(settings: readonly Setting[], config: Config | null): Promise<ShownSetting[]> {
  const [{ redact }, { showUrls }] = await Promise.all([import("@holdfast/runtime/redact"), import("@holdfast/runtime/show-url")]);
  const set = settings
    .filter(({ kind }) => kind === "value")
    .map(({ path, leaf, value, source }): ShownSetting => ({
      key: dotted(path),
      value: leaf?.isSecret ? null : visible(value, (text) => redact(showUrls(text), [])),
      source,
    }));
  const known = new Set(set.map(({ key }) => key));
  const builtIn = config === null ? [] : [...defaults(top, []), ...(await limitDefaults(config))];
  const order = Object.keys(top.keys);
  const place = ({ key }: ShownSetting): number => order.indexOf(key.split(".", 1)[0] ?? "");
  return [...set, ...builtIn.filter(({ key }) => !known.has(key))].toSorted((a, b) => place(a) - place(b));
}

function visible(value: unknown, redact: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => visible(one, redact));
  return typeof value === "string" ? redact(value) : value;
}

function defaults(node: Table, path: readonly string[]): ShownSetting[] {
  return Object.entries(node.keys).flatMap(([name, key]) => {
    const at = [...path, name];
    if (key.node.is === "table") return defaults(key.node, at);
    return key.default === undefined ? [] : [{ key: dotted(at), value: key.default, source: null }];
  });
}

async function limitDefaults({ limits }: Config): Promise<ShownSetting[]> {
  const { defaultLimits, strictLimits } = await import("@holdfast/protocol/limits");
  const preset = limits.preset === "strict" ? strictLimits : defaultLimits;
  const values: Readonly<Record<string, unknown>> = {
    preset: "default",
    max_steps: preset.stepsPerTurn,
    max_tool_calls: preset.callsPerTurn,
    max_tokens: preset.tokensPerSession,
    ...(preset.costPerSession === null ? {} : { max_cost: preset.costPerSession }),
    timeout: preset.activeMsPerTurn / 1000,
    ...(preset.commandMs === undefined ? {} : { command_timeout: preset.commandMs / 1000 }),
    ...(preset.mutatingCallMs === undefined ? {} : { mutating_call_timeout: preset.mutatingCallMs / 1000 }),
    max_depth: preset.depth,
  };
  return Object.entries(values).map(([name, value]) => ({ key: `limits.${name}`, value, source: null }));
}
