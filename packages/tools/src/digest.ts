/** Hex SHA-256. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  // The copy gives the bytes a buffer of their own, which Web Crypto asks for.
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
