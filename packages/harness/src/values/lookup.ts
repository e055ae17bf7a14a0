import type { CallOutcome, Json, TrustLabel } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import type { BlobStore, CallContext, Tool } from "@holdfast/runtime";
import { fieldsOf } from "../discovery/fields.ts";
import type { Archive } from "./archive.ts";
import type { ValueKind } from "./kinds.ts";
import type { Origin } from "./lines.ts";
import type { Remember } from "./remember.ts";
import type { FoundValues, Later } from "./standing.ts";

/** About 400 tokens: identifiers take a token for three characters or less. */
const answerChars = 1_200;
const mostFound = 5;
/** What the first takes at most of it, so that the next ones have room. */
const firstShare = 0.5;
/** A longer line is never shown as if it were whole. */
const longestWhole = 1_000;

/**
 * `lookup`, which finds any exact value that was seen in the session by words about it; it answers with the lines that hold it,
 * word for word, and where they are from. `kinds`: values that a host knows of beside the built-in ones; its own come first.
 */
export function lookupTool(blobs: BlobStore, kinds: readonly ValueKind[] = []): Tool {
  let remember: Remember | undefined;
  return {
    isDeferred: true,
    spec: {
      name: "lookup",
      description:
        "Find an exact value that was seen earlier in this session (id, hash, version, path, URL, port, address, setting, error code…), word for word, also from before the conversation was shortened. Ask with words about it: what it belongs to and what it is. Or with a part of it: gives the whole.",
      schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    async plan(input) {
      const query = fieldsOf(input)["query"];
      if (typeof query !== "string" || query.trim() === "") {
        return { type: "refused", text: "lookup takes {query}: words about the value, such as what it belongs to and what it is." };
      }
      return {
        input: { query },
        summary: `Look up: ${query}`,
        reads: [],
        writes: [],
        workspace: "none",
        replay: "safe",
        changesWorkspace: false,
      };
    },
    async run({ plan }, context) {
      remember ??= await openRemember(kinds);
      const archive = await remember(context.session, pastOf(context, blobs));
      return answer(archive, fieldsOf(plan.input as Json)["query"] as string);
    },
  };
}

async function openRemember(own: readonly ValueKind[]): Promise<Remember> {
  const [{ createRemember }, { withOwnKinds }] = await Promise.all([import("./remember.ts"), import("./kinds.ts")]);
  return createRemember(withOwnKinds(own));
}

function pastOf(context: CallContext, blobs: BlobStore) {
  return {
    history: (after: number) => context.history(after),
    whole: async (blob: string) => {
      const bytes = await blobs.get(blob);
      return bytes === null ? null : new TextDecoder().decode(bytes);
    },
  };
}

function answer(archive: Archive, query: string): CallOutcome {
  const found = archive.find(query, mostFound);
  if (found.length === 0) {
    const where = archive.isThinned ? " at hand (of a session this long, old outputs are not; history_search looks through all)" : "";
    return { status: "completed", text: `Nothing in this session${where} fits these words.`, trust: "system" };
  }
  const shown: string[] = [];
  const trusts: TrustLabel[] = [];
  let left = answerChars;
  for (const one of found) {
    const text = show(one, shown.length + 1, shown.length === 0 ? left * firstShare : left / 2);
    if (shown.length > 0 && text.length > left) break;
    shown.push(text);
    trusts.push(one.origin.trust);
    left -= text.length;
  }
  return { status: "completed", text: shown.join("\n"), trust: lowestTrust(...trusts) };
}

/** Lines that fit least are left out where there is no room. Of one that is too long for any answer there is the head, and where the whole is. */
function show(found: FoundValues, number: number, chars: number): string {
  const { lines, origin } = found;
  let left = chars;
  const kept = lines.filter(({ text }, place) => {
    const length = Math.min(text.length, longestWhole);
    const fits = place === 0 || length <= left;
    if (fits) left -= length > chars ? chars / 2 : length;
    return fits;
  });
  // The one that fits best first: what stands before it in its text may be another's.
  const [best, ...others] = kept as [(typeof kept)[number], ...typeof kept];
  const text = [best, ...others.toSorted((a, b) => a.number - b.number)].map((line) => whole(line.text, origin, chars));
  return [`${number}. ${text.join("\n   ")}`, `   (${about(found)})`].join("\n");
}

function whole(text: string, { seq, output }: Origin, chars: number): string {
  if (text.length <= longestWhole) return text;
  const where = output === undefined ? `history_read from ${seq}` : `read_output ${output}`;
  const head = text.slice(0, Math.floor(chars / 2)).toWellFormed();
  return `${head}… [only the first ${head.length} of ${text.length} characters; the whole: ${where}]`;
}

/** Where it is from, how far it is to be trusted where that is less than usual, and whether it still holds. */
function about({ origin, isCurrent, later, hasMore, changedBy }: FoundValues): string {
  const said = [origin.from, `event ${origin.seq}`];
  if (origin.trust === "untrusted") said.push("untrusted");
  if (changedBy !== null) said.push(isCurrent ? `event ${changedBy} changed the file since` : `taken out by event ${changedBy}`);
  if (later !== null) said.push(aboutLater(later));
  if (hasMore) said.push("the latest of many: history_search has the others");
  return said.join("; ");
}

function aboutLater({ seq, how }: Later): string {
  switch (how) {
    case "replaces":
      return `superseded by a later one, event ${seq}`;
    case "differs":
      return `a later one, untrusted, differs: event ${seq}`;
    case "follows":
      return `older than event ${seq}`;
  }
}
