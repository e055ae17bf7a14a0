import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import { analyse } from "../facts/analyse.ts";
import type { Fact } from "../facts/fact.ts";
import type { PolicyPlaces } from "../facts/place.ts";
import { newLookup, resolveNeed } from "../facts/resolve.ts";
import { type Places, programOf } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { withoutAllowedNetwork } from "./judge.ts";

/** Facts of a command line, one list for each subject, with every path resolved. `start` null: it runs in an unknown folder. */
export async function commandFacts(
  request: PolicyRequest,
  line: string,
  places: PolicyPlaces,
  start: Places = [""],
): Promise<{ subjects: Fact[][]; provenRead: boolean }> {
  const parsed = parseCommand(line, start);
  const analysis = analyse(parsed, places.home);
  const movesFiles = parsed.commands.some((command) => ["mv", "ln", "git"].includes(programOf(command.words) ?? ""));
  const lookup = newLookup(request, places, movesFiles);
  const subjects: Fact[][] = [];
  let provenRead = analysis.onlyReads;
  for (const subject of analysis.subjects) {
    const facts = [...subject.facts];
    for (const need of subject.needs) facts.push(...(await resolveNeed(need, subject.command?.places ?? null, lookup)));
    if (facts.some((fact) => fact.kind !== "runs")) provenRead = false;
    subjects.push(withoutAllowedNetwork(facts, request.network));
  }
  const ground = groundFact(request, provenRead);
  return { subjects: subjects.map((facts) => [...facts, ground]), provenRead: provenRead && ground.kind === "proven_read" };
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
