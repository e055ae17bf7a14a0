/** `String.fromCharCode` takes its bytes as arguments, and engines bound how many; a multiple of 3 keeps base64 joinable. */
const slice = 3 * 8192;

/** A `data:` URL of the bytes, by Web standards alone. */
export function dataUrl(bytes: Uint8Array, mediaType: string): string {
  const parts = [`data:${mediaType};base64,`];
  for (let at = 0; at < bytes.length; at += slice) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + slice))));
  return parts.join("");
}
