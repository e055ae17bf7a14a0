import type { Table, Node, Key } from "./kinds.ts";
import type { Config } from "./keys.ts";
import { keys } from "./keys.ts";
import { table } from "./kinds.ts";
import type { Merged } from "./layers.ts";
import type { Problem, Setting } from "./settings.ts";
import { dotted, whereOf } from "./settings.ts";

/** All keys but `[profiles.NAME]`, which holds any of these. */
export const top = table(keys);

/** The settings as a tree: what is set at a place, and what is below it. */
interface Branch {
  setting: Setting | null;
  readonly below: Map<string, Branch>;
}

/** The typed config of settings that were read without a problem. `problems` names entries that lack something. */
export function buildConfig(merged: Merged): { readonly config: Config; readonly problems: readonly Problem[] } {
  const root: Branch = { setting: null, below: new Map() };
  for (const setting of merged.values()) {
    let at = root;
    for (const part of setting.path) {
      const next: Branch = at.below.get(part) ?? { setting: null, below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.setting = setting;
  }
  const problems: Problem[] = [];
  const config = tableValue(top, root, true, problems);
  const main = (config["models"] as Config["models"]).main;
  return { config: { ...(config as unknown as Config), ...(main === undefined ? {} : { model: main }) }, problems };
}

function tableValue(node: Table, branch: Branch | undefined, isAlways: boolean, problems: Problem[]): Record<string, unknown> {
  const fields = Object.entries(node.keys).flatMap(([name, key]): [string, unknown][] => {
    const value = valueOf(key, branch?.below.get(name), isAlways, problems);
    return value === undefined ? [] : [[key.as ?? camel(name), value]];
  });
  return Object.fromEntries(fields);
}

function valueOf(key: Key, branch: Branch | undefined, isAlways: boolean, problems: Problem[]): unknown {
  const { node } = key;
  if (node.is === "leaf") return node.read(branch?.setting?.value ?? key.default);
  if (node.is === "table") return branch === undefined && !isAlways ? undefined : tableValue(node, branch, isAlways, problems);
  if (node.is === "named" || node.is === "either")
    return branch === undefined && !isAlways ? undefined : namedValue(node, branch, problems);
  if (branch === undefined) return undefined;
  const elements = [...branch.below.values()];
  if (node.is === "adding") return elements.map((element) => node.of.read(element.setting?.value));
  return elements.map((element) => ({ ...tableValue(node.of, element, false, problems), origin: originOf(element) }));
}

function namedValue(node: Extract<Node, { is: "named" | "either" }>, branch: Branch | undefined, problems: Problem[]): unknown {
  const { of, hasOrigin } = node.is === "either" ? node.named : node;
  const entries = [...(branch?.below ?? [])].map(([name, entry]): [string, unknown] => {
    if (of.is === "leaf") return [name, of.read(entry.setting?.value)];
    const lacking = of.lacks((key) => entry.below.has(key));
    if (lacking !== null && entry.setting !== null) {
      const { source, path } = entry.setting;
      problems.push({ severity: "error", where: whereOf(source), message: `[${dotted(path)}] needs ${lacking}` });
    }
    const value = tableValue(of, entry, false, problems);
    return [name, hasOrigin ? { ...value, origin: originOf(entry) } : value];
  });
  return Object.fromEntries(entries);
}

/** What a project has a part in is the project's. */
function originOf(branch: Branch): "user" | "project" {
  if (branch.setting?.source.layer === "project") return "project";
  return [...branch.below.values()].some((one) => originOf(one) === "project") ? "project" : "user";
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
