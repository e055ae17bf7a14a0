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
  const age = ageOf(answer.headers, clock.now());
  if (freshWithinMs !== null && age === null) problems.push(`${url}: the answer doesn't say when it was made`);
  else if (freshWithinMs !== null && age !== null && age > freshWithinMs)
    problems.push(`${url}: the answer is ${Math.round(age / 1000)} s old`);
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

/** RFC 9110, 6.6.1 (Date) and RFC 9111, 5.1 (Age), in ms; null where the answer tells neither. */
function ageOf(headers: readonly (readonly [string, string])[], now: number): number | null {
  const of = (name: string): string | undefined => headers.find(([known]) => known === name)?.[1];
  const date = Date.parse(of("date") ?? "");
  const age = Number(of("age") ?? "0") * 1000;
  return Number.isNaN(date) ? null : Math.max(0, now - date) + (Number.isNaN(age) ? 0 : age);
}
