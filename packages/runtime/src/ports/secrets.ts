/** Secret values the process holds (API keys…). They go to the wire that needs them and nowhere else. */
export interface SecretStore {
  /** `hosts`: where a call may send it, in the syntax of `Reach`. Without any it is no call's to use. */
  get(name: string): Promise<{ readonly value: string; readonly expiresAt: number | null; readonly hosts?: readonly string[] } | null>;
  /** Every value held, for redaction. */
  values(): readonly string[];
}
