import { plainNode } from "./plain-node.ts";

/** Node's part of a guarded run. */
export function nodeGuard(
  { watched, programs }: Readonly<Record<"watched" | "programs", readonly string[]>>,
  mark: string,
  status: number,
): string {
  return `
import assert from "node:assert";
import asyncHooks from "node:async_hooks";
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { mock } from "node:test";
const watched = ${JSON.stringify(watched)};
const programs = ${JSON.stringify(programs)};
const main = process.argv[1] ?? "";
// A package manager is itself a program of Node, and loads no test.
if (!/(?:^|[/])(?:npm|npx|pnpm|yarn|corepack)[^/]*$/.test(main)) {
  try {
    writeFileSync(${JSON.stringify(mark)}, "");
  } catch {}
}
// What tests start as a program is no process of theirs.
const isMain = [...watched, ...programs].some((path) => main.endsWith("/" + path)) && !/[/]node_modules[/]/.test(main);
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
const holders = [];
const set = (target, name, value, enumerable = true) => {
  const holder = { [name]: value };
  holders[holders.length] = { target, name, holder };
  defineProperty(target, name, {
    configurable: true,
    enumerable,
    get: () => holder[name],
    set: (next) => {
      if (isReached()) fail();
      holder[name] = next;
    },
  });
};
// Node's own mocks want a plain member: they get the one behind.
const { prototype: tracker } = mock.constructor;
const { method } = tracker;
tracker.method = function (target, name, ...more) {
  for (let at = 0; at < holders.length; at += 1) {
    const one = holders[at];
    if (one.target !== target || one.name !== name || getOwnPropertyDescriptor(target, name)?.get === undefined) continue;
    if (isReached()) fail();
    return call(method, this, one.holder, name, ...more);
  }
  return call(method, this, target, name, ...more);
};
set(process, "reallyExit", (code) => ((code ?? 0) === 0 && isReached() ? fail() : call(real, process, code)));
set(process, "exit", (code) => ((code ?? process.exitCode ?? 0) == 0 && isReached() ? fail() : call(end, process, code)));
set(process, "abort", () => fail());
// What a test throws outside of its runner ends the process: a source that listens for it may tell of it, not swallow it.
const others = [];
for (const name of ["on", "once", "addListener", "prependListener", "prependOnceListener"]) {
  const listen = process[name];
  set(process, name, function (event, listener) {
    if (this !== process) return call(listen, this, event, listener);
    if (isReached()) {
      if (event === "unhandledRejection") return this;
      heard.push([event, listener]);
    } else if (event === "uncaughtException") others[others.length] = listener;
    return call(listen, this, event, listener);
  });
}
const { removeAllListeners } = process;
set(process, "removeAllListeners", function (...events) {
  if (this === process && (events[0] === undefined || /^(?:exit|uncaught)/.test(String(events[0]))) && isReached()) return this;
  return call(removeAllListeners, this, ...events);
});
let isSwallowed = false;
const monitor = () => {
  const all = call(rawListeners, process, "uncaughtException");
  for (let at = 0; at < all.length; at += 1)
    for (let other = 0; other < others.length; other += 1) if (all[at] === others[other] || all[at].listener === others[other]) return;
  if (all.length > 0 && !isMain) isSwallowed = true;
};
process.on("uncaughtExceptionMonitor", monitor);
// The first listener of all: what was reported until now can't be taken back by a later one.
process.on("exit", (code) => {
  const reported = process.exitCode ?? code;
  if ((reported ?? 0) != 0) call(real, process, reported);
  if (isSwallowed || call(rawListeners, process, "uncaughtExceptionMonitor")[0] !== monitor) fail();
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
