/** Secret values the process holds (API keys…). They go to the wire that needs them and nowhere else. */
export interface SecretStore {
  get(name: string): Promise<{ readonly value: string; readonly expiresAt: number | null } | null>;
  /** Every value held, for redaction. */
  values(): readonly string[];
}
