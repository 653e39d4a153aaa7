"""The Python side of `run_code`: one process per sandbox, whose variables persist between calls.

Run as a script. Descriptor 3 is the channel to the agent: a little-endian length and JSON, both ways, one response for
each `{"code": …}`: `{"success", "result", "text", "error"}`. Output of `print` goes to descriptor 1.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import linecache
import os
import struct
import sys
import traceback
import types

TYPE_CHECKING = False  # importing `typing` would cost every sandbox 3 ms of its start
if TYPE_CHECKING:
    from typing import Any, Optional

MAX_TEXT = 200_000


class Session:
    """Variables of one sandbox's Python. `run` executes code; the value of a last expression is the result."""

    def __init__(self) -> None:
        self._module = types.ModuleType("__main__")
        self._module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._module
        self._count = 0
        self._event_loop: Any = None

    def run(self, code: str) -> dict[str, Any]:
        self._count += 1
        name = f"<code {self._count}>"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        try:
            return _success(self._execute(code, name))
        except SystemExit as stop:
            return _failure(f"SystemExit: the code called exit({stop.code!r})")
        except BaseException as error:  # any exception of user code, KeyboardInterrupt included, is its result
            return _failure(_describe(error))

    def _execute(self, code: str, name: str) -> Any:
        tree = ast.parse(code, name)
        last: Optional[ast.Expression] = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            ending = tree.body.pop()
            assert isinstance(ending, ast.Expr)
            last = ast.Expression(ending.value)
        if tree.body:
            self._evaluate(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
        if last is None:
            return None
        value = self._evaluate(compile(last, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
        return self._wait(value) if inspect.iscoroutine(value) else value

    def _evaluate(self, compiled: types.CodeType) -> Any:
        if not compiled.co_flags & inspect.CO_COROUTINE:
            return eval(compiled, self._module.__dict__)
        return self._wait(types.FunctionType(compiled, self._module.__dict__)())

    def _wait(self, coroutine: Any) -> Any:
        import asyncio

        if self._event_loop is None:
            self._event_loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._event_loop)
        return self._event_loop.run_until_complete(coroutine)


def _success(value: Any) -> dict[str, Any]:
    text = "" if value is None else repr(value)[:MAX_TEXT]
    try:
        plain = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        plain = ""
    result = json.loads(plain) if plain and len(plain) <= MAX_TEXT else text
    return {"success": True, "result": result, "text": text, "error": None}


def _failure(error: str) -> dict[str, Any]:
    return {"success": False, "result": None, "text": "", "error": error[:MAX_TEXT]}


def _describe(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    return "".join([*lines, *traceback.format_exception_only(type(error), error)]).rstrip("\n")


def _receive(size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(3, size - len(data))
        if not more:
            os._exit(0)
        data += more
    return data


def main() -> None:
    os.set_inheritable(3, False)
    sys.path.insert(0, os.getcwd())
    session = Session()
    while True:
        (size,) = struct.unpack("<I", _receive(4))
        answer = session.run(json.loads(_receive(size))["code"])
        sys.stdout.flush()
        sys.stderr.flush()
        text = json.dumps(answer).encode("utf-8", "replace")
        view = memoryview(struct.pack("<I", len(text)) + text)
        while view:
            view = view[os.write(3, view) :]


if __name__ == "__main__":
    main()
