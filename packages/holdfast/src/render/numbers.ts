/** `850 ms`, `1.2 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

/** `950`, `12.3k`, `4.56M`. */
export function count(value: number): string {
  if (value < 10_000) return String(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(2)}M`;
}

export function dollars(value: number | null): string {
  return value === null ? "unknown" : `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

/** `2026-11-29 16:40` in UTC: the same on every machine that reads the log. */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`;
}

/** `950 B`, `12.3 kB`, `4.6 MB`: each a thousand of the one before. */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const power = Math.min(4, Math.floor(Math.log10(value) / 3));
  return `${(value / 1000 ** power).toFixed(1)} ${["", "kB", "MB", "GB", "TB"][power]}`;
}
