import { z } from "zod";

/** Where content came from and what it may influence, highest first. What is derived takes the lowest. */
export const trustLabels = ["system", "user", "project", "tool", "untrusted"] as const;
export const trustLabel = z.enum(trustLabels);
export type TrustLabel = z.infer<typeof trustLabel>;

export function lowestTrust(...labels: readonly TrustLabel[]): TrustLabel {
  return labels.reduce((low, label) => (trustLabels.indexOf(label) > trustLabels.indexOf(low) ? label : low), "system");
}
