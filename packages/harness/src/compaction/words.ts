import type { UserMessage } from "@holdfast/protocol";

export function textOf(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "[an image]")).join("\n");
}

export function line(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** At most so many characters of both ends, with what was left out between them told. */
export function bothEnds(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.max(0, Math.floor((chars - 40) / 2));
  const end = half === 0 ? "" : text.slice(-half).toWellFormed();
  return `${text.slice(0, half).toWellFormed()} … [${text.length - 2 * half} more characters in the log] … ${end}`;
}

/** At most so many characters, with what was left out told. */
export function cut(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `${text.slice(0, chars - 40).toWellFormed()} … [${text.length - chars + 40} more characters in the log]`;
}
