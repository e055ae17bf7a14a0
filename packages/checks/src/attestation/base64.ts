/** Bytes turned into text in pieces that fit on the stack. */
const piece = 0x8000;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += piece) binary += String.fromCharCode(...bytes.subarray(at, at + piece));
  return btoa(binary);
}

/**
 * RFC 4648 with padding, in the standard or the URL-safe alphabet, as DSSE allows; null for anything that more than one text
 * could stand for: blanks, a mixture of alphabets, left-over bits.
 */
export function fromBase64(text: string): Uint8Array | null {
  const isUrlSafe = /[-_]/.test(text);
  if (isUrlSafe && /[+/]/.test(text)) return null;
  const standard = isUrlSafe ? text.replaceAll("-", "+").replaceAll("_", "/") : text;
  if (standard.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(standard)) return null;
  const binary = atob(standard);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return toBase64(bytes) === standard ? bytes : null;
}
