"""The package indexes that pip and npm are configured with on this machine: all that a build may reach (semantics 22).

Read from pip itself (`pip config list`: environment over files) and from npm's files and environment. User names and
passwords in addresses are dropped: no credential enters a sandbox, so an index that requires one cannot be used.
"""

import ast
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

PYPI: Final = "https://pypi.org/simple"
NPM: Final = "https://registry.npmjs.org/"
# Hosts from which an index serves its files, if not its own.
_FILES_OF: Final[Mapping[str, str]] = {"pypi.org": "files.pythonhosted.org"}
_PIP_SECTIONS: Final = ("global", "install", ":env:")
_NPM_FILES: Final = ("/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc")
_REGISTRY: Final = re.compile(r"^(?:(@[\w.-]+):)?registry$")
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Indexes:
    """`pip` and `npm` are environment variables for the build; `npmrc` the lines of its `.npmrc` (scopes); `folders`
    the indexes that are local folders, to be mounted read-only under their own path; `allowed` the (host, port) pairs
    that may be reached."""

    pip: Mapping[str, str]
    npm: Mapping[str, str]
    npmrc: str
    folders: tuple[Path, ...]
    allowed: frozenset[tuple[str, int]]


def read_indexes(python: Path, environ: Mapping[str, str] = os.environ) -> Indexes:
    """Blocks (it runs pip once). `python` is the interpreter whose pip is used; without pip, its defaults."""
    pip = _pip_settings(_pip_config(python, environ))
    registries = _npm_registries(environ)
    npmrc = "".join(f"{scope}:registry={_bare(url)}\n" for scope, url in sorted(registries.items()) if scope)
    default = registries.get("", NPM)
    npm = {} if default == NPM else {"NPM_CONFIG_REGISTRY": _bare(default)}
    addresses = [*_words(pip, "index-url"), *_words(pip, "extra-index-url"), *_words(pip, "find-links")]
    return Indexes(
        pip={_variable(name): " ".join(_bare(word) for word in text.split()) for name, text in pip.items()},
        npm=npm,
        npmrc=npmrc,
        folders=tuple(dict.fromkeys(folder for folder in map(_folder, addresses) if folder is not None)),
        allowed=frozenset(_hosts([*addresses, *registries.values(), default])),
    )


def _pip_config(python: Path, environ: Mapping[str, str]) -> str:
    try:
        answer = subprocess.run(
            [str(python), "-m", "pip", "config", "list"],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout


def _pip_settings(listed: str) -> dict[str, str]:
    """The settings about package sources in the output of `pip config list`; later sections win."""
    settings: dict[str, str] = {}
    by_section: dict[str, dict[str, str]] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        by_section.setdefault(section, {})[name] = _unquoted(value)
    for section in _PIP_SECTIONS:
        settings |= by_section.get(section, {})
    names = ("index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "prefer-binary")
    relevant = {name: settings[name] for name in names if settings.get(name)}
    if relevant.get("no-index", "").lower() not in ("true", "1", "yes", "on"):
        relevant.setdefault("index-url", PYPI)
    return relevant


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _npm_registries(environ: Mapping[str, str]) -> dict[str, str]:
    """Scope ("" for all other packages) → registry; the user's file overrides the machine's, the environment overrides
    both."""
    lower = {name.lower(): value for name, value in environ.items() if name.lower().startswith("npm_config_")}
    home = Path(environ.get("HOME", "/nonexistent"))
    user_file = Path(lower.get("npm_config_userconfig", home / ".npmrc"))
    registries: dict[str, str] = {}
    for file in (*map(Path, _NPM_FILES), user_file):
        registries |= dict(_registries_in(file, environ))
    if lower.get("npm_config_registry"):
        registries[""] = lower["npm_config_registry"]
    return registries


def _registries_in(file: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        name, _, value = line.partition("=")
        match = _REGISTRY.match(name.strip())
        if match and value.strip():
            text = re.sub(r"\$\{(\w+)\}", lambda m: environ.get(m[1], ""), value.strip().strip("\"'"))
            yield match[1] or "", text


def _words(pip: Mapping[str, str], name: str) -> list[str]:
    return pip.get(name, "").split()


def _variable(name: str) -> str:
    return f"PIP_{name.upper().replace('-', '_')}"


def _bare(address: str) -> str:
    """The address without user name and password."""
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _folder(address: str) -> Path | None:
    parts = urlsplit(address)
    if parts.scheme == "file":
        path = Path(unquote(parts.path))
    elif not parts.scheme:
        path = Path(address).expanduser().absolute()
    else:
        return None
    if not path.exists():
        return None
    # The pages of an index are in `simple`, and the files that they link to are next to it.
    return path.parent if path.name == "simple" else path


def _hosts(addresses: Iterable[str]) -> Iterator[tuple[str, int]]:
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme in _PORTS and parts.hostname:
            yield parts.hostname, parts.port or _PORTS[parts.scheme]
            if parts.hostname in _FILES_OF:
                yield _FILES_OF[parts.hostname], _PORTS["https"]
