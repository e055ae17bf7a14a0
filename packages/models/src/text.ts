/** Longest message of an error: enough to say what to fix, too little to flood a terminal or a log. */
const maxMessage = 400;

/**
 * Foreign text made safe to show: no control or direction characters, no secret, one line, cut to `max` characters.
 * Secrets go after the control characters (one inside a key would hide it) and before the cut (half a key is one too).
 */
export function cleanText(text: string, secrets: readonly string[], max = maxMessage): string {
  let clean = text
    .toWellFormed()
    .replace(/\s+/g, " ")
    // C0, DEL and C1; zero-width and direction marks: none of them is for a person to read.
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "")
    .trim();
  for (const secret of secrets) if (secret.length >= minSecret) clean = clean.replaceAll(secret, "[redacted]");
  return clean.length <= max ? clean : `${clean.slice(0, max - 1)}…`.toWellFormed();
}

/** Shorter values (`x`, `none`) are placeholders for servers without keys; replacing them would garble every message. */
const minSecret = 6;

/** Text as JSON. A lone surrogate becomes U+FFFD: its `\ud83d` form is refused by the JSON parsers of some servers. */
export function jsonText(text: string): string {
  return JSON.stringify(text.toWellFormed());
}
