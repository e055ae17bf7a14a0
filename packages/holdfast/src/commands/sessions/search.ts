import type { SearchedSession, SessionHit } from "@holdfast/runtime";
import { usesColour } from "../../cli/io.ts";
import { usage } from "../../cli/parse.ts";
import { parseCount } from "../../config/limits.ts";
import { findWorkspace } from "../../config/workspace.ts";
import { jsonLine } from "../../render/json-events.ts";
import { fit, wrap } from "../../render/layout.ts";
import { moment, plural } from "../../render/numbers.ts";
import { sanitizeLine, sanitizeOutput } from "../../render/sanitize.ts";
import type { Style } from "../../render/style.ts";
import { createStyle } from "../../render/style.ts";
import type { Call } from "./call.ts";
import { withStore } from "./call.ts";

const usualLimit = "20";
/** So that one long session doesn't fill the page. */
const mostPerSession = 5;

/** Exit status 1 where nothing was found, as grep does. */
export async function search(call: Call, words: readonly string[]): Promise<number> {
  const { given, io, spec } = call;
  const limit = parseCount(given.value("limit") ?? usualLimit);
  if (limit === null) throw usage(spec, `--limit ${JSON.stringify(given.value("limit"))} is not a whole number above 0`);
  const { cwd, root } = await findWorkspace(".", io.cwd, io.env);
  const { found, unreadable } = await withStore(call, ({ ports, runtime }) =>
    runtime.searchSessions(ports, words.join(" "), {
      limit,
      perSession: mostPerSession,
      ...(given.has("all") ? {} : { workspaces: [...new Set([cwd, root])] }),
    }),
  );
  if (given.has("json")) for (const one of found) for (const hit of one.hits) io.stdout.write(jsonLine(lineOf(one, hit)));
  else {
    const style = createStyle(usesColour(io.stdout, io.env));
    for (const one of found) io.stdout.write(`${render(one, style, Math.max(io.stdout.columns, 40)).join("\n")}\n`);
    if (found.length === 0) {
      io.stderr.write(`nothing found${given.has("all") ? "" : ` in the sessions of ${sanitizeLine(cwd)} (--all looks in every folder)`}\n`);
    }
  }
  if (unreadable.length > 0) io.stderr.write(`not searched, since they can't be read: ${unreadable.join(", ")}\n`);
  return found.length === 0 ? 1 : 0;
}

/** `match`: where the first word stands in `snippet`. */
function lineOf({ row, more }: SearchedSession, { snippet, ...hit }: SessionHit) {
  const { before, found, after } = snippet;
  return {
    type: "session.hit",
    session: row.session,
    title: row.title,
    workspace: row.workspace,
    ...hit,
    snippet: before + found + after,
    match: [before.length, before.length + found.length],
    more,
  };
}

function render({ row, hits, more }: SearchedSession, style: Style, width: number): string[] {
  const heading = `${row.session}  ${moment(row.updatedAt)}  ${sanitizeLine(row.title)}`;
  return [
    style.strong(fit(heading, width)),
    ...hits.flatMap((hit) => {
      if (hit.itemId === null) return [];
      const lines = wrap(sanitizeLine(sanitizeOutput(hit.snippet.before + hit.snippet.found + hit.snippet.after)), width - 4);
      const shown = sanitizeLine(sanitizeOutput(hit.snippet.found));
      return [
        style.dim(`  turn ${hit.turn} · ${hit.in} · ${hit.itemId}`),
        ...lines.map((line) => `    ${shown === "" ? line : line.split(shown).join(style.care(shown))}`),
      ];
    }),
    ...(more === 0 ? [] : [style.dim(`  … ${plural(more, "more hit")} in this session`)]),
  ];
}
