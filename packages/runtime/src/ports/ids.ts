/** The only source of ids and randomness. */
export interface Ids {
  /** A new id, `prefix_` and at least 80 random bits; sorts roughly by time. */
  next(prefix: string): string;
  /** `bytes` random bytes in hex. */
  salt(bytes: number): string;
  /** A number in [0, 1) for jitter. */
  random(): number;
}
