/**
 * What Python's part of a guarded run tells a source of its surroundings: no more than a plain program is told. It stands
 * where `_is_watched` and `_is_program` are defined.
 */
export const plainPython = `
import io, logging, types


def _asks(frame):
    return not _is_program and _is_watched(frame.f_code)


def _is_runners(value):
    return type(value).__module__.partition(".")[0] in ("_pytest", "pytest", "pytest_asyncio", "xdist", "execnet", "nose2")


class _Handlers:
    """Of a log, those that no runner of tests put there."""

    def __get__(self, logger, owner=None):
        if logger is None:
            return self
        handlers = logger.__dict__["handlers"]
        frame = sys._getframe(1)
        if frame.f_code.co_name == "hasHandlers" and frame.f_back is not None:
            frame = frame.f_back
        plain = [one for one in handlers if not _is_runners(one)]
        return plain if len(plain) < len(handlers) and _asks(frame) else handlers

    def __set__(self, logger, handlers):
        logger.__dict__["handlers"] = handlers


logging.Logger.handlers = _Handlers()


class _Through(io.RawIOBase):
    """What is written goes where the runner takes it."""

    mode = "wb"

    def __init__(self, kind):
        self._kind = kind
        self.name = "<" + kind + ">"

    def writable(self):
        return True

    def write(self, data):
        real = sys.__dict__[self._kind]
        real.flush()
        real.buffer.write(bytes(data))
        real.buffer.flush()
        return len(data)

    def isatty(self):
        return sys.__dict__[self._kind].isatty()

    def fileno(self):
        return sys.__dict__[self._kind].fileno()


_kinds = {"stdout": "strict", "stderr": "backslashreplace"}
_streams = {kind: io.TextIOWrapper(_Through(kind), encoding="utf-8", errors=errors, write_through=True) for kind, errors in _kinds.items()}


def _plain(kind, real):
    if kind == "meta_path":
        return [one for one in real if not _is_runners(one)]
    if kind in ("breakpointhook", "unraisablehook"):
        return getattr(sys, "__" + kind + "__") if (getattr(real, "__module__", None) or "").startswith("_pytest") or _is_runners(real) else real
    if not _is_runners(real):
        return real
    return sys.__stdin__ if kind == "stdin" else _streams[kind] if hasattr(real, "buffer") else real


def _answer(kind):
    def get(module):
        try:
            real = module.__dict__[kind]
        except KeyError:
            raise AttributeError(kind) from None
        return _plain(kind, real) if _asks(sys._getframe(1)) else real

    def put(module, value):
        module.__dict__[kind] = value

    def drop(module):
        module.__dict__.pop(kind, None)

    return property(get, put, drop)


_asked = ("stdin", "stdout", "stderr", "meta_path", "breakpointhook", "unraisablehook")
sys.__class__ = type("module", (types.ModuleType,), {kind: _answer(kind) for kind in _asked})
`;
