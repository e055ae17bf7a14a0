import { atomsOf, isAddress } from "./atoms.ts";
import { choosing } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { isAskedInWords, isMeant, isPointedTo, isSaid } from "./origin.ts";
import type { Piece } from "./source.ts";
import { isSecretField } from "./source.ts";
import { keyOf, stem } from "./words.ts";

/** A value in a text that is somebody's own: a number of a document, a key, a password. */
export interface PrivatePart {
  readonly text: string;
  /** What it is, as the field or the tool that it comes from is called. */
  readonly what: string;
}

const dull = new Set(
  ["get", "list", "read", "search", "find", "fetch", "show", "all", "number", "name", "id", "user", "value", "data", "by", "for", "in"].map(
    stem,
  ),
);

/**
 * The parts of a text that were read in this session, are of the kind that others want, and are nothing that the user's
 * words speak of: neither the value, nor the field, nor the tool that it comes from. `isStrict`: of none of them but the value.
 */
export function privateParts(memory: FlowMemory, text: string, isStrict = false): PrivatePart[] {
  const found: PrivatePart[] = [];
  for (const atom of atomsOf(text)) {
    if (isSaid(memory, atom.text, atom) || memory.user.atoms.has(atom.key)) continue;
    const fields = [...new Set([...(memory.named.get(atom.key) ?? []), ...(memory.named.get(keyOf(atom.text)) ?? [])])];
    const prose = fields.length > 0 ? [] : (memory.atoms.get(atom.key) ?? []);
    if (fields.length + prose.length === 0) continue;
    if (!isStrict && isAddress(atom) && fields.length === 0) continue;
    if (!isStrict && (fields.some((piece) => isSpokenOfField(memory, piece)) || prose.some((piece) => isPointedTo(memory, piece))))
      continue;
    found.push({ text: atom.text, what: whatOf((fields[0] ?? prose[0])!) });
  }
  for (const [key, pieces] of memory.secrets) {
    if (key.length >= 4 && keyOf(text).includes(key) && !isSaid(memory, key) && !pieces.some((piece) => isSpokenOfField(memory, piece)))
      found.push({ text: key, what: whatOf(pieces[0]!) });
  }
  return found;
}

/** The user's words name the field, or the kind of thing, or the very record. */
function isSpokenOfField(memory: FlowMemory, { field, record, kind }: Piece): boolean {
  const isSpoken = (word: string): boolean => memory.user.words.has(word) && !dull.has(word) && !choosing.has(word);
  if ([...field].some(isSpoken)) return true;
  if (isSecretField(field)) return false;
  if (record.source.isMade) return true;
  if (kind !== "named" || record.group.records.length > 1) return isMeant(memory, record);
  return [...record.source.toolWords].some(isSpoken) || isAskedInWords(memory, record.source) || isMeant(memory, record);
}

function whatOf({ field, record }: Piece): string {
  const name = [...field].join(" ");
  return name === "" ? `from ${record.source.tool}` : `${name}, from ${record.source.tool}`;
}
