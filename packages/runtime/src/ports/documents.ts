/** A piece of a document, with where it stands: lines from 1 on. */
export interface DocumentChunk {
  readonly line: number;
  readonly endLine: number;
  /** The headings that it stands under, the widest first; "" above the first. */
  readonly heading: string;
  readonly text: string;
}

/** A document as an index knows it. `stamp` says whether its file may have changed, `digest` whether its content has. */
export interface KnownDocument {
  readonly path: string;
  readonly stamp: string;
  readonly digest: string;
  /** False where only its beginning was taken in. */
  readonly isWhole: boolean;
}

export interface FoundChunk extends DocumentChunk {
  readonly path: string;
  readonly isWhole: boolean;
  /** Higher is better; comparable within one search. */
  readonly score: number;
}

/** The full text of a folder's documents, kept from one session to the next. It can be made again from the files at any time. */
export interface DocumentIndex {
  known(): readonly KnownDocument[];
  /** All of it or nothing; a document of the same path is replaced. */
  put(documents: readonly (KnownDocument & { readonly chunks: readonly DocumentChunk[] })[]): void;
  /** The content is as it was. */
  touch(path: string, stamp: string): void;
  remove(paths: readonly string[]): void;
  /** Pieces that hold some of the words, best first. */
  search(words: readonly string[], limit: number): FoundChunk[];
  /** Pieces that have no vector yet, at most so many. */
  unembedded(limit: number): readonly { readonly id: number; readonly text: string }[];
  embed(vectors: readonly { readonly id: number; readonly vector: Float32Array }[]): void;
  /** Pieces whose vectors are nearest, best first. */
  nearest(vector: Float32Array, limit: number): FoundChunk[];
  close(): void;
}
