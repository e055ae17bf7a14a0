import { groupsOf } from "./statements.ts";
import { closing, isOpening } from "./tokens.ts";
import type { Token } from "./token.ts";

const grouping = /^(?:describe|context|suite|Describe|Context|When|feature)$/;
const naming = /^(?:class|mod|module|namespace|object|defmodule)$/;
const modifiers = /^(?:final|sealed|open|await|void|return|export|default)$/;

/** What stands around a body and is more than the form of a function: `async`, one name for an argument, an arrow. */
export function headOf(tokens: readonly Token[], body: readonly [from: number, end: number] = [0, 0]): Token[] {
  const dropped = new Set<number>();
  const outside = outsideOf(tokens);
  for (const at of outside) {
    const { text = "", isString = false } = tokens[at] ?? {};
    if (isString) continue;
    if (text === "async" || text === ",") dropped.add(at);
    // One with a name runs where it is called.
    if (text === "function" && tokens[at + 1]?.text === "(") {
      dropped.add(at);
      dropOne(tokens, at + 1, dropped);
    }
    if (text === "=" && tokens[at + 1]?.text === ">") {
      for (const index of [at, at + 1]) dropped.add(index);
      if (tokens[at - 1]?.text === ")") dropOne(tokens, outside.findLast((index) => index < at - 1) ?? at, dropped, at);
      else dropped.add(at - 1);
    }
  }
  return tokens.filter((_, at) => !dropped.has(at) && !(body[0] <= at && at < body[1]));
}

/** Brackets with one name or none in them. */
function dropOne(tokens: readonly Token[], from: number, dropped: Set<number>, end?: number): void {
  const open = tokens[from]?.text === "(" ? from : -1;
  const close = open < 0 ? -1 : closing(tokens, open);
  const inside = tokens.slice(open + 1, close - 1);
  if (open < 0 || (end !== undefined && close !== end) || inside.length > 1 || inside.some(({ text }) => !/^[\w$]+$/.test(text))) return;
  for (let at = open; at < close; at += 1) dropped.add(at);
}

/** Indices that stand in no bracket, and those of the brackets that open there. */
function outsideOf(tokens: readonly Token[]): number[] {
  const indices: number[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    indices.push(at);
    if (token !== undefined && isOpening(token)) at = closing(tokens, at) - 1;
  }
  return indices;
}

/** What around tests is more than a group's name. `isOpen`: whether runners find what is not public. */
export function contextOf(tokens: readonly Token[], isOpen: boolean): Token[] {
  const head = headOf(withoutBrackets(tokens));
  const outside = new Set(outsideOf(head));
  const dropped = new Set<number>();
  let isGroup = false;
  for (const at of outside) {
    const { text = "", isString = false } = head[at] ?? {};
    const [before, next] = [head[at - 1]?.text, head[at + 1]?.text];
    if (isString) {
      // Words that describe; a value behind a key is one of its options.
      if ((isGroup || isFirst(dropped, at)) && !/^[:=>]$/.test(before ?? "")) dropped.add(at);
      continue;
    }
    if (modifiers.test(text) || (isOpen && text === "public") || (at === head.length - 1 && /^(?:do|:)$/.test(text))) dropped.add(at);
    else if (grouping.test(text) && next !== ".") {
      isGroup = true;
      dropped.add(at);
      if (before === ".") for (const index of [at - 2, at - 1]) dropped.add(index);
    } else if (naming.test(text)) dropName(head, at, dropped);
    else if (text === "#" && isTestOnly(head, at)) for (let index = at; index < at + 7; index += 1) dropped.add(index);
    else if (text === "var" && next === "_" && head[at + 2]?.text === "=") for (const index of [at, at + 1, at + 2]) dropped.add(index);
  }
  return head.filter((_, at) => !dropped.has(at));
}

/** Whether all that stands before in the head is dropped, too. */
function isFirst(dropped: ReadonlySet<number>, at: number): boolean {
  for (let index = 0; index < at; index += 1) if (!dropped.has(index)) return false;
  return true;
}

function isTestOnly(tokens: readonly Token[], at: number): boolean {
  const words = ["#", "[", "cfg", "(", "test", ")", "]"];
  return words.every((word, index) => tokens[at + index]?.text === word);
}

/** `class A`, `class A()`, `module A::B`, `namespace a.b`; what it is made of stays. */
function dropName(tokens: readonly Token[], from: number, dropped: Set<number>): void {
  let at = from + 1;
  while (/^(?:\.|:)$/.test(tokens[at + 1]?.text ?? "") && /^[\w$:]+$/.test(tokens[at + 2]?.text ?? "")) {
    const isPath = tokens[at + 1]?.text === "." || tokens[at + 2]?.text === ":";
    if (!isPath) break;
    at += tokens[at + 1]?.text === "." ? 2 : 3;
  }
  for (let index = from; index <= at; index += 1) dropped.add(index);
  if (tokens[at + 1]?.text === "(" && tokens[at + 2]?.text === ")") for (const index of [at + 1, at + 2]) dropped.add(index);
}

/** `describe("a", :slow) do`: its brackets are no others than a space is. */
function withoutBrackets(tokens: readonly Token[]): readonly Token[] {
  const [from, end] = groupsOf(tokens)[0] ?? [0, 0];
  return grouping.test(tokens[from - 1]?.text ?? "") && tokens[from]?.text === "("
    ? tokens.filter((_, at) => at !== from && at !== end - 1)
    : tokens;
}
