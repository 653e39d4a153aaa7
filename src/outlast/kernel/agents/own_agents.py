"""Agents that the operator of a server writes: in a folder of Python files, in installed modules, and in packages with
the entry point `outlast.agents`. Their code runs with the server's rights."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module, invalidate_caches, util
from importlib.machinery import ModuleSpec
from itertools import count
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any, Final

from outlast.base.errors import StartRefused
from outlast.base.plugins import plugins
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.guests.adoption import adopt, extra_for
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.agents.tool import Tool

ENTRY_POINTS: Final = "outlast.agents"
_numbers: Final = count(1)


def find_own_agents(settings: AgentSettings) -> Mapping[str, Sequence[Agent]]:
    """The operator's agents by the place where they were found ("agents/shop.py"), each once, in the order of their
    files. Each call imports the folder's files again, as modules of one new package, so they can import each other
    (`from .orders import refund`); other modules are imported once in a process. Call it in a thread. Raises
    `StartRefused` with the file, the line and the error of code that cannot be imported, and of a tool that cannot be
    described to a model; its cause is that error."""
    seen: dict[int, Any] = {}
    found: dict[str, Sequence[Agent]] = {}
    for place, values in (*_in_folder(settings.folder), *_in_modules(settings.modules)):
        new = {id(one): one for one in values if id(one) not in seen}
        seen |= new
        found[place] = _adopted(new.values(), place)
    return found


def _adopted(values: Iterable[Any], place: str) -> list[Agent]:
    """The agents among these values, and what becomes one."""
    with _refusing(place):
        return [agent for agent in map(adopt, values) if agent is not None]


def agent_files(folder: Path) -> Mapping[str, Path]:
    """The modules of the folder, by name. Those whose names begin with `_` are only imported by others."""
    files = {file.stem: file for file in folder.glob("*.py")}
    files |= {file.parent.name: file for file in folder.glob("*/__init__.py")}
    return {name: file for name, file in sorted(files.items()) if not name.startswith(("_", "."))}


def _in_folder(name: str) -> Iterator[tuple[str, Sequence[Any]]]:
    if not name:
        return
    folder = Path(name)
    with _package_of(folder) as package:
        for module, file in agent_files(folder).items():
            place = f"{folder.name}/{file.relative_to(folder)}"
            yield place, _imported(place, f"{package}.{module}", folder)


def _in_modules(names: Sequence[str]) -> Iterator[tuple[str, Sequence[Any]]]:
    for name in names:
        yield f"the module {name}", _imported(f"the module {name}", name)
    for point in plugins(ENTRY_POINTS):
        place = f"the package {point.dist.name if point.dist else point.module}"
        with _refusing(place):
            loaded = point.load()
        values = list(vars(loaded).values()) if isinstance(loaded, ModuleType) else [loaded]
        _demand_usable_tools(values, place)
        yield place, values


@contextmanager
def _package_of(folder: Path) -> Iterator[str]:
    """A new package of this folder's files. Nothing is kept of one whose import fails; the modules of others stay for
    the runs that still use their functions."""
    package, writes_none = f"outlast_own_agents_{next(_numbers)}", sys.dont_write_bytecode
    spec = ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[package] = util.module_from_spec(spec)
    sys.dont_write_bytecode = True  # compiled files go by the second, and a file may be saved twice in one
    invalidate_caches()
    try:
        yield package
    except BaseException:
        for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
            del sys.modules[name]
        raise
    finally:
        sys.dont_write_bytecode = writes_none


def _imported(place: str, module: str, folder: Path | None = None) -> Sequence[Any]:
    """The values at the top level of a module."""
    with _refusing(place, folder):
        values = list(vars(import_module(module)).values())
    _demand_usable_tools(values, place, folder)
    return values


def _demand_usable_tools(values: Sequence[Any], place: str, folder: Path | None = None) -> None:
    """A tool makes the model of its arguments at the first use. Here it is made when the server starts, so that an
    error in a signature is found before a run."""
    for tool in (tool for value in values if isinstance(value, Agent) for tool in value.tools):
        with _refusing(_place_of(tool, folder) or place):
            _ = tool.spec


def _place_of(tool: Tool, folder: Path | None) -> str | None:
    """The file and line of a tool's function, if they are in the folder."""
    if folder is None or tool.place is None or not _is_in(tool.place[0], folder):
        return None
    return _shown(*tool.place, folder)


@contextmanager
def _refusing(place: str, folder: Path | None = None) -> Iterator[None]:
    """Turn what a module raises into `StartRefused`."""
    try:
        yield
    except (Exception, SystemExit) as error:
        where, extra = _line_of(error, folder) if folder else None, extra_for(error)
        hint = "Correct the code. Other programs that import it get the same error."
        raise StartRefused(
            f"Agents cannot be loaded from {where or place}: {type(error).__name__}: {_first_line(error)}",
            hint=hint if extra is None else f"Install what it needs: pip install 'outlast[{extra}]'",
        ) from error


def _line_of(error: BaseException, folder: Path) -> str | None:
    """The last line of the folder's files that the error came from, as "agents/shop.py:12"."""
    lines = [(frame.f_code.co_filename, number) for frame, number in walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno or 1))
    inside = [_shown(file, line, folder) for file, line in lines if _is_in(file, folder)]
    return inside[-1] if inside else None


def _shown(file: str, line: int, folder: Path) -> str:
    return f"{folder.name}/{Path(file).relative_to(folder)}:{line}"


def _is_in(file: str, folder: Path) -> bool:
    return Path(file).is_relative_to(folder)


def _first_line(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return next(iter(text.splitlines()), "")
