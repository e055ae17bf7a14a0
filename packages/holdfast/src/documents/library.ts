import { join } from "node:path";
import type { DocumentLibrary, FoundDocument } from "@holdfast/harness/documents/search-documents";
import type { WorldSection } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { DocumentIndex, Embedder, Files, FoundChunk, Recall } from "@holdfast/runtime";
import type { DocumentPlaces, DocumentSource } from "./sources.ts";

export interface DocumentOptions extends DocumentPlaces {
  readonly home: string;
  readonly cwd: string;
  readonly files: Files;
  /** Files that stand before the model in any case. */
  readonly pinned: readonly string[];
  /** Events at which documents are searched by rule. */
  readonly events: readonly string[];
  readonly embedder?: Embedder;
}

export interface Documents extends DocumentLibrary, Recall {
  /** The pinned documents, as the model is told of them at the start of a turn. */
  sections(isTrusted: boolean): Promise<WorldSection[]>;
  close(): void;
}

/** Pieces of one document that one answer holds. */
const mostOfOne = 2;
/** Pieces that are looked at for each that is wanted, and how fast a later place counts less (reciprocal rank fusion). */
const wider = 6;
const fusion = 60;
const embeddedAtOnce = 64;
const mostRecalled = 2;
/** Words of an event that a piece must hold to have to do with it. */
const leastShared = 3;
const recalledReason = { check_failed: "a check failed, and this passage has its words ([documents] events)" } as const;

/** The documents of a session. Nothing is looked at before something is asked of them. */
export function openDocuments(options: DocumentOptions): Documents {
  const opened = new Map<string, Promise<DocumentIndex>>();
  let last: Promise<unknown> = Promise.resolve();
  const told = new Set<string>();

  const indexOf = (source: DocumentSource): Promise<DocumentIndex> => {
    const known = opened.get(source.folder);
    if (known !== undefined) return known;
    const made = openIndex(options.home, source.folder);
    opened.set(source.folder, made);
    made.catch(() => opened.delete(source.folder));
    return made;
  };
  const look = async (query: string, limit: number, signal: AbortSignal): ReturnType<DocumentLibrary["search"]> => {
    const [{ documentSources, shownPath }, { refreshIndex }, { queryWords }] = await Promise.all([
      import("./sources.ts"),
      import("./refresh.ts"),
      import("@holdfast/harness/documents/query"),
    ]);
    const { sources, remarks } = await documentSources(options);
    const found: FoundDocument[] = [];
    const notes = [...remarks];
    for (const source of sources) {
      const index = await indexOf(source);
      try {
        notes.push(...(await refreshIndex(index, source.folder, options.files, signal)));
      } catch (error) {
        // One folder that can't be looked through is no reason to find nothing in the others, and what is known of it still counts.
        if (!isHoldfastError(error)) throw error;
        notes.push(`[${source.name || source.folder} could not be looked through: ${error.message}]`);
      }
      const hits = await searchIndex(index, query, queryWords(query), limit * wider, options.embedder, signal);
      found.push(...hits.map((hit) => ({ ...hit, path: shownPath(hit.path, source, options.cwd), trust: "tool" as const })));
    }
    return { found: spread(found, limit), remarks: notes };
  };
  // One after the other: two at once would read every new document twice.
  const search: DocumentLibrary["search"] = (query, limit, signal) => {
    const next = last.then(() => look(query, limit, signal));
    last = next.catch(() => undefined);
    return next;
  };
  return {
    search,
    async on({ type, text }, signal) {
      if (!options.events.includes(type)) return [];
      const [{ queryWords }, { showFound }, { recalledBecause }] = await Promise.all([
        import("@holdfast/harness/documents/query"),
        import("@holdfast/harness/documents/search-documents"),
        import("@holdfast/harness/text/v1"),
      ]);
      const words = queryWords(text);
      const { found } = await search(text, mostRecalled * wider, signal);
      const fitting = found
        .filter((one) => sharedWords(one, words) >= Math.min(leastShared, words.length) && !told.has(keyOf(one)))
        .slice(0, mostRecalled);
      return fitting.map((one) => {
        told.add(keyOf(one));
        const context = { kind: "documents", source: `${one.path}:${one.line}-${one.endLine}`, reason: recalledReason[type] } as const;
        return { text: `${recalledBecause[type]}\n\n${showFound(one)}`, trust: one.trust, context };
      });
    },
    async sections(isTrusted) {
      if (options.pinned.length === 0) return [];
      return (await import("./pinned.ts")).pinnedSections(options, isTrusted);
    },
    close() {
      for (const index of opened.values()) void index.then((one) => one.close()).catch(() => undefined);
    },
  };
}

async function openIndex(home: string, folder: string): Promise<DocumentIndex> {
  const [{ openDocumentIndex }, { sha256 }] = await Promise.all([import("@holdfast/stores/documents"), import("@holdfast/runtime/hash")]);
  return openDocumentIndex(join(home, "cache", "documents"), sha256(folder).slice(0, 32));
}

/** By words; with an embedder by meaning, too. Where that fails, words alone decide. */
async function searchIndex(
  index: DocumentIndex,
  query: string,
  words: readonly string[],
  limit: number,
  embedder: Embedder | undefined,
  signal: AbortSignal,
): Promise<FoundChunk[]> {
  const byWords = index.search(words, limit);
  const near = embedder === undefined ? null : await byMeaning(index, query, limit, embedder, signal);
  if (near === null) return byWords;
  const scores = new Map<string, { chunk: FoundChunk; score: number }>();
  for (const list of [byWords, near]) {
    list.forEach((chunk, place) => {
      const score = (scores.get(keyOf(chunk))?.score ?? 0) + 1 / (fusion + place);
      scores.set(keyOf(chunk), { chunk, score });
    });
  }
  return [...scores.values()].toSorted((a, b) => b.score - a.score).map(({ chunk, score }) => ({ ...chunk, score }));
}

async function byMeaning(
  index: DocumentIndex,
  query: string,
  limit: number,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<FoundChunk[] | null> {
  try {
    for (let chunks = index.unembedded(embeddedAtOnce); chunks.length > 0; chunks = index.unembedded(embeddedAtOnce)) {
      signal.throwIfAborted();
      const vectors = await embedder.embed(
        chunks.map(({ text }) => text),
        signal,
      );
      index.embed(chunks.map(({ id }, at) => ({ id, vector: vectors[at]! })));
    }
    const [asked] = await embedder.embed([query], signal);
    return asked === undefined ? null : index.nearest(asked, limit);
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/** The best, no more than a few of one document. */
function spread(found: readonly FoundDocument[], limit: number): FoundDocument[] {
  const counts = new Map<string, number>();
  return found
    .toSorted((a, b) => b.score - a.score)
    .filter(({ path }) => {
      counts.set(path, (counts.get(path) ?? 0) + 1);
      return counts.get(path)! <= mostOfOne;
    })
    .slice(0, limit);
}

function sharedWords({ heading, text }: FoundChunk, words: readonly string[]): number {
  const own = `${heading}\n${text}`.toLowerCase();
  return words.filter((word) => own.includes(word)).length;
}

function keyOf({ path, line, text }: FoundChunk): string {
  return `${path}:${line}:${text.length}`;
}
