/** Shorter values would hit ordinary words. */
export const shortestSecret = 8;

/** The shortest piece of a base64 or hex text that counts as a secret's: what is shorter could stand there by chance. */
const shortestPiece = 9;

const known = new Map<string, readonly string[]>();

/**
 * The texts in which a secret may stand, itself first: as within JSON, within a URL, in base64 and in hex. In base64 also as
 * a part of something larger (`user:secret`): of each of the three ways to cut its bytes, the digits that it alone decides.
 */
export function writingsOf(secret: string): readonly string[] {
  const found = known.get(secret);
  if (found !== undefined) return found;
  // Values that are refreshed come and go.
  if (known.size > 500) known.clear();
  const bytes = new TextEncoder().encode(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.toWellFormed());
  const plain = [secret, json, JSON.stringify(json).slice(1, -1), json.replaceAll("/", "\\/"), url, url.replaceAll("%20", "+")];
  const encoded = [0, 1, 2].map((offset) => base64Piece(bytes, offset));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const pieces = [...encoded, ...encoded.map((piece) => piece.replaceAll("+", "-").replaceAll("/", "_")), hex, hex.toUpperCase()];
  const writings = [...new Set([...plain, ...pieces.filter((piece) => piece.length >= shortestPiece)])];
  known.set(secret, writings);
  return writings;
}

/** The base64 digits that depend on these bytes alone, where `offset` others stand before them in their group of three. */
function base64Piece(bytes: Uint8Array, offset: number): string {
  const padded = "\0".repeat(offset) + String.fromCharCode(...bytes);
  const digits = btoa(padded).replace(/=+$/, "");
  // Six bits a digit: the first that holds none of what stands before, the last that is filled by the value's own bits.
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** Everything that is to be looked for, longest first, so that no part of a longer value is left. */
export function writingsOfAll(secrets: readonly string[]): readonly string[] {
  const found = lists.get(secrets);
  if (found !== undefined) return found;
  const all = secrets.filter((secret) => secret.length >= shortestSecret).flatMap(writingsOf);
  const sorted = [...new Set(all)].sort((a, b) => b.length - a.length);
  lists.set(secrets, sorted);
  return sorted;
}

/** A store gives the same list while it holds the same values. */
const lists = new WeakMap<readonly string[], readonly string[]>();
