export interface Signer {
  readonly keyId: string;
  /** Ed25519 over the UTF-8 bytes of `text`; base64. */
  sign(text: string): Promise<string>;
  /** Whether this signer's key signed `text` so. */
  verify(text: string, signature: string): Promise<boolean>;
}

/** Public keys that count here. */
export interface KnownKeys {
  /** Whether the key of this id signed `text` so; null where no such key is known. */
  verify(keyId: string, text: string, signature: string): Promise<boolean | null>;
}
