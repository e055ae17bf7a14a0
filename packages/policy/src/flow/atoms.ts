/**
 * Values that mean what they mean only as a whole, found in running text: addresses and accounts, to which something can be
 * sent, and codes (numbers of documents, keys, passwords), which somebody may want to have.
 */
export type AtomKind = "email" | "url" | "account" | "phone" | "code";

export interface Atom {
  readonly kind: AtomKind;
  readonly text: string;
  /** How two writings of it are compared. */
  readonly key: string;
}

const email = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
const url = /(?:[a-z][a-z\d+.-]*:\/\/|\bwww\.)[^\s"'<>`|\\^]+|\b(?:[\p{L}\p{N}-]+\.)+[a-z]{2,}(?::\d+)?(?:\/[^\s"'<>`|\\^]*)?/giu;
const account = /\b[A-Z]{2}\d{2}(?:[ -][A-Z\d]{4}){2,8}(?:[ -][A-Z\d]{1,3})?\b|\b[A-Z]{2}\d{2}[A-Z\d]{8,32}\b|\b0x[\da-fA-F]{20,}\b/g;
const phone = /(?<![\p{L}\p{N}])\+?\d[\d\s()./-]{7,}\d(?![\p{L}\p{N}])/gu;
const code = /(?<![\p{L}\p{N}])(?=[\p{L}\p{N}-]*\d)[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*(?![\p{L}\p{N}])/gu;

/** Endings of files: `notes.txt` is no host. */
const fileEnding =
  /\.(?:txt|md|docx?|xlsx?|pptx?|pdf|csv|tsv|json|ya?ml|toml|xml|html?|png|jpe?g|gif|webp|svg|zip|tar|gz|log|ts|tsx|js|jsx|mjs|cjs|py|rs|go|rb|java|kt|c|h|cpp|hpp|cs|sh|sql|ini|cfg|conf|lock|ics|eml|mp[34]|wav)$/i;
const dateLike = /^\d{1,4}-\d{1,2}(?:-\d{1,4})?(?:t\d.*)?$|^\d{1,2}(?:st|nd|rd|th|am|pm|h|d|min|kg|km|g|m|k)$|^\d{4}$|^(?:19|20)\d{6}$/;

/** Atoms in order of their kinds; a piece of text belongs to the first kind that takes it. */
export function atomsOf(text: string): Atom[] {
  const atoms: Atom[] = [];
  let rest = (text.length > longest ? text.slice(0, longest) : text).replaceAll(/\S{2000,}/g, (word) => word.slice(0, longestWord));
  const take = (kind: AtomKind, pattern: RegExp, isOne: (found: string) => boolean): void => {
    rest = rest.replace(pattern, (found: string) => {
      const trimmed = found.replace(/[.,;:!?)\]}>…]+$/u, "");
      if (!isOne(trimmed)) return found;
      atoms.push({ kind, text: trimmed, key: atomKey(kind, trimmed) });
      return " ".repeat(found.length);
    });
  };
  if (rest.includes("@")) take("email", email, () => true);
  if (rest.includes(".") || rest.includes("://"))
    take("url", url, (found) => found.includes("://") || !fileEnding.test(found.replace(/[?#].*$/, "")) || found.includes("/"));
  if (!/\d/.test(rest)) return atoms;
  take("account", account, (found) => found.replaceAll(/[^\da-z]/gi, "").length >= 12 && /\d{6}/.test(found.replaceAll(/[^\da-z]/gi, "")));
  take("phone", phone, (found) => {
    const digits = found.replaceAll(/\D/g, "");
    return (
      digits.length >= 9 && digits.length <= 16 && !/^\d{4}-\d{2}-\d{2}/.test(found) && (found.startsWith("+") || /[\s()/-]/.test(found))
    );
  });
  take("code", code, (found) => found.length >= 4 && !dateLike.test(found.toLowerCase()));
  return atoms;
}

/** No text of a tool is longer in the window; of a longer one the beginning is looked at. */
const longest = 64_000;
const longestWord = 2_000;

export function atomKey(kind: AtomKind, text: string): string {
  const lower = text.normalize("NFKC").toLowerCase();
  switch (kind) {
    case "url":
      return lower.replace(/^[a-z][a-z\d+.-]*:\/\//, "").replace(/\/+$/, "");
    case "email":
      return lower;
    case "account":
    case "phone":
    case "code":
      return lower.replaceAll(/[^\p{L}\p{N}]/gu, "");
  }
}

/** Whether something can be sent there. */
export function isAddress({ kind }: Atom): boolean {
  return kind !== "code";
}

/** The host of an atom of kind `url`, or of an address of mail. */
export function hostOf({ key }: Atom): string {
  return key.replace(/^[^/]*@/, "").replace(/[/?#:].*$/, "");
}
