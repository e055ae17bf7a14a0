/**
 * File names as text. A name is bytes on most systems; bytes that are no UTF-8 become lone surrogates (U+DC00 + byte),
 * which JSON escapes and which lead back to the same bytes.
 */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function decodeName(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeOdd(bytes);
  }
}

/** Names that end with NUL each, as `git … -z` and `rg --null` print them. */
export function decodeNames(bytes: Buffer): string[] {
  if (bytes.length === 0) return [];
  const end = bytes[bytes.length - 1] === 0 ? bytes.length - 1 : bytes.length;
  try {
    return strict.decode(bytes.subarray(0, end)).split("\0");
  } catch {
    const names: string[] = [];
    for (let from = 0; from < end;) {
      const found = bytes.indexOf(0, from);
      const to = found < 0 || found > end ? end : found;
      names.push(decodeName(bytes.subarray(from, to)));
      from = to + 1;
    }
    return names;
  }
}

/** What the file system takes for `name` below `folder`. */
export function fsPath(folder: string, name: string): string | Buffer {
  const path = name === "" ? folder : `${folder}/${name}`;
  return path.isWellFormed() ? path : encodeName(path);
}

export function encodeName(name: string): Buffer {
  const pieces: Buffer[] = [];
  for (const piece of name.split(/([\udc80-\udcff])/)) {
    const code = piece.length === 1 ? piece.charCodeAt(0) : 0;
    pieces.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

function decodeOdd(bytes: Uint8Array): string {
  let name = "";
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i] ?? 0;
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    try {
      name += strict.decode(bytes.subarray(i, i + length));
      i += length;
    } catch {
      name += String.fromCharCode(0xdc00 + lead);
      i += 1;
    }
  }
  return name;
}
