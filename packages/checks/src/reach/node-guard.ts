import { plainNode } from "./plain-node.ts";

/** Node's part of a guarded run. */
export function nodeGuard(watched: readonly string[], mark: string, status: number): string {
  return `
import assert from "node:assert";
import asyncHooks from "node:async_hooks";
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
const watched = ${JSON.stringify(watched)};
const main = process.argv[1] ?? "";
// A package manager is itself a program of Node, and loads no test.
if (!/(?:^|[/])(?:npm|npx|pnpm|yarn|corepack)[^/]*$/.test(main)) {
  try {
    writeFileSync(${JSON.stringify(mark)}, "");
  } catch {}
}
const isMain = watched.some((path) => main.endsWith("/" + path));
const real = process.reallyExit;
const end = process.exit;
const Trace = Error;
const includes = String.prototype.includes;
const call = Function.prototype.call.bind(Function.prototype.call);
const { defineProperty, getOwnPropertyDescriptor } = Object;
const { ownKeys } = Reflect;
const { rawListeners } = process;
${plainNode}
const isReached = () => {
  if (isMain) return false;
  const stack = look("text");
  // Nothing here calls what a source may have replaced.
  for (let at = 0; at < watched.length; at += 1) if (call(includes, stack, "/" + watched[at])) return true;
  return false;
};
const fail = () => call(real, process, ${status});
// Runners replace such a member, as their mocks do; a source that does reaches them.
const set = (target, name, value, enumerable = true) =>
  defineProperty(target, name, {
    configurable: true,
    enumerable,
    get: () => value,
    set: (next) => {
      if (isReached()) fail();
      value = next;
    },
  });
set(process, "reallyExit", (code) => ((code ?? 0) === 0 && isReached() ? fail() : call(real, process, code)));
set(process, "exit", (code) => ((code ?? process.exitCode ?? 0) == 0 && isReached() ? fail() : call(end, process, code)));
set(process, "abort", () => fail());
// What a test throws outside of its runner ends the process: a source that listens for it would swallow it.
for (const name of ["on", "once", "addListener", "prependListener", "prependOnceListener"]) {
  const listen = process[name];
  set(process, name, function (event, listener) {
    if (this === process && (event === "uncaughtException" || event === "unhandledRejection") && isReached()) return this;
    if (this === process && isReached()) heard.push([event, listener]);
    return call(listen, this, event, listener);
  });
}
// The first listener of all: what was reported until now can't be taken back by a later one.
process.on("exit", (code) => {
  const reported = process.exitCode ?? code;
  if ((reported ?? 0) != 0) call(real, process, reported);
});
for (const one of [assert, assert.strict, assert.AssertionError, assert.AssertionError.prototype]) Object.freeze(one);
// What tests compare with besides: no source replaces a member of these, under whatever name it has them.
const objects = [JSON, Math, Reflect, Object, Array, Number, String, Promise];
const prototypes = [Object, Array, Number, String, Boolean, Function, Map, Set, Promise, RegExp, Date, Error].map((one) => one.prototype);
const kept = new Set([process, ...objects, ...prototypes]);
for (const define of ["defineProperty", "defineProperties", "setPrototypeOf"])
  for (const holder of [Object, Reflect]) {
    const real = holder[define];
    if (real === undefined) continue;
    holder[define] = function (target, ...more) {
      if (kept.has(target) && isReached()) fail();
      return call(real, this, target, ...more);
    };
  }
const traps = [];
for (const one of objects)
  for (const name of ownKeys(one)) {
    const was = getOwnPropertyDescriptor(one, name);
    // Tests put chance aside, and their libraries read the descriptor for it.
    if (typeof was.value !== "function" || !was.configurable || name === "random") continue;
    set(one, name, was.value, was.enumerable);
    traps.push([one, name]);
  }
const members = prototypes.flatMap((one) => [...ownKeys(one), "toJSON"].map((name) => [one, name, getOwnPropertyDescriptor(one, name)?.value]));
process.on("exit", () => {
  if (isMain) return;
  // Deleted first, it could be set anew.
  for (let at = 0; at < traps.length; at += 1) if (getOwnPropertyDescriptor(traps[at][0], traps[at][1])?.get === undefined) fail();
  for (let at = 0; at < members.length; at += 1) {
    const member = members[at];
    if (getOwnPropertyDescriptor(member[0], member[1])?.value !== member[2]) fail();
  }
});
`;
}
