/** Turns texts into vectors that lie close where the texts mean the same. Optional everywhere: what uses it works without. */
export interface Embedder {
  /** One vector a text, all of one length, each of length 1. May throw; the caller then does without. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
