/** Large content by address: SHA-256 over a salt of the store and the bytes, so that an id tells nobody the content. */
export interface BlobStore {
  /** Durable when it resolves. The same bytes give the same id. */
  put(bytes: Uint8Array): Promise<string>;
  /** Null where it is missing or was erased. */
  get(id: string): Promise<Uint8Array | null>;
  has(id: string): Promise<boolean>;
  /** Bytes of the content; 0 where it is missing. */
  size(id: string): Promise<number>;
  delete(id: string): Promise<void>;
  /**
   * Deletes blobs that `referenced` doesn't name and that were not put within `graceMs`; of `among` alone where it is given.
   * Returns how many.
   */
  collect(referenced: ReadonlySet<string>, graceMs: number, among?: ReadonlySet<string>): Promise<number>;
}
