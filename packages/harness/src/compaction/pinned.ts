import type { CompactedEntry } from "@holdfast/protocol";
import type { CompactionInput } from "@holdfast/runtime";
import { valuesIn } from "../values/kinds.ts";

/** Results whose exact values stay in the window as they are the latest. */
const latest = 8;
/** Lines at most, of which those that name what the open work names come first. */
const mostLines = 40;
const longest = 300;
/** The runtime's own words where a result was too long. */
const cutMark = /^\[\d+ (?:bytes|lines|characters) left out/;
/** Of what the open work names, so much is looked for. */
const mostNames = 60;

/** Too common to be worth a place by themselves. */
const weak: ReadonlySet<string> = new Set(["quoted", "name", "number", "amount"]);

/**
 * Lines with an exact value, word for word: those of any result of the window that name what the open work names, then those of
 * the latest results.
 */
export function pinned(events: CompactionInput["events"], openWork: string): CompactedEntry[] {
  const results = events.flatMap((event) => (event.type === "call.settled" ? [event.payload.result] : []));
  const names = namesIn(openWork);
  const near = new Map<string, CompactedEntry>();
  const recent = new Map<string, CompactedEntry>();
  results.forEach(({ id, callId, text }, at) => {
    const isLate = at >= results.length - latest;
    if (!isLate && names.length === 0) return;
    for (const one of text.split("\n")) {
      const line = one.trim();
      if (line.length > longest || line === "" || cutMark.test(line)) continue;
      const isNear = names.some((name) => line.includes(name));
      if (!(isNear || isLate) || !valuesIn(line).some(({ kind }) => !weak.has(kind))) continue;
      const found = isNear ? near : recent;
      found.delete(line);
      found.set(line, { section: "exactValues", text: `- ${line}`, from: [id, callId] });
    }
  });
  const kept = [...near.values()].slice(-mostLines);
  const left = mostLines - kept.length;
  return [...(left === 0 ? [] : [...recent.values()].slice(-left)), ...kept];
}

/** What has a name of its own in the text of open work: identifiers, paths, what stands in quotes. */
function namesIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, name = ""] of text.matchAll(/(?<![\w./-])((?=[\w./-]*[\d_./-])[\w][\w./-]{3,}\w)(?![\w/-])/g)) {
    if (/[a-z]/i.test(name)) found.add(name);
    if (found.size >= mostNames) break;
  }
  return [...found];
}
