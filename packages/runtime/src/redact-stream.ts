import { redact, redactHeld, withoutPrivateKeys } from "./redact.ts";
import { beginningOfSecret, openEdge } from "./writings.ts";

/** Takes secrets out of a text that comes in pieces: one that is cut in two is found as well. */
export interface StreamRedactor {
  /** What can be shown of it now: the end is held back where a secret may begin there. */
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** A word that begins like a known format is held back until it ends, up to so many characters. */
const longestWord = 400;

/** `values`: asked for each piece, as a value may be fetched only when what puts it out already runs. */
export function createStreamRedactor(values: () => readonly string[]): StreamRedactor {
  let held = "";
  return {
    push(piece) {
      const secrets = values();
      const raw = held + piece;
      const edge = openEdge(raw, secrets);
      const text = withoutPrivateKeys(redactHeld(raw.slice(0, edge), secrets));
      const from = holdFrom(text, secrets);
      held = text.slice(from) + raw.slice(edge);
      // A known format is as long as its word: it is looked for once that has ended.
      return redact(text.slice(0, from), secrets);
    },
    end() {
      const rest = redact(held, values());
      held = "";
      return rest;
    },
  };
}

const beginnings = /(?:^|[^A-Za-z0-9_-])((?:s|sk|sk-|g|gh|ghp|gho|ghu|ghs|ghr|gi|git|glp|n|np|npm|h|hf|x|xo|xox|A|AK|AI)[A-Za-z0-9_-]*)$/;

function holdFrom(text: string, secrets: readonly string[]): number {
  const word = beginnings.exec(text.slice(-longestWord))?.[1];
  return Math.min(beginningOfSecret(text, secrets), text.length - (word?.length ?? 0), openKey(text));
}

/** What follows the beginning of a private key for longer than this is none. */
const longestKey = 16_384;
/** Where one begins, or a line that may become its first. */
const keyBegin = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----|-----(?:B|BE|BEG|BEGI|BEGIN[A-Z ]*-{0,4})?$|-{1,4}$/;

/** Where a private key begins that hasn't ended; the text's length where none does. Whole ones are gone by now. */
function openKey(text: string): number {
  const start = Math.max(0, text.length - longestKey);
  const at = text.slice(start).search(keyBegin);
  return at === -1 ? text.length : start + at;
}
