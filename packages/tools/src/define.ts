import type { CallOutcome, CallPlan } from "@holdfast/protocol/call";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Json } from "@holdfast/protocol/json";
import type { ToolSpec } from "@holdfast/protocol/request";
import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import type { Files } from "@holdfast/runtime/ports/files";
import type { Confinement, Processes } from "@holdfast/runtime/ports/processes";
import type { CallContext, CallIntent, CallRefusal, InnerCall, ProbeFinding, Tool } from "@holdfast/runtime/ports/tool-host";
import type { z } from "zod";
import type { HttpPorts } from "./http/ports.ts";
import { parseInput, requestSchema } from "./input.ts";

/** What the built-in tools act through. */
export interface ToolPorts {
  readonly files: Files;
  readonly blobs: BlobStore;
  /** Null where there are no commands: a browser tab. */
  readonly processes: Processes | null;
  /** At each search: whether a file, by its real path, is shown only to who asks for it by name. Absent where none is. */
  readonly secretsNow?: () => Promise<(path: string) => boolean>;
  /** Whether a text holds the mark that stands for a secret; such text is never written into a file. */
  readonly isRedacted: (text: string) => boolean;
  /**
   * The secrets that a rule gives to a command, as environment variables, where it may reach no other hosts than theirs.
   * Absent where there are none.
   */
  readonly commandSecrets?: (names: readonly string[], confinement: Confinement) => Promise<Readonly<Record<string, string>> | CallRefusal>;
  /** Absent where tools have no network: a browser tab. */
  readonly http?: HttpPorts;
}

/** A plan without what follows from the tool's nature: by default it only looks and needs nothing for itself. */
export type Draft = Pick<CallPlan, "summary"> & Partial<Omit<CallPlan, "summary" | "input">>;

/** A tool in terms of its parsed input. The meaning of each function is the port's. */
export interface Definition<T> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<T>;
  /** What of it a request shows, where that isn't all. */
  readonly shown?: z.ZodType;
  /** The call of another tool that this one really is, or null. */
  unwrap?(input: T): InnerCall | null | Promise<InnerCall | null>;
  plan(input: T, context: CallContext): Promise<Draft | CallRefusal>;
  prepare?(
    input: T,
    plan: CallPlan,
    context: CallContext,
  ): Promise<{ readonly prepared: Json; readonly blobs: readonly string[] } | CallRefusal>;
  run(input: T, intent: CallIntent, context: CallContext, signal: AbortSignal): Promise<CallOutcome>;
  probe?(input: T, intent: CallIntent, context: CallContext): Promise<ProbeFinding>;
  attach?(input: T, intent: CallIntent, context: CallContext, signal: AbortSignal): Promise<CallOutcome>;
}

export function defineTool<T>(definition: Definition<T>): Tool {
  const { name, description, input: schema, shown = schema, unwrap, prepare, run, probe, attach } = definition;
  // The intent holds what `plan` made of the input, which the schema takes unchanged.
  const inputOf = (plan: CallPlan): T => schema.parse(plan.input);
  return {
    spec: specOf(name, description, shown),
    ...(unwrap && {
      unwrap: (input) => {
        const parsed = parseInput(name, schema, input);
        return parsed.type === "invalid" ? null : unwrap(parsed.value);
      },
    }),
    async plan(input, context) {
      const parsed = parseInput(name, schema, input);
      if (parsed.type === "invalid") return refuse(parsed.text);
      const draft = await definition.plan(parsed.value, context);
      if ("type" in draft) return draft;
      return { reads: [], writes: [], workspace: "none", replay: "safe", changesWorkspace: false, ...draft, input: parsed.value as Json };
    },
    ...(prepare && { prepare: (plan, context) => prepare(inputOf(plan), plan, context) }),
    run: (intent, context, signal) => run(inputOf(intent.plan), intent, context, signal),
    ...(probe && { probe: (intent, context) => probe(inputOf(intent.plan), intent, context) }),
    ...(attach && { attach: (intent, context, signal) => attach(inputOf(intent.plan), intent, context, signal) }),
  };
}

/** The JSON Schema is made when it is read first: that of a deferred tool, when a model looks for it. */
function specOf(name: string, description: string, input: z.ZodType): ToolSpec {
  let made: Json | undefined;
  return {
    name,
    description,
    get schema() {
      return (made ??= requestSchema(input));
    },
  };
}

export function refuse(text: string): CallRefusal {
  return { type: "refused", text };
}

export function failed(text: string): CallOutcome {
  return { status: "failed", text, trust: "tool" };
}

export function completed(text: string): CallOutcome {
  return { status: "completed", text, trust: "tool" };
}

/** The outcome of a call that was interrupted; throws the signal's reason where the driver only lets go of it. */
export function interrupted(text: string, signal: AbortSignal): CallOutcome {
  throwIfLetGo(signal);
  return { status: "interrupted", text, trust: "tool" };
}

/** A driver that lets go leaves what runs to the next one: there is no outcome yet. */
export function throwIfLetGo(signal: AbortSignal): void {
  if (isHoldfastError(signal.reason, "stale_driver")) throw signal.reason;
}
