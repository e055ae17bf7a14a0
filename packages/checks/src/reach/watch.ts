/**
 * A run that the sources under test can't change: Node's assertion library is frozen, Python's is compared at the end, and a
 * source that ends the tests' process with status 0 ends it with 86. Both are loaded by the interpreters themselves, before
 * anything of the workspace.
 */

/** The folder in a scratch copy that holds Python's part. */
export const watchFolder = ".holdfast-watch";
/** What a process ends with that a source had reached. */
export const status = 86;

export type Watched = "node" | "python";

/** A guarded run in a folder: what its interpreters are told, and the files by which they show that they were. */
export interface Guard {
  readonly watched: readonly string[];
  /** The folder in the copy, as the run sees it. */
  readonly folder: string;
  /** Nothing in the workspace knows it. */
  readonly nonce: string;
}

export function markOf({ nonce }: Pick<Guard, "nonce">, language: Watched): string {
  return `${nonce}.${language}`;
}

/** What Node is told; it holds nothing that a shell reads. */
export function nodeOption(guard: Guard): string {
  const code = encodeURIComponent(nodeGuard(guard.watched, `${guard.folder}/${markOf(guard, "node")}`));
  return `--import=data:text/javascript,${code.replace(/[!'()*~]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`;
}

/** `watched`: paths of changed sources, as the ends of absolute paths. */
export function watchEnvironment(guard: Guard): Readonly<Record<string, string>> {
  return {
    NODE_OPTIONS: nodeOption(guard),
    PYTHONPATH: guard.folder,
    // A source that asks for them knows that it is checked.
    PYTHONDONTWRITEBYTECODE: "",
    PYTHONPYCACHEPREFIX: "",
  };
}

function nodeGuard(watched: readonly string[], mark: string): string {
  return `
import assert from "node:assert";
import { writeFileSync } from "node:fs";
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
const isReached = () => {
  if (isMain) return false;
  const { stackTraceLimit, prepareStackTrace } = Trace;
  Trace.stackTraceLimit = 200;
  Trace.prepareStackTrace = undefined;
  const { stack } = new Trace();
  Trace.stackTraceLimit = stackTraceLimit;
  Trace.prepareStackTrace = prepareStackTrace;
  // Nothing here calls what a source may have replaced.
  for (let at = 0; at < watched.length; at += 1) if (call(includes, stack, "/" + watched[at])) return true;
  return false;
};
const fail = () => call(real, process, ${status});
const { defineProperty, getOwnPropertyDescriptor } = Object;
const { ownKeys } = Reflect;
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
