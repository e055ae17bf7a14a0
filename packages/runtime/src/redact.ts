import { holdsSecret, withoutSecrets, writingsOfAll } from "./writings.ts";

/** Stands where a secret was. A write that would put it into a file is refused: the file would lose its real content. */
export const redactionMark = "[redacted secret]";

/** Formats with a known prefix that are secrets wherever they stand. Never by key name or entropy: exact values must survive. */
export const knownFormats: readonly RegExp[] = [
  /\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}/g,
  // Of an older make: without a dash or digit it could be words.
  /\bsk-(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}/g,
  /\bnpm_[A-Za-z0-9]{36,}/g,
  /\bhf_[A-Za-z0-9]{34,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{60,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{20,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
];

/**
 * Takes secret values, in whatever writing, and known secret formats out of a text. `secrets` are the values the process
 * holds: a list that is kept, and not changed, is looked through once for all texts.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = redactHeld(text, secrets);
  for (const format of knownFormats) clean = clean.replace(format, redactionMark);
  return withoutPrivateKeys(clean);
}

/** Takes out the values that the process holds, and nothing else. */
export function redactHeld(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets, redactionMark);
}

/** The same value without held secrets in any of its texts; itself where there are none. */
export function redactDeep<T>(value: T, secrets: readonly string[]): T {
  if (writingsOfAll(secrets).length === 0) return value;
  // One look at all of it: nearly nothing holds a secret.
  const text = JSON.stringify(value);
  if (text === undefined || !holdsSecret(text, secrets)) return value;
  return clean(value, secrets) as T;
}

function clean(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return redactHeld(value, secrets);
  if (Array.isArray(value)) return value.map((inner) => clean(inner, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redactHeld(key, secrets), clean(inner, secrets)]));
}

/** In time that grows with the text alone: a page can be full of beginnings without an end. */
export function withoutPrivateKeys(text: string): string {
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
