/** What a Content-Type says: the type in lower case, and its charset. */
export function mediaTypeOf(contentType: string): { readonly type: string; readonly charset: string | null } {
  const [type = "", ...parameters] = contentType.split(";");
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(each)?.[1]).find((each) => each !== undefined);
  return { type: type.trim().toLowerCase(), charset: charset ?? null };
}

/** The text of a body; null where it is binary. What it calls itself is weighed against what it is. */
export function bodyText(bytes: Uint8Array, contentType: string): string | null {
  const { type, charset } = mediaTypeOf(contentType);
  const label = bomOf(bytes) ?? charset ?? (isHtml(type, bytes) ? metaCharset(bytes) : null);
  const decoder = label === null ? null : decoderFor(label);
  if (decoder !== null && decoder.encoding.startsWith("utf-16")) return decoder.decode(bytes);
  const isBinary = /^(?:image|audio|video|font)\/(?!svg)|^application\/(?:pdf|zip|gzip|octet-stream|wasm)$/.test(type);
  if (bytes.subarray(0, 8000).includes(0) || (isBinary && !isUtf8(bytes))) return null;
  if (startsWith(bytes, "%PDF-")) return null;
  if (decoder !== null) return decoder.decode(bytes);
  // The encoding of the web's old pages, where a page says none and isn't UTF-8 (WHATWG Encoding, "windows-1252").
  return new TextDecoder(isUtf8(bytes) ? "utf-8" : "windows-1252").decode(bytes);
}

export function isHtml(type: string, bytes: Uint8Array): boolean {
  if (type === "text/html" || type === "application/xhtml+xml") return true;
  if (type !== "" && type !== "text/plain" && type !== "application/octet-stream") return false;
  return /^\s*(?:<!doctype html|<html[\s>])/i.test(new TextDecoder("windows-1252").decode(bytes.subarray(0, 500)));
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // A body that was cut may end within a character.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function bomOf(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
}

function metaCharset(bytes: Uint8Array): string | null {
  const head = new TextDecoder("windows-1252").decode(bytes.subarray(0, 1024));
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? null;
}

function decoderFor(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

function startsWith(bytes: Uint8Array, mark: string): boolean {
  return [...mark].every((each, at) => bytes[at] === each.charCodeAt(0));
}
