"""What packages bring along: README and type declarations (npm), README, stubs and docstrings (PyPI).

From the package as it is installed for sandboxes, where there is one; else from the indexes that pip and npm are
configured with, whose files are unpacked in memory and never run.
"""

import email
import email.policy
import io
import json
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import url2pathname

import anyio.to_thread

from outlast.apps.knowledge.addresses import Allowed
from outlast.apps.knowledge.documents import Document, Reading
from outlast.apps.knowledge.http_fetch import Answer, Fetcher, NotRead
from outlast.apps.knowledge.readers.archives import BROKEN, tar_members
from outlast.apps.knowledge.readers.versions import best_npm, best_pypi
from outlast.apps.knowledge.sources import exact_version
from outlast.base.packages import NPM, PYPI, name_of

PACKAGE_BYTES: Final = 200_000_000  # of one package's file in an index
UNPACKED_BYTES: Final = 1_000_000_000
KEPT_BYTES: Final = 200_000_000  # of its files that are looked into
LISTING_BYTES: Final = 30_000_000
FILES: Final = 2_000
_README: Final = re.compile(r"readme(?:\.(?:md|markdown|mdx|txt|rst))?\Z", re.IGNORECASE)
_TYPES: Final = (".d.ts", ".d.mts", ".d.cts")
_LEFT_OUT: Final = re.compile(
    r"(?:^|/)(?:node_modules|tests?|__tests__|testing|examples?|benchmarks?|_vendor|vendored|__pycache__)/"
)
Wanted = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """A package: `files` by path within it, for PyPI also METADATA."""

    version: str
    files: Mapping[str, bytes]


class Installed(Protocol):
    """Whoever knows what is installed for sandboxes."""

    async def version(self, package: str) -> str:
        """The version of a parsed package; empty where it is not installed, or that cannot be looked at."""

    async def files(
        self, package: str, wanted: Wanted, most_bytes: int
    ) -> tuple[str, Mapping[str, bytes]] | None:
        """(version, its files by path) that are wanted, at most so many bytes together; None where it is not installed,
        or that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class Registries:
    """Where packages come from: npm's registry by scope ("" for all others), PyPI's simple indexes, the first one that
    has it; `allowed` are those of them that are private."""

    npm: Mapping[str, str] = field(default_factory=lambda: {"": "https://registry.npmjs.org/"})
    pypi: tuple[str, ...] = ("https://pypi.org/simple",)
    allowed: Allowed = frozenset()


class PackageReader:
    """Holds nothing; `registries` are asked for at each use, since that may start a program."""

    def __init__(
        self,
        fetcher: Fetcher,
        installed: Installed | None,
        registries: Callable[[], Registries],
        most_bytes: int,
    ) -> None:
        self._fetcher, self._installed = fetcher, installed
        self._registries, self._most_bytes = registries, most_bytes

    async def version(self, package: str) -> str:
        """That of the installed package, else the one that it names exactly; empty: not known."""
        found = await self._installed.version(package) if self._installed is not None and package else ""
        return found or exact_version(package)

    async def read(self, package: str) -> Reading:
        """Raises `NotRead`."""
        found = None
        if self._installed is not None:
            installed = await self._installed.files(package, wanted(package), self._most_bytes)
            found = None if installed is None else PackageFiles(*installed)
        if found is None:
            registries = await anyio.to_thread.run_sync(self._registries)
            found = await (_Npm if package.startswith(NPM) else _PyPi)(self._fetcher, registries).find(
                package
            )
        read = _npm_documents if package.startswith(NPM) else _pypi_documents
        documents = await anyio.to_thread.run_sync(
            lambda: list(_bounded(read(package, found), self._most_bytes))
        )
        if not documents:
            raise NotRead(f"{package} {found.version} brings along neither a README nor type declarations")
        return Reading(documents=documents, version=found.version)


def wanted(package: str) -> Wanted:
    """Which files of a package are documentation."""
    endings = (*_TYPES, "package.json") if package.startswith(NPM) else (".pyi", ".py", "METADATA")

    def choose(path: str) -> bool:
        if path == "package.json" or path.endswith(".dist-info/METADATA"):
            return True
        if _LEFT_OUT.search(path):
            return False
        if _README.fullmatch(path):
            return True
        return path.endswith(endings) and not path.endswith("package.json")

    return choose


def _bounded(documents: Iterator[Document], most_bytes: int) -> Iterator[Document]:
    """The first ones are the most telling: what is beyond the bound is left out."""
    left = most_bytes
    for number, document in enumerate(documents):
        left -= len(document.text or "")
        if left < 0 or number >= FILES:
            return
        yield document


def _npm_documents(package: str, found: PackageFiles) -> Iterator[Document]:
    name = name_of(package).removeprefix(NPM)
    for path in sorted(found.files, key=len):
        if _README.fullmatch(path):
            url = f"https://www.npmjs.com/package/{name}/v/{found.version}"
            yield Document(url=url, text=_text(found.files[path]), title=name)
            break
    types = [path for path in found.files if path.endswith(_TYPES)]
    plain = {path for path in types if path.endswith(".d.ts")}
    twins = {path for path in types if re.sub(r"\.d\.[mc]ts\Z", ".d.ts", path) in plain - {path}}
    entry = _entry(found.files.get("package.json", b""))
    entry = re.sub(r"\.d\.[mc]ts\Z", ".d.ts", entry) if entry in twins else entry
    for path in sorted(set(types) - twins, key=lambda one: (one != entry, one.count("/"), one)):
        url = f"{NPM}{name}@{found.version}/{path}"
        yield Document(url=url, text=_text(found.files[path]), language="typescript", path=path)


def _entry(manifest: bytes) -> str:
    try:
        stated = json.loads(manifest)
    except (ValueError, RecursionError):
        return ""
    named = stated.get("types") or stated.get("typings") if isinstance(stated, dict) else ""
    return posixpath.normpath(named) if isinstance(named, str) and named else ""


def _pypi_documents(package: str, found: PackageFiles) -> Iterator[Document]:
    name = name_of(package).removeprefix(PYPI)
    for path, data in found.files.items():
        if path.endswith("METADATA"):
            message = email.message_from_bytes(data, policy=email.policy.compat32)
            said = message.get_payload(decode=True)
            text = said.decode("utf-8", "replace") if isinstance(said, bytes) else ""
            if text.strip():
                yield Document(url=f"https://pypi.org/project/{name}/{found.version}/", text=text, title=name)
    stubs = {path for path in found.files if path.endswith(".pyi")}
    sources = {path for path in found.files if path.endswith(".py") and f"{path}i" not in stubs}
    for path in sorted(stubs | sources, key=lambda one: (one.count("/"), one)):
        url = f"{PYPI}{name}=={found.version}/{path}"
        yield Document(url=url, text=_text(found.files[path]), language="python", path=path)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Npm:
    """npm's registry."""

    def __init__(self, fetcher: Fetcher, registries: Registries) -> None:
        self._fetcher, self._registries = fetcher, registries

    async def find(self, package: str) -> PackageFiles:
        name = name_of(package).removeprefix(NPM)
        scope = name.partition("/")[0] if name.startswith("@") else ""
        known = self._registries.npm
        base = known.get(scope) or known.get("") or "https://registry.npmjs.org/"
        url = urljoin(base if base.endswith("/") else f"{base}/", quote(name, safe="@"))
        answer = await self._fetcher.get(
            url,
            LISTING_BYTES,
            allowed=self._registries.allowed,
            accept="application/vnd.npm.install-v1+json, */*;q=0.5",
        )
        listed = await anyio.to_thread.run_sync(_json, answer.body, url)
        stated = package.removeprefix(name_of(package)).removeprefix("@")
        version = await anyio.to_thread.run_sync(
            best_npm, stated, list(listed.get("versions") or {}), listed.get("dist-tags") or {}
        )
        if not version:
            raise NotRead(f"{url} has no version of {name} that {stated or 'latest'!r} names")
        tarball = str(listed["versions"][version]["dist"]["tarball"])
        file = await self._fetcher.get(tarball, PACKAGE_BYTES, allowed=self._registries.allowed, accept="*/*")
        return PackageFiles(
            version, await anyio.to_thread.run_sync(_untarred, file.body, wanted(package), tarball)
        )


class _PyPi:
    """A simple index, as pip reads it: in JSON, or as a page of links."""

    def __init__(self, fetcher: Fetcher, registries: Registries) -> None:
        self._fetcher, self._registries = fetcher, registries

    async def find(self, package: str) -> PackageFiles:
        name = name_of(package).removeprefix(PYPI)
        why: NotRead | None = None
        for index in self._registries.pypi:
            try:
                return await self._from(index, package, name)
            except NotRead as error:
                why = error if why is None or why.gone else why
        raise why or NotRead(f"no package index is configured that could have {name}")

    async def _from(self, index: str, package: str, name: str) -> PackageFiles:
        if not index.startswith(("http://", "https://")):
            return await anyio.to_thread.run_sync(_from_folder, index, package, name)
        url = f"{index.rstrip('/')}/{name}/"
        answer = await self._fetcher.get(
            url,
            LISTING_BYTES,
            allowed=self._registries.allowed,
            accept="application/vnd.pypi.simple.v1+json, text/html;q=0.5",
        )
        asked = _asked(package)
        chosen = await anyio.to_thread.run_sync(_chosen, asked, answer, url)
        if chosen is None:
            raise NotRead(f"{url} has no file of {name}{asked} that can be read")
        version, address = chosen
        file = await self._fetcher.get(address, PACKAGE_BYTES, allowed=self._registries.allowed, accept="*/*")
        return PackageFiles(
            version, await anyio.to_thread.run_sync(_unzipped, file.body, wanted(package), address)
        )


def _chosen(asked: str, answer: Answer, url: str) -> tuple[str, str] | None:
    """(version, address) of the best file that an index lists. Blocking: a list may be long."""
    in_json = "json" in answer.content_type
    return best_pypi(asked, _listed_json(answer.body, url) if in_json else _listed_html(answer.text(), url))


def _asked(package: str) -> str:
    """What a PyPI package says of its version, without its extras."""
    return re.sub(r"^\[[^\]]*\]", "", package.removeprefix(name_of(package)))


def _from_folder(index: str, package: str, name: str) -> PackageFiles:
    """An index that is a folder of this machine: wheels, or a folder of them for each package. Blocking."""
    folder = Path(url2pathname(urlsplit(index).path) if index.startswith("file:") else index)
    wheels = [*folder.glob("*.whl"), *(folder / name).glob("*.whl")]
    files = {
        wheel.name: str(wheel)
        for wheel in wheels
        if re.sub(r"[-_.]+", "-", wheel.name.partition("-")[0]).lower() == name
    }
    chosen = best_pypi(_asked(package), files)
    if chosen is None:
        raise NotRead(f"{index} has no file of {name}{_asked(package)} that can be read")
    version, path = chosen
    return PackageFiles(version, _unzipped(Path(path).read_bytes(), wanted(package), path))


def _json(body: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NotRead(f"{url} did not answer as a package index does")
    return value


def _listed_json(body: bytes, url: str) -> dict[str, str]:
    """File name → address."""
    files = _json(body, url).get("files") or []
    return {str(one["filename"]): urljoin(url, str(one["url"])) for one in files if not one.get("yanked")}


def _listed_html(page: str, url: str) -> dict[str, str]:
    # Loaded here, for it would be a twentieth of each server's start.
    from bs4 import BeautifulSoup

    links = BeautifulSoup(page, "lxml").find_all("a", href=True)
    found = (urljoin(url, str(link["href"])) for link in links if not link.has_attr("data-yanked"))
    return {posixpath.basename(urlsplit(address).path): address for address in found}


def _untarred(body: bytes, choose: Wanted, url: str) -> dict[str, bytes]:
    """The wanted files of npm's tarball, whose paths begin with a folder of any name."""
    found: dict[str, bytes] = {}
    kept = 0
    try:
        for member, archive in tar_members(body, UNPACKED_BYTES):
            path = posixpath.normpath(member.name).partition("/")[2]
            if not member.isreg() or not choose(path):
                continue
            kept += member.size
            if kept > KEPT_BYTES:
                raise NotRead(f"{url} unpacks to more than is looked through")
            file = archive.extractfile(member)
            found[path] = file.read() if file is not None else b""
    except BROKEN as error:
        raise NotRead(f"{url} cannot be unpacked: {error}") from None
    return found


def _unzipped(body: bytes, choose: Wanted, url: str) -> dict[str, bytes]:
    """The wanted files of a wheel."""
    found: dict[str, bytes] = {}
    kept = 0
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for member in archive.infolist():
                if member.is_dir() or not choose(member.filename):
                    continue
                kept += member.file_size
                if kept > KEPT_BYTES:
                    raise NotRead(f"{url} unpacks to more than is looked through")
                found[member.filename] = archive.read(member)
    except BROKEN as error:
        raise NotRead(f"{url} cannot be unpacked: {error}") from None
    return found
