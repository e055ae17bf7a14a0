/**
 * What Node's part of a guarded run tells a source of its surroundings: no more than a plain program is told. Where it
 * stands, `watched`, `isMain`, `Trace`, `call` and `defineProperty` are defined; `look` gives the guard the stack as it is.
 */
export const plainNode = `
let prepare = Trace.prepareStackTrace;
let looks = null;
const look = (as) => {
  const { stackTraceLimit } = Trace;
  Trace.stackTraceLimit = 200;
  looks = as;
  const { stack } = new Trace();
  looks = null;
  Trace.stackTraceLimit = stackTraceLimit;
  return stack;
};
const fileOf = (frame) => (frame.getFileName() ?? "").replace(/[?].*/, "");
// A library asks for whoever calls it.
const isLibrary = (file) => file === "" || /^(?:node|data|evalmachine)|[/]node_modules[/]/.test(file);
const isSource = (file) => watched.some((path) => file.endsWith("/" + path));
const write = (error, frames) => {
  let text = "Error";
  try {
    text = String(error);
  } catch {}
  return text + frames.map((frame) => "\\n    at " + frame).join("");
};
// A source's stack ends where the first source was called; below it lies what lies below every program.
let program = [];
const asPlain = (frames) => {
  let last = -1;
  for (let at = 0; at < frames.length; at += 1) {
    const file = fileOf(frames[at]);
    if (isSource(file)) last = at;
    else if (!isLibrary(file)) break;
  }
  return last < 0 || isMain ? frames : [...frames.slice(0, last + 1), ...program];
};
const trace = (error, frames) => {
  if (looks === "frames") return frames;
  const seen = asPlain(frames);
  return typeof prepare === "function" ? call(prepare, Trace, error, seen) : write(error, seen);
};
// Node alone gets it: whoever else asks sees what was set, to call it, to hold it against another, or to set it anew.
const { captureStackTrace } = Trace;
const isForNode = (getter) => {
  const { stackTraceLimit } = Trace;
  const caller = {};
  Trace.stackTraceLimit = 1;
  looks = "text";
  call(captureStackTrace, Trace, caller, getter);
  const { stack } = caller;
  looks = null;
  Trace.stackTraceLimit = stackTraceLimit;
  return call(includes, stack, "node:internal/errors");
};
defineProperty(Trace, "prepareStackTrace", {
  get: function asked() {
    if (looks !== null) return looks === "text" ? undefined : trace;
    return isForNode(asked) ? trace : prepare;
  },
  set: (next) => {
    prepare = next;
  },
});
program = look("frames").filter((frame) => fileOf(frame).startsWith("node:"));
const isAsked = () => {
  if (isMain) return false;
  const first = look("frames").find((frame) => !isLibrary(fileOf(frame)));
  return first !== undefined && isSource(fileOf(first));
};
// Numbers of asynchronous work, each its own, and none larger than the first of a program.
const numbers = new Map();
const numberOf = (id) => {
  if (!numbers.has(id)) numbers.set(id, 1 - numbers.size);
  return numbers.get(id);
};
const numbered = (holder, name) => {
  const ask = holder[name];
  holder[name] = function () {
    const id = call(ask, this);
    return isAsked() ? numberOf(id) : id;
  };
};
for (const name of ["executionAsyncId", "triggerAsyncId"]) numbered(asyncHooks, name);
for (const name of ["asyncId", "triggerAsyncId"]) numbered(asyncHooks.AsyncResource.prototype, name);
const { createHook } = asyncHooks;
asyncHooks.createHook = (hooks) => {
  if (!isAsked()) return createHook(hooks);
  const told = {};
  for (const name of ownKeys(hooks)) {
    const hook = hooks[name];
    told[name] = typeof hook !== "function" ? hook : (id, type, from, ...more) =>
      name === "init" ? call(hook, hooks, numberOf(id), type, numberOf(from), ...more) : call(hook, hooks, numberOf(id));
  }
  return createHook(told);
};
// A machine has more than itself to talk to; whoever listens there is heard.
const { networkInterfaces } = os;
os.networkInterfaces = () => {
  const found = networkInterfaces();
  const isAlone = Object.values(found).every((ones) => ones.every(({ internal }) => internal));
  if (!isAlone || !isAsked()) return found;
  const address = "127.0.0.2";
  const one = { address, netmask: "255.255.255.0", family: "IPv4", mac: "02:42:ac:11:00:02", internal: false, cidr: address + "/24" };
  return { ...found, eth0: [one] };
};
syncBuiltinESMExports();
// A runner's own listeners, and its way to talk to its workers.
const heard = [];
const isHeard = (event, listeners) => heard.filter((one) => one[0] === event && (listeners === null || listeners.includes(one[1])));
for (const name of ["listeners", "rawListeners", "listenerCount", "eventNames"]) {
  const ask = process[name];
  defineProperty(process, name, {
    configurable: true,
    value: function (event, ...more) {
      const found = call(ask, this, event, ...more);
      if (this !== process || !isAsked()) return found;
      if (name === "eventNames") return found.filter((one) => isHeard(one, null).length > 0);
      const own = isHeard(event, call(rawListeners, process, event)).map((one) => one[1]);
      return name === "listenerCount" ? own.length : own;
    },
  });
}
for (const name of ["send", "connected", "channel"]) {
  if (process[name] === undefined) continue;
  let value = process[name];
  defineProperty(process, name, { configurable: true, get: () => (isAsked() ? undefined : value), set: (next) => (value = next) });
}
`;
