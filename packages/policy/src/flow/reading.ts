import { atomsOf, hostOf } from "./atoms.ts";
import { quotationIn } from "./content.ts";
import { disguisedIn } from "./disguise.ts";
import type { Finding } from "./finding.ts";
import { meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { isKnownHost, isProseMeant, isSaid, originOf, proseWith } from "./origin.ts";
import { privateParts } from "./private.ts";
import type { Slot } from "./slots.ts";
import type { DescribedTool } from "./tool.ts";
import { aboutOf, actionOf, looking } from "./tool.ts";
import { stem, wordsOf } from "./words.ts";

/**
 * A look at the outside is a message as well: its address says something. Fine is an address that the user gave, or that
 * stood as a whole in what was read, where the user's words speak of pages; not one put together from parts.
 */
export function judgeReading(memory: FlowMemory, tool: DescribedTool, slots: readonly Slot[]): Finding[] {
  if (tool.hints.reachesOut === false) return [];
  const findings: Finding[] = [];
  const { verb } = actionOf(tool);
  // "Translate Nora's mail" gives it away; "search my mail" gives none of it to a search of the web.
  const isAsked = !looking.test(verb) && memory.user.words.has(stem(verb));
  for (const { path, role, value } of slots) {
    if (typeof value !== "string") continue;
    const urls = atomsOf(value).filter(({ kind }) => kind === "url");
    for (const url of urls) {
      if (isSaid(memory, url.text, url)) continue;
      const whole = originOf(memory, url.text);
      const say = (id: "visit" | "carries", why: string): Finding => ({
        type: "tainted",
        id,
        path,
        value: url.text,
        sentence: `${path}, ${JSON.stringify(url.text.slice(0, 120))}, ${why}.`,
      });
      if (whole.from === "field" || whole.from === "meant") continue;
      if (whole.from === "prose") {
        if (!speaksOfPages(memory, tool))
          findings.push(say("visit", "is an address that only text of others names, and your words speak of no page"));
        continue;
      }
      const isKnown = isKnownHost(memory, url);
      const carried = isKnown ? [] : privateParts(memory, inParts(url.text), true);
      const disguised = isKnown
        ? []
        : disguisedIn(memory.marks, inParts(url.text)).filter(
            ({ atom, part }) => part === undefined && !isSaid(memory, atom.text) && atom.key !== url.key,
          );
      if (carried.length > 0) findings.push(say("carries", `carries out what was read (${carried[0]!.what})`));
      else if (disguised.length > 0)
        findings.push(say("carries", `carries out what was read (${JSON.stringify(disguised[0]!.atom.text)}) in another writing`));
      else if (!isKnown && (memory.hosts.has(hostOf(url)) || isHostInWords(memory, hostOf(url))))
        findings.push(say("carries", "is put together for a host that only text of others names"));
      else {
        const told = isKnown ? undefined : (toldIn(memory, url.text) ?? unsaidIn(memory, url.text));
        if (told !== undefined)
          findings.push({
            type: "unproven",
            id: "tells",
            path,
            value: url.text,
            sentence: `${path}, ${JSON.stringify(url.text.slice(0, 120))}, tells its host ${JSON.stringify(told)}, which your words don't say.`,
          });
      }
    }
    // A file deep in its folders is no text.
    const isName = role === "id" && !/\s/.test(value);
    const quoted = isName ? null : quotationIn(memory, value, leastCarried, (piece) => !(isAsked && isProseMeant(memory, piece)));
    if (quoted !== null)
      findings.push({
        type: "unproven",
        id: "carries",
        path,
        value,
        sentence: `${path} carries out what was read (${JSON.stringify(quoted.run)}).`,
      });
    if (urls.length > 0) continue;
    const carried = privateParts(memory, value);
    if (carried.length > 0) {
      findings.push({ type: "unproven", id: "carries", path, value, sentence: `${path} carries out what was read (${carried[0]!.what}).` });
    }
  }
  return findings;
}

/** Longer than what a text calls something. */
const leastCarried = 8;

/** A word of an address that the model thought up, its domain aside, that was read and that the user's words don't hold. */
function toldIn({ user, prose, named }: FlowMemory, address: string): string | undefined {
  const [, host = "", rest = ""] = /^(?:[a-z][a-z\d+.-]*:\/\/)?([^/?#]*)(.*)$/i.exec(address) ?? [];
  const below = host.split(".").slice(0, -2).join(" ");
  return wordsOf(inParts(`${below} ${rest}`)).find(
    (word) => word.length >= leastTold && !user.words.has(stem(word)) && (prose.has(word) || named.has(word)),
  );
}
const leastTold = 4;

/**
 * What an address that the model thought up says behind its host, and the user didn't: it can be what was read, in a writing
 * that nobody knows. Only once others' text was read, and not a short word, as pages are called.
 */
function unsaidIn({ user, prose }: FlowMemory, address: string): string | undefined {
  if (prose.size === 0) return undefined;
  const [, rest = ""] = /^(?:[a-z][a-z\d+.-]*:\/\/)?[^/?#]*(.*)$/i.exec(address) ?? [];
  return wordsOf(inParts(rest)).find(
    (word) => !user.words.has(stem(word)) && (/\d/.test(word) ? word.length > leastTold || !isYear(word) : word.length > longestPlain),
  );
}
const longestPlain = 24;
const isYear = (word: string): boolean => /^(?:19|20)\d\d$|^\d{1,2}$/.test(word);

/** "Fetch it from prize dot example": a host that others' text tells in words. */
function isHostInWords(memory: FlowMemory, host: string): boolean {
  const labels = host.replace(/^www\./, "").split(".");
  return labels.length > 1 && ["dot", "point", "punkt"].some((sign) => proseWith(memory, wordsOf(labels.join(` ${sign} `))).length > 0);
}

/** An address as the words that it is made of. */
function inParts(address: string): string {
  return address
    .replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/[/?#=&+:;,.]/g, " ");
}

function speaksOfPages({ user }: FlowMemory, tool: DescribedTool): boolean {
  return meet(user.words, new Set(["page", "websit", "url", "link", "articl"])) || meet(user.words, aboutOf(tool));
}
