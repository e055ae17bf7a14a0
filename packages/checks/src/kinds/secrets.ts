import { knownFormats } from "@holdfast/runtime/redact";

/** What stays at hand of a text for a secret that goes on in the next piece; a longer one is known by its beginning. */
const overlap = 4096;
const keyMark = /-----(BEGIN|END) (?:[A-Z]+ )?PRIVATE KEY-----/g;

/** Counts the secrets of known formats in a text that comes in pieces. */
export interface SecretCount {
  take(text: string): void;
  end(): number;
}

export function countSecrets(): SecretCount {
  let [rest, count, isOpen, isFirst] = ["", 0, false, true];
  const look = (until: number): void => {
    let [next, behind] = [until, 0];
    const found = (format: RegExp): RegExpExecArray[] =>
      // Before all but the first piece stands a character that was looked at, so that it is known where a word begins.
      [...rest.matchAll(format)].filter(({ index }) => index < until && (isFirst || index > 0));
    // What two formats take for a secret is one.
    for (const { index, 0: all } of knownFormats.flatMap(found).sort((one, two) => one.index - two.index)) {
      if (index < behind) continue;
      behind = index + all.length;
      count += 1;
    }
    next = Math.max(next, behind);
    for (const { index, 0: all, 1: side } of found(keyMark)) {
      if (side === "END" && isOpen) count += 1;
      isOpen = side === "BEGIN";
      next = Math.max(next, index + all.length);
    }
    rest = rest.slice(next - 1);
    isFirst = false;
  };
  return {
    take(text) {
      rest += text;
      if (rest.length > 2 * overlap) look(rest.length - overlap);
    },
    end() {
      look(Number.POSITIVE_INFINITY);
      return count;
    },
  };
}
