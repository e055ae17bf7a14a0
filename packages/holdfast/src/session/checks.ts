import { createHash } from "node:crypto";
import type { CheckDefinition, CommandCheck, FileCondition, Json } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { showUrls } from "@holdfast/runtime/show-url";
import type { Config } from "../config/config.ts";
import type { LoadedConfig } from "../config/load.ts";

const checkTimeoutMs = 15 * 60 * 1000;

/** A command to check with, of a person or of a trusted project's config. The id comes from the command, so that naming the same command again adds nothing. */
export function checkFromCommand(command: string, authority: "user" | "project" = "user"): CommandCheck {
  return {
    id: `check_${createHash("sha256").update(command).digest("hex").slice(0, 12)}`,
    kind: "command",
    name: command,
    command,
    authority,
    isRequired: true,
    inputs: [],
    outputs: [],
    timeoutMs: checkTimeoutMs,
  };
}

export function checksFromCommands(commands: readonly string[]): CommandCheck[] {
  return [...new Set(commands)].map((command) => checkFromCommand(command));
}

/** The checks of a new session: those of the config, then those that were named now. */
export function newChecks({ config, sources }: LoadedConfig, named: readonly string[]): CheckDefinition[] {
  const configured = (config.checks.commands ?? []).map((command, index) => {
    const isProjects = sources.get(`checks.commands.${index}`)?.layer === "project";
    return checkFromCommand(command, isProjects && !named.includes(command) ? "project" : "user");
  });
  const byName = Object.entries(config.checks.named).map(([name, check]) => checkFromConfig(name, check));
  return [...new Map([...configured, ...byName, ...checksFromCommands(named)].map((check) => [check.id, check])).values()];
}

/** Checks that are run and told in this order. */
export function inOrder<T extends CheckDefinition>(checks: readonly T[]): T[] {
  return checks.map((check, order) => ({ ...check, order }));
}

type Configured = Config["checks"]["named"][string];

/** The constraints of the config and of flags, as checks. */
export async function statedConstraints({ config, sources }: LoadedConfig, named: readonly string[] = []): Promise<CheckDefinition[]> {
  const configured = config.checks.constraints ?? [];
  if (configured.length + named.length === 0) return [];
  const { constraintCheck } = await import("@holdfast/checks/constraints");
  const all = [
    ...configured.map((text, index) =>
      constraintCheck(text, "config", sources.get(`checks.constraints.${index}`)?.layer === "project" ? "project" : "user"),
    ),
    ...named.map((text) => constraintCheck(text, "flag")),
  ];
  return [...new Map(all.map((check) => [check.id, check])).values()];
}

/** A check as `[checks.named.NAME]` says. Throws `config_invalid` where something that its kind needs is missing. */
export function checkFromConfig(name: string, check: Configured): CheckDefinition {
  const { origin, command, when = [], required, timeoutMs } = check;
  const lacking = (what: string): never => {
    throw new HoldfastError("config_invalid", `[checks.named.${name}] has no ${what}`, { hint: `a check of kind ${check.kind} needs one` });
  };
  const id = `check_${createHash("sha256")
    .update(JSON.stringify([name, check]))
    .digest("hex")
    .slice(0, 12)}`;
  const asked = { id, name, authority: origin, isRequired: required, ...(when.length === 0 ? {} : { when: [...when] }) };
  switch (check.kind) {
    case "command":
    case "tests": {
      const run = {
        ...asked,
        command: command ?? lacking("command"),
        inputs: [...(check.inputs ?? [])],
        outputs: [...(check.outputs ?? [])],
        timeoutMs,
        ...(check.needs === undefined || check.needs.length === 0 ? {} : { needs: [...check.needs] }),
      };
      if (check.kind === "command") return { ...run, kind: "command" };
      return { ...run, kind: "tests", report: check.report === undefined ? null : { path: check.report, format: check.reportFormat } };
    }
    case "files": {
      const files: FileCondition[] = [
        ...(check.exists ?? []).map((path) => ({ path, exists: true })),
        ...(check.absent ?? []).map((path) => ({ path, exists: false })),
        ...(check.unchanged ?? []).map((path) => ({ path, unchanged: true })),
        ...Object.entries(check.contains ?? {}).map(([path, contains]) => ({ path, contains })),
      ];
      return { ...asked, kind: "files", files: files.length === 0 ? lacking("file") : files };
    }
    case "diff":
      return {
        ...asked,
        kind: "diff",
        only: [...(check.only ?? [])],
        never: [...(check.never ?? [])],
        maxFiles: check.maxFiles ?? null,
        maxLines: check.maxLines ?? null,
        keepsTests: check.keepsTests,
        addsNoSecrets: check.addsNoSecrets,
      };
    case "http":
      return {
        ...asked,
        kind: "http",
        url: check.url ?? lacking("url"),
        status: check.status,
        json: Object.entries(check.json ?? {}).map(([path, value]) => ({ path, equals: jsonOf(name, path, value) })),
        freshWithinMs: check.freshWithinMs ?? null,
        timeoutMs: Math.min(timeoutMs, 60_000),
      };
  }
}

function jsonOf(name: string, path: string, value: string): Json {
  try {
    return JSON.parse(value) as Json;
  } catch {
    throw new HoldfastError("config_invalid", `[checks.named.${name}] json: the value of ${path} is no JSON`, {
      hint: `a text is written with its quotes: '"${value.slice(0, 20)}"'`,
    });
  }
}

/** In a line: what a check looks at, and whose it is. */
export function describeCheck(check: CheckDefinition): string {
  const about = check.when === undefined || check.when.length === 0 ? "" : `, when ${check.when.join(", ")} changed`;
  const limits = check.constraint === undefined ? "" : "constraint, ";
  const isLeft = !check.isRequired && check.kind !== "stated";
  const by = check.authority === "user" ? "yours" : check.authority === "project" ? "the project's" : "the model's";
  return `${limits}${check.kind}: ${whatOf(check)}${about} (${by}${isLeft ? ", not required" : ""})`;
}

function whatOf(check: CheckDefinition): string {
  switch (check.kind) {
    case "command":
    case "tests":
      return [
        check.command,
        ...(check.inputs.length === 0 ? [] : [`inputs ${check.inputs.join(", ")}`]),
        ...(check.outputs.length === 0 ? [] : [`outputs ${check.outputs.join(", ")}`]),
        ...(check.needs === undefined ? [] : [`needs ${check.needs.join(", ")} running`]),
      ].join("; ");
    case "files":
      return check.files.map(({ path }) => path).join(", ");
    case "diff":
      return [
        ...(check.only.length === 0 ? [] : [`only ${check.only.join(", ")}`]),
        ...(check.never.length === 0 ? [] : [`never ${check.never.join(", ")}`]),
        ...(check.maxFiles === null ? [] : [`at most ${check.maxFiles} files`]),
        ...(check.maxLines === null ? [] : [`at most ${check.maxLines} lines`]),
        ...(check.keepsTests ? ["tests are kept"] : []),
        ...(check.addsNoSecrets ? ["no secret is added"] : []),
        ...(check.addsNoDependencies === true ? ["no dependency is added"] : []),
      ].join("; ");
    case "http":
      return `${showUrls(check.url)} answers with ${check.status}`;
    case "inspected":
      return `every change of ${check.range} is read`;
    case "stated":
      return "told to the model, not judged";
    case "other":
      return check.of;
  }
}
