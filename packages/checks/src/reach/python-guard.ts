import { pythonCompared } from "./python-compared.ts";
import { plainPython } from "./plain-python.ts";
import { status } from "./watch.ts";

/**
 * Python's part of a guarded run. A source that ends the process with status 0, through whatever name it has for that, ends
 * it with 86, and so does a comparison of its own that is equal to everything. What it raises to end the process and a test
 * catches is none of that: only the interpreter itself reads a status with no code around it.
 */
export function pythonGuard(watched: readonly string[], compared: readonly string[] = []): string {
  return `import atexit, builtins, functools, gc, os, sys, unittest
from unittest import case, loader, result, runner, suite

_watched = ${JSON.stringify(watched)}
_exit = os._exit
_getpid = os.getpid
_pid = os.getpid()
_main = sys.argv[0] if sys.argv else ""
_module = ""
if _main == "-m":
    _words = getattr(sys, "orig_argv", [])
    _at = next((at for at, word in enumerate(_words) if word.startswith("-m")), 0)
    _module = "".join(_words[_at:_at + 2])[2:] if _words[_at:_at + 1] == ["-m"] else "".join(_words[_at:_at + 1])[2:]
    _module = _module.replace(".", "/")


def _is_at(name, path):
    return name == path or name.endswith("/" + path)


_is_main = any(_is_at(_main, path) or path in (_module + ".py", _module + "/__main__.py") for path in _watched)
# Parts of the program that the command itself starts may end it.
_is_program = _is_main or (_module != "" and any(path.startswith(_module + "/") for path in _watched))


def _is_watched(code):
    return any(_is_at(code.co_filename, path) for path in _watched)


def _is_reached(frame):
    while frame is not None:
        if _is_watched(frame.f_code):
            return not _is_main
        frame = frame.f_back
    return False

${plainPython}

def _guarded(code):
    _exit(${status} if code == 0 and _getpid() == _pid and _is_reached(sys._getframe(1)) else code)


os._exit = _guarded
for _name in ("posix", "nt"):
    if _name in sys.modules:
        sys.modules[_name]._exit = _guarded


def _audit(event, args):
    if event == "os.exec" and _getpid() == _pid and _is_reached(sys._getframe(1)):
        _exit(${status})


sys.addaudithook(_audit)
_Exit = SystemExit


class _SystemExit(_Exit):
    """Read by nobody's code, its status is the one that the process ends with."""

    def __init__(self, *args):
        super().__init__(*args)
        self._is_reached = not _is_program and _is_reached(sys._getframe(1))

    @property
    def code(self):
        status = _Exit.code.__get__(self)
        if self._is_reached and status in (None, 0) and sys._getframe(0).f_back is None:
            _exit(${status})
        return status

    @code.setter
    def code(self, status):
        _Exit.code.__set__(self, status)


_SystemExit.__name__ = _SystemExit.__qualname__ = "SystemExit"
_SystemExit.__module__ = "builtins"
builtins.SystemExit = _SystemExit


def _ends(status=None, /):
    raise _SystemExit(status)


sys.exit = _ends


class _Other:
    pass


def _others(value):
    yield _Other()
    if isinstance(value, (int, float)):
        yield value + 1
        yield value + 7
    if isinstance(value, str):
        yield value + "x"


def _is_equal_to_all(compare, one, value):
    def holds(other):
        try:
            found = compare(one, other)
            # It leaves it to the other, which knows nothing of it.
            return found is not NotImplemented and bool(found)
        except Exception:
            return False

    other, *like = _others(value)
    return holds(other) or (len(like) > 0 and all(holds(each) for each in like))


def _held(compare):
    @functools.wraps(compare)
    def held(self, other):
        found = compare(self, other)
        if found is not NotImplemented and not isinstance(other, _Other):
            try:
                is_equal = bool(found)
            except Exception:
                is_equal = False
            if is_equal and _is_equal_to_all(compare, self, other):
                _exit(${status})
        return found

    held._is_held = True
    return held


_build_class = builtins.__build_class__


def _build(body, *rest, **words):
    made = _build_class(body, *rest, **words)
    if isinstance(made, type) and _is_watched(body.__code__):
        for name in ("__eq__", "__contains__"):
            compare = made.__dict__.get(name)
            if hasattr(compare, "__code__"):
                setattr(made, name, _held(compare))
    return made


builtins.__build_class__ = _build


def _says_equal_unheld():
    """Whether a class got its comparison later, or was made in another way, and is equal to everything."""
    kinds, seen = [object], set()
    while kinds:
        kind = kinds.pop()
        if kind in seen:
            continue
        seen.add(kind)
        kinds.extend(type.__subclasses__(kind))
        compare = kind.__dict__.get("__eq__")
        if not hasattr(compare, "__code__") or hasattr(compare, "_is_held") or not _is_watched(compare.__code__):
            continue
        ones = [one for one in gc.get_objects() if type(one) is kind][:20]
        for arguments in ((), (1,), ("1",)):
            try:
                ones.append(kind(*arguments))
            except Exception:
                continue
        if any(_is_equal_to_all(compare, one, value) for one in ones for value in (1, "1")):
            return True
    return False

${pythonCompared(compared, status)}

_equal = unittest.TestCase.assertEqual



def _assert_equal(self, first, second, msg=None):
    for other in _others(second):
        try:
            is_any = bool(first == other)
        except Exception:
            is_any = False
        if is_any and type(first) not in (int, float, bool, complex):
            _exit(${status})
    _equal(self, first, second, msg)


unittest.TestCase.assertEqual = _assert_equal
_classes = [unittest.TestCase, result.TestResult, runner.TextTestResult, runner.TextTestRunner, suite.TestSuite, suite.BaseTestSuite, loader.TestLoader, unittest.TestProgram, case._Outcome]
_kept = [(one, {name: value for name, value in one.__dict__.items() if callable(value)}) for one in _classes]



@atexit.register
def _compare():
    if sys.exit is not _ends or os._exit is not _guarded or _says_equal_unheld():
        _exit(${status})
    for one, kept in _kept:
        for name, value in kept.items():
            if one.__dict__.get(name) is not value:
                _exit(${status})
`;
}
