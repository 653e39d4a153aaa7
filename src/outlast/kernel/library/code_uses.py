"""Finds what a piece of code uses: configured packages and services, and files of the workspace. Pure.  Uses patterns,
not a parser: the result decides what the agent is reminded of, never what it may do.
"""

import posixpath
import re
from collections.abc import Iterable
from typing import Final, Literal

from outlast.kernel.sandboxes.settings import DependencySettings
from outlast_sandbox.package_names import NPM, PYPI, NotAPackage, name_of, parse_package

Language = Literal["typescript", "python"]
_IMPORTED: Final = re.compile(
    r"""(?:\bfrom\s*+|\bimport\s*+(?:\(\s*+)?+|\brequire\s*+\(\s*+)["']([^"'\n]{1,400})["']"""
)
_PYTHON: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAMES: Final = re.compile(r"(?:\A|,)[ \t]*+([\w.]++)")  # of `a, b as c`: a, b
_WORKSPACE: Final = "/workspace/"


def filed_under(dependency: DependencySettings) -> str:
    """The package name of a dependency's documentation."""
    if dependency.name:
        return dependency.name
    if dependency.package:
        return _parsed(dependency.package)
    return dependency.hosts[0] if dependency.hosts else ""


def packages_used(
    code: str, language: Language, dependencies: Iterable[DependencySettings]
) -> list[DependencySettings]:
    """The dependencies that the code imports, or whose hosts or secret it names."""
    imported = imports_of(code, language)
    return [one for one in dependencies if _imports(one, imported, language) or _names(one, code)]


def files_used(code: str, language: Language) -> frozenset[str]:
    """Paths of the workspace that the code imports, relative to it; for Python all candidates."""
    if language == "python":
        modules = (name for name in imports_of(code, language) if name)
        return frozenset(f"{name.replace('.', '/')}.py" for name in modules)
    found = (_relative(name) for name in imports_of(code, language))
    return frozenset(path for path in found if path)


def imports_of(code: str, language: Language) -> frozenset[str]:
    """The names in the code's imports, unchanged, of at most 400 characters. Steps grow with the length of the code,
    which a call's arguments bound."""
    if language == "typescript":
        return frozenset(_IMPORTED.findall(code))
    names: set[str] = set()
    for source, taken, plain in _PYTHON.findall(code):
        if source:
            names.add(source)
            names.update(f"{source}.{one}" for one in _NAMES.findall(taken))
        names.update(_NAMES.findall(plain))
    return frozenset(names)


def relative_imports(code: str, path: str) -> list[str]:
    """The files that a module imports by a relative path, and cannot work without."""
    if path.endswith(".py"):
        return sorted(set(re.findall(r"^[ \t]*from[ \t]+(\.[\w.]*)[ \t]+import", code, re.MULTILINE)))
    return sorted(name for name in imports_of(code, "typescript") if name.startswith((".", "/", "file:")))


def _imports(dependency: DependencySettings, imported: frozenset[str], language: Language) -> bool:
    package = _parsed(dependency.package)
    if language == "python" and package.startswith(PYPI):
        wanted = package.removeprefix(PYPI).replace("-", "_").lower()
        return any(name.partition(".")[0].lower() == wanted for name in imported)
    if language == "typescript" and package.startswith(NPM):
        return any(_npm_name(name) == package for name in imported)
    return False


def _names(dependency: DependencySettings, code: str) -> bool:
    hosts = [host for host in (*dependency.hosts, *dependency.allow_private) if "*" not in host]
    return any(word in code for word in (dependency.secret_env, *hosts) if word)


def _npm_name(imported: str) -> str:
    """`@linear/sdk/dist/x` and `npm:@linear/sdk@98` as `npm:@linear/sdk`; empty if it is not a package."""
    plain = imported.removeprefix(NPM).lstrip("/")
    if plain.startswith((".", "/")) or ":" in plain:
        return ""
    scope, _, rest = plain.partition("/")
    return _parsed(f"{scope}/{rest.partition('/')[0]}" if scope.startswith("@") else scope)


def _parsed(package: str) -> str:
    if not package:
        return ""
    try:
        return name_of(parse_package(package))
    except NotAPackage:
        return package


def _relative(imported: str) -> str:
    """A path relative to the workspace; empty if it is not a path in it."""
    path = imported.removeprefix("file://").partition("?")[0]
    if path.startswith(_WORKSPACE):
        path = f"./{path.removeprefix(_WORKSPACE)}"
    if not path.startswith("."):
        return ""
    plain = posixpath.normpath(path)
    return "" if plain.startswith("..") or plain == "." else plain
