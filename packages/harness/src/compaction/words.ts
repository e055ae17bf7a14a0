import type { UserMessage } from "@holdfast/protocol";

export function textOf(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "[an image]")).join("\n");
}

export function line(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** At most so many characters, with what was left out told. */
export function cut(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `${text.slice(0, chars - 40).toWellFormed()} … [${text.length - chars + 40} more characters in the log]`;
}
