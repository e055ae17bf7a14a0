import type { ApprovalMode, DeadlineAnswer, Json, Limits, NetworkAccess, SandboxMode, Settings } from "@holdfast/protocol";
import type { Mode } from "@holdfast/policy";
import type { Arguments, CommandSpec, FlagSpec } from "../cli/command.ts";
import { usage } from "../cli/parse.ts";
import type { Config } from "../config/config.ts";
import { efforts } from "../config/keys.ts";
import { sandboxOf } from "../policy/modes.ts";
import type { WrittenLimits } from "../config/limits.ts";
import { applyLimits, parseCount, parseDollars, parseDuration } from "../config/limits.ts";

/** Flags that choose and change the config. */
export const configFlags: Readonly<Record<string, FlagSpec>> = {
  profile: { kind: "string", short: "p", value: "NAME", help: "use this profile of your config" },
  config: { kind: "list", value: "KEY=VALUE", help: "set any key of the config for this run, such as limits.max_steps=50 (repeatable)" },
};

/** Flags that set how a session works, the same for `exec`, `exec resume` and line mode. */
export const sessionFlags: Readonly<Record<string, FlagSpec>> = {
  model: {
    kind: "string",
    short: "m",
    value: "PROVIDER/NAME",
    help: "the model: anthropic/NAME, google/NAME, openai/NAME, ollama/NAME … (holdfast models), script:FILE, or replay:SESSION",
  },
  effort: { kind: "string", value: "LEVEL", help: `how hard it thinks: ${efforts.join(", ")}`, oneOf: efforts },
  ...configFlags,
  cd: { kind: "string", short: "C", value: "DIR", help: "work in this folder" },
  "add-dir": { kind: "list", value: "DIR", help: "this folder belongs to the workspace, too (repeatable; new sessions)" },
  check: { kind: "list", value: "CMD", help: "a command that must pass before the work counts as done (repeatable)" },
  constraint: { kind: "list", value: "TEXT", help: 'what the work must not do, such as "no new dependencies" (repeatable)' },
  "no-baseline": { kind: "boolean", help: "don't run the checks before the first change" },
  "accept-check-changes": { kind: "list", value: "GLOB", help: "changes of these check inputs are accepted (repeatable)" },
  mode: {
    kind: "string",
    value: "MODE",
    help: "read-only, workspace (default), full (no sandbox), or plan: explore only, and end in a plan to accept",
    oneOf: ["read-only", "workspace", "full", "plan"],
  },
  sandbox: {
    kind: "string",
    value: "MODE",
    help: "where commands may write: read-only, workspace-write (default) or off",
    oneOf: ["read-only", "workspace-write", "off"],
  },
  "allow-net": {
    kind: "list",
    value: "HOST",
    help: "a host that commands and web tools may reach, or all (repeatable, or separated by commas)",
  },
  approvals: {
    kind: "string",
    value: "MODE",
    help: "what happens to a call that needs a person: ask, deny or allow",
    oneOf: ["ask", "deny", "allow"],
  },
  "approval-deadline": { kind: "string", value: "TIME", help: "how long such a call waits for a person, such as 30m or 12h (7 days)" },
  "approval-default": {
    kind: "string",
    value: "MODE",
    help: "what becomes of it when nobody answered in time: deny (default) or allow",
    oneOf: ["deny", "allow"],
  },
  "trust-project": { kind: "boolean", help: "obey this project's instructions for this session" },
  limits: { kind: "string", value: "PRESET", help: "default, or strict (15 calls a turn, 200k tokens)", oneOf: ["default", "strict"] },
  "max-steps": { kind: "string", value: "N", help: "most steps a turn (250)" },
  "max-tool-calls": { kind: "string", value: "N", help: "most tool calls a turn (500)" },
  "max-tokens": { kind: "string", value: "N", help: "most uncached input and output tokens a session (5M)" },
  "max-cost": { kind: "string", value: "USD", help: "most US dollars a session; holds where the model's price is known" },
  timeout: { kind: "string", value: "TIME", help: "most active time a turn: 90s, 30m, 2h (2h); waiting for a person is not counted" },
};

/** What the flags ask for; a field that is missing was not asked for. */
export interface SessionWishes {
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox?: SandboxMode;
  readonly isPlanning?: boolean;
  readonly network?: NetworkAccess;
  readonly approvals?: ApprovalMode;
  readonly approvalMs?: number;
  readonly approvalAtDeadline?: DeadlineAnswer;
  readonly limits: WrittenLimits;
  readonly takesBaseline: boolean;
  readonly acceptCheckChanges: readonly string[];
  readonly checks: readonly string[];
  readonly constraints?: readonly string[];
  readonly trustsProject: boolean;
  readonly folder: string;
  readonly addedFolders: readonly string[];
  /** The JSON Schema of the final answer; null: none from now on. */
  readonly outputSchema?: Json;
}

/** Throws `usage` for a value that makes no sense. */
export function readWishes(spec: CommandSpec, given: Arguments): SessionWishes {
  const hosts = given.values("allow-net").flatMap((value) => value.split(","));
  const model = given.value("model");
  const effort = given.value("effort");
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...readMode(spec, given),
    ...(hosts.length === 0 ? {} : { network: readHosts(spec, hosts) }),
    ...(given.has("approvals") ? { approvals: given.value("approvals") as ApprovalMode } : {}),
    ...readDeadline(spec, given),
    limits: readLimits(spec, given),
    takesBaseline: !given.has("no-baseline"),
    acceptCheckChanges: given.values("accept-check-changes"),
    checks: given.values("check"),
    ...(given.has("constraint") ? { constraints: given.values("constraint") } : {}),
    trustsProject: given.has("trust-project"),
    folder: given.value("cd") ?? ".",
    addedFolders: given.values("add-dir"),
  };
}

function readDeadline(spec: CommandSpec, given: Arguments): Pick<SessionWishes, "approvalMs" | "approvalAtDeadline"> {
  const text = given.value("approval-deadline");
  const approvalMs = text === undefined ? undefined : parseDuration(text);
  if (approvalMs === null) throw usage(spec, `--approval-deadline ${JSON.stringify(text)} is not a time such as 30m or 12h`);
  return {
    ...(approvalMs === undefined ? {} : { approvalMs }),
    ...(given.has("approval-default") ? { approvalAtDeadline: given.value("approval-default") as DeadlineAnswer } : {}),
  };
}

/** `--mode` says more than `--sandbox`, in other words; both are taken where they agree. */
function readMode(spec: CommandSpec, given: Arguments): Pick<SessionWishes, "sandbox" | "isPlanning"> {
  const sandbox = given.value("sandbox") as SandboxMode | undefined;
  const mode = given.value("mode") as Mode | undefined;
  if (mode === undefined) return sandbox === undefined ? {} : { sandbox };
  const { mode: meant, isPlanning } = sandboxOf(mode);
  if (sandbox !== undefined && sandbox !== meant)
    throw usage(spec, `--mode ${mode} and --sandbox ${sandbox} don't go together`, `--mode ${mode} is --sandbox ${meant}`);
  return { sandbox: meant, isPlanning: isPlanning === true };
}

function readLimits(spec: CommandSpec, given: Arguments): WrittenLimits {
  const number = (flag: string, parse: (text: string) => number | null, wanted: string): number | undefined => {
    const text = given.value(flag);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === null) throw usage(spec, `--${flag} ${JSON.stringify(text)} is not ${wanted}`);
    return value;
  };
  const preset = given.value("limits");
  const limits = {
    maxSteps: number("max-steps", parseCount, "a whole number above 0"),
    maxToolCalls: number("max-tool-calls", parseCount, "a whole number above 0"),
    maxTokens: number("max-tokens", parseCount, "a number of tokens such as 200k or 5M"),
    maxCost: number("max-cost", parseDollars, "an amount in US dollars such as 1.50"),
    timeoutMs: number("timeout", parseDuration, "a time such as 90s, 30m or 2h"),
  };
  return {
    ...(preset === undefined ? {} : { preset: preset as "default" | "strict" }),
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
  };
}

function readHosts(spec: CommandSpec, hosts: readonly string[]): NetworkAccess {
  for (const host of hosts) {
    if (!/^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$|^\[[0-9A-Fa-f:]+\](?::\d{1,5})?$/.test(host)) {
      throw usage(spec, `--allow-net ${JSON.stringify(host)} is not a host`, "write a name such as registry.npmjs.org, without https://");
    }
  }
  return networkOf(hosts);
}

export interface NewSettings {
  readonly model: string;
  readonly config: Config;
  readonly isTrusted: boolean;
  readonly defaultApprovals: ApprovalMode;
  readonly presets: { readonly default: Limits; readonly strict: Limits };
  /** Where the config's limit of cost is written; null where it has none. */
  readonly costFrom: string | null;
}

/** Settings of a new session: flags, then the config, then the defaults. */
export function settingsFrom(wishes: SessionWishes, from: NewSettings): Settings {
  const { limits, effort, sandbox, approvals, checks } = from.config;
  const preset = wishes.limits.preset ?? limits.preset ?? "default";
  // A preset that was asked for now is not loosened by what the config says of single limits.
  const configured = wishes.limits.preset === undefined ? limits : {};
  return {
    model: from.model,
    effort: wishes.effort ?? effort ?? null,
    sandbox: wishes.sandbox ?? sandbox.mode,
    network: wishes.network ?? networkOf(sandbox.allowNet),
    approvals: wishes.approvals ?? approvals ?? from.defaultApprovals,
    ...deadlineOf(wishes.approvalMs ?? from.config.approvalMs, wishes.approvalAtDeadline ?? from.config.approvalAtDeadline),
    isTrusted: from.isTrusted,
    limits: applyLimits(applyLimits(from.presets[preset], configured, from.costFrom ?? undefined), wishes.limits),
    takesBaseline: wishes.takesBaseline && checks.baseline,
    acceptCheckChanges: [...new Set([...(checks.acceptChanges ?? []), ...wishes.acceptCheckChanges])],
    ...(wishes.outputSchema == null ? {} : { outputSchema: wishes.outputSchema }),
    ...compactionOf(from.config),
    ...(wishes.isPlanning === true ? { isPlanning: true } : {}),
  };
}

/** Only what differs from what holds by itself. Without a model of its own the role has the session's. */
function compactionOf({
  compaction,
  models,
}: Config): Pick<Settings, "compactAtTokens" | "compactAtSteps" | "compactStrategy" | "compactModel"> {
  const { triggerTokens, triggerSteps, strategy, judgement } = compaction;
  return {
    ...(triggerTokens === undefined ? {} : { compactAtTokens: triggerTokens }),
    ...(triggerSteps === undefined ? {} : { compactAtSteps: triggerSteps }),
    ...(strategy === "state" ? {} : { compactStrategy: strategy }),
    ...(judgement ? (models.compact === undefined ? {} : { compactModel: models.compact }) : { compactModel: null }),
  };
}

/** `all` is every public host; what else is named beside it may lie inside. */
export function networkOf(hosts: readonly string[]): NetworkAccess {
  const distinct = [...new Set(hosts)];
  if (distinct.length === 0) return "none";
  return distinct.length === 1 && distinct[0] === "all" ? "all" : distinct;
}

/** Only what differs from what holds by itself: older versions know no more. */
function deadlineOf(ms: number | undefined, atDeadline: DeadlineAnswer | undefined): Pick<Settings, "approvalMs" | "approvalAtDeadline"> {
  return {
    ...(ms === undefined ? {} : { approvalMs: ms }),
    ...(atDeadline === undefined || atDeadline === "deny" ? {} : { approvalAtDeadline: atDeadline }),
  };
}

/** What a resumed session's settings change to: only what was asked for. */
export function settingsPatch(
  wishes: SessionWishes,
  current: Settings,
  model: string | null,
  presets: NewSettings["presets"],
): Partial<Settings> {
  const base = wishes.limits.preset === undefined ? current.limits : presets[wishes.limits.preset];
  const limits = applyLimits(base, wishes.limits);
  const accepted = [...new Set([...current.acceptCheckChanges, ...wishes.acceptCheckChanges])];
  // Who names a sandbox wants that, and no plan.
  const isPlanning = wishes.isPlanning ?? (wishes.sandbox === undefined && current.isPlanning === true);
  const schema = wishes.outputSchema === undefined ? (current.outputSchema ?? null) : wishes.outputSchema;
  return {
    ...(JSON.stringify(schema) === JSON.stringify(current.outputSchema ?? null) ? {} : { outputSchema: schema }),
    ...(model === null || model === current.model ? {} : { model }),
    ...(wishes.effort === undefined ? {} : { effort: wishes.effort }),
    ...(wishes.sandbox === undefined ? {} : { sandbox: wishes.sandbox }),
    ...(isPlanning === (current.isPlanning ?? false) ? {} : { isPlanning }),
    ...(wishes.network === undefined ? {} : { network: wishes.network }),
    ...(wishes.approvals === undefined ? {} : { approvals: wishes.approvals }),
    ...(wishes.approvalMs === undefined ? {} : { approvalMs: wishes.approvalMs }),
    ...(wishes.approvalAtDeadline === undefined ? {} : { approvalAtDeadline: wishes.approvalAtDeadline }),
    ...(wishes.trustsProject && !current.isTrusted ? { isTrusted: true } : {}),
    ...(wishes.takesBaseline ? {} : { takesBaseline: false }),
    ...(JSON.stringify(limits) === JSON.stringify(current.limits) ? {} : { limits }),
    ...(accepted.length === current.acceptCheckChanges.length ? {} : { acceptCheckChanges: accepted }),
  };
}
