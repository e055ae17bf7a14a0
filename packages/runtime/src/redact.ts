/** Stands where a secret was. A write that would put it into a file is refused: the file would lose its real content. */
export const redactionMark = "[redacted secret]";

/** Formats with a known prefix that are secrets wherever they stand. Never by key name or entropy: exact values must survive. */
const knownFormats = [
  /\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{60,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
];

/** Shorter values would hit ordinary words. */
const shortestSecret = 8;

/** Takes secret values and known secret formats out of a text. `secrets` are the values the process holds. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets)
    if (secret.length >= shortestSecret && clean.includes(secret)) clean = clean.replaceAll(secret, redactionMark);
  for (const format of knownFormats) clean = clean.replace(format, redactionMark);
  return withoutPrivateKeys(clean);
}

/** In time that grows with the text alone: a page can be full of beginnings without an end. */
function withoutPrivateKeys(text: string): string {
  const begin = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/g;
  const end = /-----END (?:[A-Z]+ )?PRIVATE KEY-----/g;
  const pieces: string[] = [];
  let at = 0;
  for (let from = begin.exec(text); from !== null; from = begin.exec(text)) {
    end.lastIndex = begin.lastIndex;
    if (end.exec(text) === null) break;
    pieces.push(text.slice(at, from.index), redactionMark);
    at = end.lastIndex;
    begin.lastIndex = at;
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(at);
}
