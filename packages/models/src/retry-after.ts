/**
 * Milliseconds that the server asks to wait, from `retry-after-ms` or `Retry-After` (RFC 9110, 10.2.3: seconds or an
 * HTTP date). Null where there is none, it can't be read, or it has passed: then the caller's own back-off holds.
 * A date is measured against the server's own `Date`, so that a wrong local clock doesn't matter.
 */
export function retryAfterMs(headers: { get(name: string): string | null }, now: number): number | null {
  return positive(decimal(headers.get("retry-after-ms"), 1)) ?? after(headers.get("retry-after"), headers.get("date"), now);
}

function after(value: string | null, date: string | null, now: number): number | null {
  const seconds = decimal(value, 1000);
  if (seconds !== null) return positive(seconds);
  const until = httpDate(value);
  return until === null ? null : positive(until - (httpDate(date) ?? now));
}

function decimal(value: string | null, unit: number): number | null {
  return value !== null && /^\d{1,12}(\.\d+)?$/.test(value.trim()) ? Math.ceil(Number(value) * unit) : null;
}

/** The three forms of RFC 9110, 5.6.7; all begin with the day's name. The oldest names no zone and means GMT. */
function httpDate(value: string | null): number | null {
  if (value === null || !/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return null;
  const at = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(at) ? null : at;
}

function positive(ms: number | null): number | null {
  return ms !== null && ms > 0 ? ms : null;
}
