import type { Item, Outcome, Report } from "@holdfast/protocol";
import type { redact, RecordedEvent } from "@holdfast/runtime";
import { plural } from "../render/numbers.ts";
import { sanitizeOutput } from "../render/sanitize.ts";
import type { SessionView } from "../runtime-api.ts";
import { version } from "../version.ts";

/** An item as it is exported. What only a provider can read and what is in blobs is not part of it. */
export type ExportedItem =
  | { readonly kind: "prompt"; readonly id: string; readonly trust: string; readonly text: string; readonly images: number }
  | { readonly kind: "answer" | "reasoning" | "notice"; readonly id: string; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly callId: string; readonly tool: string; readonly input: string }
  /** `text` is null where outputs were left out. */
  | {
      readonly kind: "result";
      readonly id: string;
      readonly callId: string;
      readonly status: string;
      readonly trust: string;
      readonly text: string | null;
      readonly images: number;
    };

export interface ExportedTurn {
  readonly number: number;
  readonly turnId: string;
  readonly startedAt: string;
  /** Null while it is open. */
  readonly outcome: Outcome | null;
  readonly report: Pick<Report, "heading" | "reasons" | "criteria" | "changes"> | null;
  readonly items: readonly ExportedItem[];
}

/** docs/sessions.md describes it. A field is only ever added; anything else is a new version. */
export interface ExportedSession {
  readonly format: "holdfast-session";
  readonly version: 1;
  readonly holdfast: string;
  readonly session: {
    readonly id: string;
    readonly title: string;
    readonly folder: string | null;
    readonly startedAt: string;
    readonly changedAt: string;
    readonly forkOf: { readonly session: string; readonly seq: number } | null;
    readonly model: string;
    readonly effort: string | null;
    readonly sandbox: string;
    readonly approvals: string;
    readonly checks: readonly string[];
  };
  readonly usage: SessionView["usage"];
  readonly cost: number | null;
  readonly turns: readonly ExportedTurn[];
  /** What this doesn't have, and what won't work elsewhere: a sentence each. */
  readonly leftOut: readonly string[];
}

export interface ExportParts {
  readonly itemsOf: (event: RecordedEvent) => readonly Item[];
  readonly redact: typeof redact;
  /** Values that the process holds. */
  readonly secrets: readonly string[];
  readonly hasOutputs: boolean;
  /** A sentence where the log was changed or damaged; null where it is whole. */
  readonly damage: string | null;
}

/** A session for others to read: without secrets and control characters. Pure. */
export function exportSession(view: SessionView, parts: ExportParts): ExportedSession {
  const { row, settings, checks, usage, cost } = view;
  const clean = cleaner(parts);
  const turns = turnsOf(view, parts, clean);
  const document: ExportedSession = {
    format: "holdfast-session",
    version: 1,
    holdfast: version,
    session: {
      id: row.session,
      title: row.title,
      folder: view.cwd ?? row.workspace,
      startedAt: new Date(row.createdAt).toISOString(),
      changedAt: new Date(row.updatedAt).toISOString(),
      forkOf: row.parent === null ? null : { session: row.parent, seq: row.parentSeq ?? 0 },
      model: settings.model,
      effort: settings.effort,
      sandbox: settings.sandbox,
      approvals: settings.approvals,
      checks: checks.map(({ name }) => name),
    },
    usage,
    cost,
    turns,
    leftOut: leftOut(view, turns, parts),
  };
  return cleaned(document, clean) as ExportedSession;
}

type Clean = (text: string) => string;

function turnsOf({ events }: SessionView, parts: ExportParts, clean: Clean): ExportedTurn[] {
  const turns: (Omit<ExportedTurn, "items"> & { readonly items: ExportedItem[] })[] = [];
  for (const event of events) {
    if (event.type === "turn.started") {
      const startedAt = new Date(event.at).toISOString();
      turns.push({ number: turns.length + 1, turnId: event.payload.turnId, startedAt, outcome: null, report: null, items: [] });
    }
    const turn = turns.at(-1);
    if (turn === undefined) continue;
    turn.items.push(...parts.itemsOf(event).map((item) => exportItem(item, parts.hasOutputs, clean)));
    if (event.type === "turn.ended") {
      const { heading, reasons, criteria, changes } = event.payload.report;
      turns[turns.length - 1] = { ...turn, outcome: event.payload.outcome, report: { heading, reasons, criteria, changes } };
    }
  }
  return turns;
}

function exportItem(item: Item, hasOutputs: boolean, clean: Clean): ExportedItem {
  const { id } = item;
  switch (item.kind) {
    case "user_message": {
      const texts = item.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return { kind: "prompt", id, trust: item.trust, text: texts.join("\n"), images: item.parts.length - texts.length };
    }
    case "assistant_message":
      return { kind: "answer", id, text: item.text };
    case "tool_call":
      return { kind: "call", id, callId: item.callId, tool: item.name, input: cleanInput(item.input, clean) };
    case "tool_result": {
      const { callId, status, trust, text, images = [] } = item;
      return { kind: "result", id, callId, status, trust, text: hasOutputs ? text : null, images: images.length };
    }
    case "reasoning":
    case "notice":
      return { kind: item.kind, id, text: item.text };
  }
}

function leftOut({ events }: SessionView, turns: readonly ExportedTurn[], { itemsOf, hasOutputs, damage }: ExportParts): string[] {
  const items = events.flatMap((event) => itemsOf(event));
  const count = (holds: (item: Item) => boolean) => items.filter(holds).length;
  const opaque = count((item) => "opaque" in item && item.opaque !== undefined);
  const images = turns.flatMap(({ items: own }) => own).reduce((sum, item) => sum + ("images" in item ? item.images : 0), 0);
  const whole = count((item) => item.kind === "tool_result" && item.output !== undefined);
  const results = count((item) => item.kind === "tool_result");
  return [
    ...(damage === null ? [] : [`${damage}.`]),
    "This is a record to read. It can't be resumed elsewhere; to go on with the session, use the Holdfast that has it.",
    "Paths are those of the machine it ran on. The files themselves, what was in them before, and the means to undo edits are not part of it.",
    "Approvals, trust and keys belong to that machine. Known secrets were replaced; a text can hold others that nobody could tell.",
    ...(opaque === 0 ? [] : [`${plural(opaque, "item")} had a part that only the model's provider can read, such as encrypted reasoning.`]),
    ...(images === 0 ? [] : [`${plural(images, "image")} can't be shown here.`]),
    ...(hasOutputs || results === 0 ? [] : [`The text of ${plural(results, "tool result")} was left out on request.`]),
    ...(whole === 0 || !hasOutputs ? [] : [`${plural(whole, "long output")} is cut as the model saw it; the whole is not part of it.`]),
  ];
}

/**
 * Secrets go first, and again when escape sequences that may have stood within one are gone. A tab is no control character
 * that does harm, and part of many files.
 */
function cleaner({ redact, secrets }: ExportParts): Clean {
  // In a text that is JSON a value stands as JSON has it.
  const values = [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))];
  return (text) => redact(redact(text, values).split("\t").map(sanitizeOutput).join("\t"), values);
}

/** As the model wrote it, but where something in it has to go: that may be written in JSON's escapes. */
function cleanInput(input: string, clean: Clean): string {
  try {
    const value: unknown = JSON.parse(input);
    const harmless = JSON.stringify(cleaned(value, clean));
    return harmless === JSON.stringify(value) ? input : harmless;
  } catch {
    return input;
  }
}

function cleaned(value: unknown, clean: Clean): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((one) => cleaned(one, clean));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [clean(key), cleaned(one, clean)]));
}
