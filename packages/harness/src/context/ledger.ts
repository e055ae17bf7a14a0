import type { CompactedSection, ContextKind, ContextPart, Item, ShedPart, TrustLabel } from "@holdfast/protocol";
import { contextKinds } from "@holdfast/protocol/context";
import type { RequestAsked } from "@holdfast/runtime/session/requests";
import { budget, kindOf, lineCap } from "./budget.ts";
import { meantBy } from "../discovery/meant.ts";
import { estimateTokens, imageTokens } from "./estimate.ts";
import { headParts } from "./head.ts";

/** All parts of one kind, held against what they may take. */
export interface LedgerLine {
  readonly kind: ContextKind;
  readonly parts: number;
  readonly chars: number;
  readonly tokens: number;
  /** Tokens; null: no bound but the window. */
  readonly cap: number | null;
  /** What goes first where all is too much; null: never. */
  readonly priority: number | null;
}

export interface Ledger {
  readonly parts: readonly ContextPart[];
  readonly lines: readonly LedgerLine[];
  readonly tokens: number;
  /** `provider`: it counted this request. `scaled`: it counted an earlier one, and the estimate is scaled by that. */
  readonly counted: "provider" | "scaled" | "estimated";
  /** What the provider counted, by what was estimated. */
  readonly ratio: number;
  readonly shed: readonly ShedPart[];
}

interface Raw extends Omit<ContextPart, "tokens"> {
  readonly estimate: number;
  /** Null: it stands before the conversation. */
  readonly seq: number | null;
}

/** Every part of a request with its source, label, tokens and reason. `window`: of its model, tokens, where that is known. */
export function ledgerOf(request: RequestAsked, window: number | null): Ledger {
  const raw = [...headOf(request), ...toolsOf(request), ...itemsOf(request)];
  const { ratio, counted } = ratioOf(request, raw);
  const parts = scaled(raw, ratio, counted === "provider" ? (request.usage?.inputTokens ?? null) : null);
  const lines = contextKinds.flatMap((kind): LedgerLine[] => {
    const own = parts.filter((part) => part.kind === kind);
    if (own.length === 0) return [];
    const { priority } = budget[kind];
    const cap = lineCap(kind, window);
    return [
      {
        kind,
        parts: own.length,
        chars: sum(own, ({ chars }) => chars),
        tokens: sum(own, ({ tokens }) => tokens),
        cap: cap === Infinity ? null : cap,
        priority: priority === Infinity ? null : priority,
      },
    ];
  });
  return { parts, lines, tokens: sum(parts, ({ tokens }) => tokens), counted, ratio, shed: request.shed };
}

function headOf({ world }: RequestAsked): Raw[] {
  return headParts(world).map(({ section, text }) => {
    const about =
      section === null
        ? {
            kind: "instructions" as const,
            id: "instructions",
            source: "Holdfast",
            trust: "system" as const,
            reason: "how to work, the same in every request",
          }
        : {
            kind: kindOf(section),
            id: section.id,
            source: section.context?.source ?? "a look at the world",
            trust: section.trust,
            reason: section.context?.reason ?? "the world as it was at the session's start",
          };
    return { ...about, ...sizeOf(text), seq: null };
  });
}

function toolsOf({ tools }: RequestAsked): Raw[] {
  return (tools ?? []).map((spec) => ({
    kind: "tools",
    id: spec.name,
    source: "the tool's own description",
    trust: "system",
    reason: finders.has(spec.name) ? "finds and calls all tools that are not shown" : "one of the few that are always shown",
    ...sizeOf(JSON.stringify(spec)),
    seq: null,
  }));
}

const finders: ReadonlySet<string> = new Set(["search_tools", "use_tool"]);

/** What the results of a tool are; those of all others are history. */
const kindsOfTools: Readonly<Record<string, ContextKind>> = {
  search_tools: "tools",
  search_skills: "skills",
  read_skill: "skills",
  search_documents: "documents",
  lookup: "values",
  resolve_id: "values",
  get_setting: "values",
  note_write: "notes",
};

const kindsOfSections: Readonly<Record<CompactedSection, ContextKind>> = {
  goal: "goal",
  constraints: "goal",
  user: "history",
  approvals: "facts",
  openTasks: "facts",
  notes: "notes",
  completed: "facts",
  decisions: "facts",
  artifacts: "facts",
  checks: "facts",
  failures: "facts",
  exactValues: "values",
  world: "world",
  currentState: "notes",
  nextAction: "notes",
  history: "history",
};

function itemsOf(request: RequestAsked): Raw[] {
  const called = new Map<string, string>();
  return request.items.flatMap((item) => {
    if (item.kind === "tool_call") called.set(item.callId, meantBy(item).tool);
    const parts = request.state?.id === item.id ? stateParts(request, item) : [partOf(request, item, called)];
    const seq = request.origins.get(item.id)?.seq ?? null;
    const isErased = request.origins.get(item.id)?.isErased === true;
    const images = imagesOf(item).map((blob): Raw => ({
      kind: "attachments",
      id: `${item.id}/${blob.slice(0, 12)}`,
      source: sourceOf(item, called),
      trust: trustOf(item),
      reason: "an image, shown while its message is in the window",
      chars: 0,
      estimate: imageTokens,
      seq,
    }));
    return [
      ...parts.map((part): Raw => ({
        ...part,
        seq,
        ...(isErased ? { reason: `${part.reason}; erased since, what it took is not known any more` } : {}),
      })),
      ...images,
    ];
  });
}

function partOf(request: RequestAsked, item: Item, called: ReadonlyMap<string, string>): Omit<Raw, "seq"> {
  const origin = request.origins.get(item.id);
  const about = { id: item.id, source: sourceOf(item, called), trust: trustOf(item), ...sizeOf(textOf(item)) };
  const back = origin === undefined ? "" : `, event ${origin.seq}`;
  switch (item.kind) {
    case "user_message":
      return item.id === request.goal
        ? { ...about, kind: "goal", reason: `what this turn works on${back}` }
        : { ...about, kind: "history", reason: `what was said in turn ${origin?.turn ?? "?"}${back}` };
    case "notice":
      return item.context === undefined
        ? { ...about, kind: "history", reason: `said by the runtime in turn ${origin?.turn ?? "?"}${back}` }
        : { ...about, kind: item.context.kind, source: item.context.source, reason: `${item.context.reason}${back}` };
    case "tool_result": {
      const tool = called.get(item.callId) ?? "";
      return { ...about, kind: kindsOfTools[tool] ?? "history", reason: `what ${tool === "" ? "a call" : tool} gave${back}` };
    }
    case "assistant_message":
    case "reasoning":
    case "tool_call":
      return { ...about, kind: "history", reason: `the model's answer to request ${origin?.request ?? "?"}${back}` };
  }
}

/** The state that a window begins with, by its sections. */
function stateParts(request: RequestAsked, item: Item): Omit<Raw, "seq">[] {
  const sections = new Map<CompactedSection, string[]>();
  for (const { section, text } of request.state?.entries ?? []) sections.set(section, [...(sections.get(section) ?? []), text]);
  return [...sections].map(([section, texts]) => ({
    kind: kindsOfSections[section],
    id: `${item.id}/${section}`,
    source: "the session's log",
    trust: trustOf(item),
    reason: `state of the session after it was shortened for the ${request.state?.number}. time: ${section}`,
    ...sizeOf(texts.join("\n")),
  }));
}

function sourceOf(item: Item, called: ReadonlyMap<string, string>): string {
  switch (item.kind) {
    case "user_message":
      return item.trust === "user" ? "the user" : "a client";
    case "assistant_message":
    case "reasoning":
    case "tool_call":
      return "the model";
    case "tool_result":
      return called.get(item.callId) ?? "a tool";
    case "notice":
      return item.context?.source ?? "the runtime";
  }
}

/** What a model says is labelled in the log with what it had before it; here it stands as a tool's would. */
function trustOf(item: Item): TrustLabel {
  return "trust" in item ? item.trust : "tool";
}

function textOf(item: Item): string {
  switch (item.kind) {
    case "user_message":
      return item.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    case "assistant_message":
    case "notice":
    case "tool_result":
      return item.text;
    case "reasoning":
      return `${item.text}${item.opaque === undefined ? "" : JSON.stringify(item.opaque.payload)}`;
    case "tool_call":
      return `${item.name} ${item.input}`;
  }
}

function imagesOf(item: Item): string[] {
  if (item.kind === "user_message") return item.parts.flatMap((part) => (part.type === "image" ? [part.blob] : []));
  return item.kind === "tool_result" ? (item.images ?? []).map(({ blob }) => blob) : [];
}

/** Of every item the wire adds some punctuation and names. */
const frameTokens = 8;

function sizeOf(text: string): { readonly chars: number; readonly estimate: number } {
  return { chars: text.length, estimate: estimateTokens(text) + frameTokens };
}

function ratioOf({ usage, counted }: RequestAsked, raw: readonly Raw[]): Pick<Ledger, "ratio" | "counted"> {
  const all = sum(raw, ({ estimate }) => estimate);
  if (usage !== null && usage.estimated !== true && usage.inputTokens > 0) return { ratio: usage.inputTokens / all, counted: "provider" };
  if (counted === null || counted.tokens === 0) return { ratio: 1, counted: "estimated" };
  const before = raw.filter(({ seq }) => seq === null || seq < counted.seq);
  return { ratio: counted.tokens / sum(before, ({ estimate }) => estimate), counted: "scaled" };
}

/** `total`: what they must sum up to; what rounding leaves goes to the largest. */
function scaled(raw: readonly Raw[], ratio: number, total: number | null): ContextPart[] {
  const parts = raw.map(({ kind, id, source, trust, reason, chars, estimate }) => {
    return { kind, id, source, trust, reason, chars, tokens: Math.floor(estimate * ratio) };
  });
  const left = total === null ? 0 : total - sum(parts, ({ tokens }) => tokens);
  const largest = parts.reduce((found, { tokens }, index) => (tokens > (parts[found]?.tokens ?? 0) ? index : found), 0);
  return parts.map((part, index) => (index === largest ? { ...part, tokens: part.tokens + left } : part));
}

function sum<T>(list: readonly T[], value: (one: T) => number): number {
  return list.reduce((total, one) => total + value(one), 0);
}

export interface LedgerDifference {
  readonly added: readonly ContextPart[];
  readonly gone: readonly ContextPart[];
  readonly changed: readonly { readonly before: ContextPart; readonly after: ContextPart }[];
}

/** What the later of two requests has that the earlier hasn't, and the other way round, and what is not the same in both. */
export function compareLedgers(earlier: Ledger, later: Ledger): LedgerDifference {
  // A message that one request works on is history in the next; a tool may be called like a section.
  const key = ({ kind, id }: ContextPart): string => `${kind === "tools" ? "tool " : ""}${id}`;
  const before = new Map(earlier.parts.map((part) => [key(part), part]));
  const after = new Set(later.parts.map(key));
  return {
    added: later.parts.filter((part) => !before.has(key(part))),
    gone: earlier.parts.filter((part) => !after.has(key(part))),
    changed: later.parts.flatMap((part) => {
      const old = before.get(key(part));
      return old === undefined || (old.chars === part.chars && old.kind === part.kind) ? [] : [{ before: old, after: part }];
    }),
  };
}
