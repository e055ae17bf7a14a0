import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { Validator } from "@cfworker/json-schema";
import type { Json } from "@holdfast/protocol";
import type { Bounded } from "@holdfast/runtime";
import { draftOf, isObject } from "./draft.ts";

const mostProblems = 10;
/** Longest text of one problem, in UTF-16 units. */
const longestProblem = 300;

/**
 * What keeps a text from being JSON that is valid under the schema, for whoever wrote it; empty where it is. A schema may hold
 * patterns, and `bounded` ends one that takes too long.
 */
export function answerProblems(schema: Json, text: string, bounded: Bounded = (work) => ({ value: work() })): string[] {
  if (text.trim() === "") return ["there is no answer"];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const isFenced = text.trimStart().startsWith("```");
    return [shortened(isFenced ? "it stands in a code fence; only the JSON itself is wanted" : `it is not JSON: ${String(error)}`)];
  }
  const draft = isObject(schema) ? draftOf(schema) : "2020-12";
  // The validator writes into the schema it is given.
  const copy = structuredClone(schema) as Schema | boolean;
  const found = bounded(() => new Validator(copy, draft ?? "2020-12", false).validate(value));
  if (found === null) return ["not judged: holding it against the schema took too long, as a pattern of the schema may"];
  const { errors } = found.value;
  const problems = errors.filter((error) => isLeaf(error, errors)).map(describe);
  const shown = [...new Set(problems)];
  return shown.length <= mostProblems ? shown : [...shown.slice(0, mostProblems), `and ${shown.length - mostProblems} more`];
}

/** An error that only says that something below it has one says nothing by itself. */
function isLeaf(error: OutputUnit, errors: readonly OutputUnit[]): boolean {
  return !errors.some((other) => other !== error && other.keywordLocation.startsWith(`${error.keywordLocation}/`));
}

function describe({ instanceLocation, keyword, error }: OutputUnit): string {
  const place = instanceLocation === "#" ? "the whole" : instanceLocation.slice(1);
  return shortened(`${place}: ${keyword === "false" ? "not allowed here" : error.replace(/^Instance /, "")}`);
}

function shortened(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, longestProblem).toWellFormed()}…`;
}
