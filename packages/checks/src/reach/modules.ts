/** Python's own modules whose members tests compare with, count by or call. */
const own =
  "abc|array|ast|asyncio|base64|binascii|bisect|calendar|cmath|collections|concurrent|contextlib|copy|dataclasses|datetime|decimal|difflib|doctest|enum|filecmp|fnmatch|fractions|functools|glob|gzip|hashlib|heapq|hmac|html|http|importlib|inspect|io|itertools|json|locale|logging|math|numbers|operator|os|pathlib|pickle|pprint|queue|random|re|secrets|shlex|shutil|socket|sqlite3|statistics|string|struct|subprocess|sys|tempfile|textwrap|threading|time|timeit|tokenize|traceback|types|typing|unicodedata|urllib|uuid|warnings|weakref|xml|zipfile|zlib";
/** What programs set there for themselves. */
const settings =
  /^(?:raiseExceptions|logThreads|logProcesses|logMultiprocessing|stdout|stderr|stdin|path|ps[12]|pycache_prefix|tracebacklimit|argv|environ|tempdir|timeout)$/;

/** Whether new lines of a Python source replace a member of a module that all programs share: `import math as m; m.isclose = …`. */
export function setsModule(path: string, text: string, is: string): boolean {
  if (!/\.pyi?$/.test(path)) return false;
  const names = new Map<string, string>();
  for (const [, list = ""] of is.matchAll(/^\s*import\s+([^\n#]+)/gm)) {
    for (const part of list.split(",")) {
      const [, module = "", name = module] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
      names.set(name, module);
    }
  }
  for (const [, module = "", list = ""] of is.matchAll(/^\s*from\s+([\w.]+)\s+import\s+\(?([^()#]+)/gm)) {
    // A class of such a module is all programs', too.
    for (const [, name = "", as = name] of list.matchAll(/(\w+)(?:\s+as\s+(\w+))?/g)) if (/^_*[A-Z]/.test(name)) names.set(as, module);
  }
  const isOwn = new RegExp(`^(?:${own})(?:\\.|$)`);
  return [...text.matchAll(/^\s*(\w+)(?:\.\w+)*\.(\w+)\s*=(?!=)/gm)].some(
    ([, name = "", member = ""]) => isOwn.test(names.get(name) ?? "") && !settings.test(member),
  );
}
