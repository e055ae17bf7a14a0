/** `String.fromCharCode` takes its bytes as arguments, and engines bound how many; a multiple of 3 keeps base64 joinable. */
const slice = 3 * 8192;

/** Base64 of the bytes, by Web standards alone. */
export function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += slice) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + slice))));
  return parts.join("");
}

/** A `data:` URL of the bytes. */
export function dataUrl(bytes: Uint8Array, mediaType: string): string {
  return `data:${mediaType};base64,${base64(bytes)}`;
}
