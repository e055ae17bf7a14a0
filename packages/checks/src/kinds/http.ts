import type { HttpCheck, Json } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { CheckKind } from "../verifier-input.ts";
import { finding } from "./kind.ts";

const mostBytes = 4 * 1024 * 1024;

/** Asks an address and holds its answer against a definition. It reaches what a person named: loopback and their own network too. */
export const checkHttp: CheckKind<HttpCheck> = async ({ network, clock }, check, _baseline, _context, signal) => {
  if (network === undefined) return { passed: false, says: "there is no network here to ask it over" };
  const { url, status, json, freshWithinMs, timeoutMs } = check;
  let answer: Awaited<ReturnType<typeof network.exchange>>;
  try {
    const { host } = new URL(url);
    answer = await network.exchange(
      {
        url,
        method: "GET",
        headers: [["cache-control", "no-cache"]],
        body: null,
        reach: { isOpen: false, hosts: [host] },
        timeoutMs,
        maxBytes: mostBytes,
        maxRedirects: 0,
      },
      signal,
    );
  } catch (error) {
    if (!isHoldfastError(error) || signal.aborted) throw error;
    return { passed: false, says: `${url}: ${error.message}` };
  }
  const problems: string[] = [];
  if (answer.status !== status) problems.push(`${url}: status ${answer.status} instead of ${status}`);
  const text = new TextDecoder().decode(answer.body);
  if (json.length > 0) {
    const value = parsed(text);
    if (value === undefined) problems.push(`${url}: the answer is no JSON`);
    else {
      for (const { path, equals } of json) {
        const found = valueAt(value, path);
        if (JSON.stringify(found) !== JSON.stringify(equals))
          problems.push(`${url}: ${path} is ${JSON.stringify(found) ?? "not there"} instead of ${JSON.stringify(equals)}`);
      }
    }
  }
  const stale = freshWithinMs === null ? null : whyStale(answer.headers, clock.now(), freshWithinMs);
  if (stale !== null) problems.push(`${url}: the answer ${stale}`);
  return { ...finding(problems, `${url} answers as wanted, with status ${answer.status}`), observed: `${answer.status}\n${text}` };
};

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** `items.0.name`; an empty path is the whole. */
export function valueAt(value: Json, path: string): Json | undefined {
  let at: Json | undefined = value;
  for (const part of path === "" ? [] : path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[part];
  }
  return at;
}

/** So far two clocks may be apart. */
const clocksApartMs = 60_000;

/**
 * Why an answer is not known to be fresh, by RFC 9110, 6.6.1 (Date) and RFC 9111, 5.1 (Age); null where it is. By a clock that
 * goes further ahead than what counts as fresh, its age can't be told.
 */
function whyStale(headers: readonly (readonly [string, string])[], now: number, withinMs: number): string | null {
  const of = (name: string): string | undefined => headers.find(([known]) => known === name)?.[1];
  const date = Date.parse(of("date") ?? "");
  const age = (of("age") ?? "0").trim();
  if (Number.isNaN(date)) return "doesn't say when it was made";
  if (!/^\d+$/.test(age)) return `doesn't say how old it is: its Age is ${JSON.stringify(age.slice(0, 40))}`;
  const ahead = date - now;
  if (ahead > Math.min(withinMs, clocksApartMs)) return `is dated ${Math.round(ahead / 1000)} s in the future: how old it is can't be told`;
  const old = Math.max(0, -ahead) + Number(age) * 1000;
  return old > withinMs ? `is ${Math.round(old / 1000)} s old` : null;
}
