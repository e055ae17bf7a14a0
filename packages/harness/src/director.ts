import type { CheckDefinition, WorldSection } from "@holdfast/protocol";
import type { Director, PassingState } from "@holdfast/runtime";
import { fitWorld } from "./context/budget.ts";
import { betweenParts, headParts } from "./context/head.ts";
import {
  behaviour,
  describeChecks,
  describeOutput,
  describePlan,
  describeRules,
  describeServers,
  describeTasks,
  describeUsed,
  freshWindows,
} from "./text/v1.ts";

export interface DirectorOptions {
  /** MCP servers whose tools can be found, by the names of the config. */
  readonly servers?: readonly string[];
}

/**
 * Puts a request together from what was recorded. Instructions and the world as it was at the start come first and never
 * change; everything later is appended, so that a provider's prompt cache keeps hitting.
 */
export function createDirector(options: DirectorOptions = {}): Director {
  const { servers = [] } = options;
  return {
    behaviour,
    describe: ({ settings, checks }) => [
      section("rules", describeRules(settings), {
        kind: "world",
        reason: "what commands may do here",
        snapshot: {
          sandbox: settings.sandbox,
          network: settings.network,
          approvals: settings.approvals,
          isPlanning: settings.isPlanning === true,
        },
      }),
      ...(servers.length === 0
        ? []
        : [section("servers", describeServers(servers), { kind: "world", reason: "where more tools are", snapshot: [...servers] })]),
      ...(settings.outputSchema === undefined
        ? []
        : [section("output", describeOutput(settings.outputSchema), { kind: "goal", reason: "the form that the answer must have" })]),
      ...(settings.compactStrategy === "fresh"
        ? [section("window", freshWindows, { kind: "world", reason: "windows begin without a summary" })]
        : []),
      ...(checks.length === 0
        ? []
        : [section("checks", describeChecks(checks), { kind: "goal", reason: "what the work is held to", snapshot: checks.map(summary) })]),
    ],
    askJudgement: async (input) => (await import("./compaction/record.ts")).askJudgement(input),
    describePassing: (state) => passing(state),
    fit: fitWorld,
    tell: async (changes, whole) => (await import("./context/tell.ts")).tellWorld(changes, whole),
    compact: async (input) => (await import("./compaction/derive.ts")).deriveState(input),
    direct: ({ world, tools, items }) => ({
      instructions: headParts(world)
        .map(({ text }) => text)
        .join(betweenParts),
      tools,
      items,
    }),
  };
}

function passing({ used, plan, tasks }: PassingState): WorldSection[] {
  return [
    ...(used.length === 0
      ? []
      : [section("budget", describeUsed(used), { kind: "world", reason: "how much is left", snapshot: [...used] })]),
    ...(plan.length === 0 ? [] : [section("plan", describePlan(plan), { kind: "goal", reason: "what was planned", snapshot: [...plan] })]),
    ...(tasks.length === 0
      ? []
      : [
          section("tasks", describeTasks(tasks), {
            kind: "world",
            reason: "what runs meanwhile",
            snapshot: tasks.map(({ title, ref }) => ({ title, ref })),
          }),
        ]),
  ];
}

type Said = Pick<NonNullable<WorldSection["context"]>, "kind" | "reason"> & Pick<WorldSection, "snapshot">;

/** What the runtime says by itself. */
function section(id: string, text: string, { kind, reason, snapshot }: Said): WorldSection {
  return {
    id,
    trust: "system",
    text,
    ...(snapshot === undefined ? {} : { snapshot }),
    context: { kind, source: "the session's settings", reason },
  };
}

function summary({ id, name, kind, isRequired }: CheckDefinition): { id: string; name: string; kind: string; isRequired: boolean } {
  return { id, name, kind, isRequired };
}
