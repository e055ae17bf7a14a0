import { redact, redactHeld } from "./redact.ts";
import { beginningOfSecret } from "./writings.ts";

/** Takes secrets out of a text that comes in pieces: one that is cut in two is found as well. */
export interface StreamRedactor {
  /** What can be shown of it now: the end is held back where a secret may begin there. */
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/** A word that begins like a known format is held back until it ends, up to so many characters. */
const longestWord = 400;

export function createStreamRedactor(secrets: readonly string[]): StreamRedactor {
  let held = "";
  return {
    push(piece) {
      const text = redactHeld(held + piece, secrets);
      const from = holdFrom(text, secrets);
      held = text.slice(from);
      // A known format is as long as its word: it is looked for once that has ended.
      return redact(text.slice(0, from), secrets);
    },
    end() {
      const rest = redact(held, secrets);
      held = "";
      return rest;
    },
  };
}

const beginnings = /(?:^|[^A-Za-z0-9_-])((?:s|sk|sk-|g|gh|ghp|gho|ghu|ghs|ghr|gi|git|glp|n|np|npm|h|hf|x|xo|xox|A|AK|AI)[A-Za-z0-9_-]*)$/;

function holdFrom(text: string, secrets: readonly string[]): number {
  const word = beginnings.exec(text.slice(-longestWord))?.[1];
  return Math.min(beginningOfSecret(text, secrets), text.length - (word?.length ?? 0));
}
