import type { ValueOrigin } from "@holdfast/protocol";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import { analyse } from "../facts/analyse.ts";
import type { Fact } from "../facts/fact.ts";
import { isBelow, normalise, type PolicyPlaces } from "../facts/place.ts";
import { identify, type Lookup, newLookup, pathsOf, resolveNeed, touch } from "../facts/resolve.ts";
import { type ParsedCommand, type Places, programOf, type SimpleCommand } from "../shell/command.ts";
import { builtins } from "../shell/builtins.ts";
import { parseCommand } from "../shell/parse.ts";
import { metadataFacts } from "./metadata.ts";
import { withoutAllowedNetwork } from "./network.ts";
import type { Part } from "./part.ts";

/** What is known beside the request. */
export interface Known {
  readonly places: PolicyPlaces;
  /** True where a rule names files, so that every word that may be one is looked up. */
  readonly usesPaths: boolean;
}

export interface PartsOfCall {
  readonly parts: readonly Part[];
  readonly provenRead: boolean;
  /** Where the values that decide come from. */
  readonly origins?: readonly ValueOrigin[];
}

/** A command line, one part for each simple command, with every path resolved. `start` null: it runs in an unknown folder. */
export async function commandParts(
  request: PolicyRequest,
  line: string,
  { places, usesPaths }: Known,
  start: Places = [""],
): Promise<PartsOfCall> {
  const parsed = fromHere(parseCommand(line, start), request.plan.cwd ?? "");
  const analysis = analyse(parsed, places.home);
  const movesFiles = parsed.commands.some((command) => ["mv", "ln", "git"].includes(programOf(command.words) ?? ""));
  const lookup = newLookup(request, places, movesFiles);
  const parts: Part[] = [];
  let provenRead = analysis.onlyReads;
  const shadowed = new Set<SimpleCommand>();
  for (const command of parsed.commands) if (await isShadowed(command, lookup)) shadowed.add(command);
  // In a repository that nobody vouches for, git's drivers and filters may be anything.
  const isGit = (command: SimpleCommand): boolean => programOf(command.words) === "git";
  if (shadowed.size > 0 || (!request.isTrusted && parsed.commands.some(isGit))) provenRead = false;
  for (const { command, run: found, facts: foundFacts, needs } of analysis.subjects) {
    const run = found !== null && shadowed.has(found.command) ? { ...found, isSure: false } : found;
    lookup.touched = [];
    const facts = [...foundFacts];
    for (const need of needs) facts.push(...(await resolveNeed(need, command?.places ?? null, lookup)));
    const reaching = withoutAllowedNetwork(facts, request.network);
    const all = [...reaching, ...metadataFacts(command, reaching, request.network)];
    if (all.length > 0) provenRead = false;
    if (usesPaths && run !== null) await touchWords(run.command, lookup);
    parts.push({ command, run, facts: all, touched: lookup.touched });
  }
  const ground = groundFact(request, provenRead);
  return {
    parts: parts.map((part) => ({ ...part, facts: [...part.facts, ground] })),
    provenRead: provenRead && ground.kind === "proven_read",
  };
}

/** `cd /the/workspace && …` stays where it is: places at and below the folder that the line starts in are written from there. */
function fromHere(parsed: ParsedCommand, cwd: string): ParsedCommand {
  if (!cwd.startsWith("/") || !parsed.commands.some(({ places }) => places?.some((place) => place.startsWith("/")) === true)) return parsed;
  const relative = (place: string): string => {
    const plain = place.startsWith("/") && !place.includes("..") ? normalise(place) : place;
    return plain === cwd ? "" : plain.startsWith(`${cwd}/`) ? plain.slice(cwd.length + 1) : place;
  };
  return { ...parsed, commands: parsed.commands.map((command) => ({ ...command, places: command.places?.map(relative) ?? null })) };
}

/** Whether a bare name means a file that a session could have written: then it says nothing of what runs. */
async function isShadowed({ words }: SimpleCommand, lookup: Lookup): Promise<boolean> {
  const name = words[0]?.literal;
  const { locate } = lookup.request;
  if (name == null || locate === undefined || builtins.has(name)) return false;
  let path: string | null;
  try {
    // What is written with its folder is looked for nowhere else.
    path = name.includes("/") ? (name.startsWith("/") ? name : null) : await locate(name);
  } catch {
    return true;
  }
  if (path === null) return false;
  const identity = await identify(lookup, path);
  if (identity === null) return true;
  const { temporary, holdfastHome } = lookup.places;
  const { real, root } = identity;
  return root !== null || temporary.some((folder) => isBelow(real, folder)) || (holdfastHome !== null && isBelow(real, holdfastHome));
}

/** What a program does with a file that its words name isn't known: it may read it, or write it. */
async function touchWords({ words, places }: SimpleCommand, lookup: Lookup): Promise<void> {
  for (const word of words.slice(1)) {
    for (const value of word.literal === null ? word.guesses : [word.literal]) {
      const path = value.replace(/^(?:--?[\w-]+=|@)/, "");
      if (path === "" || path.startsWith("-") || path.length > 1_000 || !/^[^\s:]+$/.test(path)) continue;
      for (const place of pathsOf(path, word.fromHome, places, lookup)) {
        if (place === null) continue;
        const identity = place.startsWith("~") ? null : await identify(lookup, place);
        for (const use of ["read", "write"] as const) touch(lookup, use, place, identity, false);
      }
    }
  }
}

/** What holds for every command of a session, before anything is said against it. */
export function groundFact(request: PolicyRequest, provenRead: boolean): Fact {
  const fact = (kind: Fact["kind"]): Fact => ({ kind, what: "the command", scope: {} });
  if (request.mode !== "off" && !request.canSandbox) return fact("no_sandbox");
  if (provenRead) return fact("proven_read");
  switch (request.mode) {
    case "off":
      return fact("unconfined");
    case "read-only":
      return fact("confined_read_only");
    case "workspace-write":
      return fact("confined");
  }
}
