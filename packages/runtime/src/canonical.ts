import type { Json } from "@holdfast/protocol";

/** The JSON text of a value with its keys sorted: equal inputs give equal text. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, inner: Json) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
