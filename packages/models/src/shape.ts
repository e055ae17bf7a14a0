/** Reading foreign JSON without trusting its shape: each function gives what was asked for, or null. */

export type Shape = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): Shape | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Shape) : null;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text; a number as its digits, since error codes come as both. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : null;
}

/** A whole number of tokens; null for anything else. */
export function asCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}

/** `undefined` where it is no JSON. */
export function parseJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}
