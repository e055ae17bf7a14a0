import type { ContextPart } from "@holdfast/protocol";
import type { Ledger, LedgerDifference } from "@holdfast/harness/context/ledger";
import type { RequestAsked } from "@holdfast/runtime/session/requests";
import { dollars, moment, plural } from "./numbers.ts";
import { sanitizeLine } from "./sanitize.ts";

/** US dollars by what they were for; null where the price isn't known. */
export interface CostParts {
  readonly uncached: number | null;
  readonly cached: number | null;
  readonly written: number | null;
  readonly output: number | null;
}

const counts: Readonly<Record<Ledger["counted"], string>> = {
  provider: "counted by the provider",
  scaled: "estimated, scaled by what the provider counted before",
  estimated: "estimated: the provider counted nothing",
};

/** A request on one page: what it cost, what each kind of part takes of what it may, then every part with its reason. */
export function renderContext(
  request: RequestAsked,
  count: number,
  ledger: Ledger,
  window: number | null,
  cost: CostParts | null,
): string[] {
  const { number, turn, step, status, model, at, usage } = request;
  const of = window === null ? "" : ` of a window of ${window} (${((100 * ledger.tokens) / window).toFixed(1)} %)`;
  return [
    sanitizeLine(`request ${number} of ${count} (turn ${turn}, step ${step}, ${status}), ${moment(at)}, ${model}`),
    `${ledger.tokens} tokens${of}, ${counts[ledger.counted]}`,
    ...(usage === null ? [] : [renderCost(usage, request.cost, cost)]),
    "",
    row("kind", "parts", "tokens", "share", "at most"),
    ...ledger.lines.map(({ kind, parts, tokens, cap }) =>
      row(kind, String(parts), String(tokens), percent(tokens, ledger.tokens), cap === null ? "the window" : String(cap)),
    ),
    ...(request.tools === null ? ["the tools are recorded with the answer, and there is none yet"] : []),
    ...ledger.shed.map(({ id, tokens, why }) => sanitizeLine(`left out: ${tokens} tokens of ${id} (${why})`)),
    "",
    ...ledger.parts.map(renderPart),
  ];
}

function renderCost(usage: NonNullable<RequestAsked["usage"]>, total: number | null, cost: CostParts | null): string {
  const written = usage.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens - written);
  const priced = (tokens: number, value: number | null | undefined): string =>
    value == null ? `${tokens}` : `${tokens} (${dollars(value)})`;
  return `input: ${priced(fresh, cost?.uncached)} uncached, ${priced(usage.cachedInputTokens, cost?.cached)} cached, ${priced(written, cost?.written)} written to the cache; output: ${priced(usage.outputTokens, cost?.output)}; cost ${dollars(total)}${usage.estimated === true ? " (estimated)" : ""}`;
}

function row(kind: string, parts: string, tokens: string, share: string, cap: string): string {
  return `${kind.padEnd(13)}${parts.padStart(6)}${tokens.padStart(9)}${share.padStart(8)}  ${cap.padStart(10)}`;
}

function percent(part: number, all: number): string {
  return all === 0 ? "" : `${((100 * part) / all).toFixed(1)} %`;
}

function renderPart({ kind, id, source, trust, reason, tokens }: ContextPart): string {
  return `${String(tokens).padStart(7)}  ${kind.padEnd(12)} ${sanitizeLine(`${id} [${trust}] from ${source}: ${reason}`)}`;
}

export function renderDifference({ added, gone, changed }: LedgerDifference): string[] {
  if (added.length + gone.length + changed.length === 0) return ["no part differs"];
  return [
    `${plural(added.length, "part")} more, ${plural(gone.length, "part")} gone, ${changed.length} changed`,
    ...gone.map((part) => `-${renderPart(part)}`),
    ...changed.map(
      ({ before, after }) => `~${renderPart(after)} (was ${before.kind === after.kind ? "" : `${before.kind}, `}${before.tokens})`,
    ),
    ...added.map((part) => `+${renderPart(part)}`),
  ];
}
