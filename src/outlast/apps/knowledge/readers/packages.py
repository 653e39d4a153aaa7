"""The documentation inside packages: README and type declarations (npm), README, stubs and docstrings (PyPI).

Read from the package that is installed for sandboxes, if there is one. Otherwise the package is downloaded from the
indexes that pip and npm are configured with; its files are unpacked in memory and never run.
"""

import email
import email.policy
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import url2pathname

import anyio.to_thread

from outlast.apps.knowledge.readers.archives import inner_path, read_files
from outlast.apps.knowledge.readers.versions import best_npm, best_pypi
from outlast.apps.knowledge.source_documents import Document, Reading
from outlast.apps.knowledge.sources import exact_version
from outlast.base.records import dataclass
from outlast.kernel.http.private_addresses import Allowed
from outlast.kernel.web.http_fetch import Answer, Fetcher, NotRead
from outlast_sandbox.package_names import NPM, PYPI, name_of

NPM_REGISTRY: Final = "https://registry.npmjs.org/"
PACKAGE_BYTES: Final = 200_000_000  # of a downloaded package, packed
UNPACKED_BYTES: Final = 1_000_000_000  # of a tarball, all files and headers
LISTING_BYTES: Final = 30_000_000  # of an index's answer
MAX_DOCUMENTS: Final = 2_000  # of one package
_NPM_LISTING: Final = "application/vnd.npm.install-v1+json, */*;q=0.5"
_PYPI_LISTING: Final = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_README: Final = re.compile(r"readme(?:\.(?:md|markdown|mdx|txt|rst))?\Z", re.IGNORECASE)
_TYPES: Final = (".d.ts", ".d.mts", ".d.cts")
_EXCLUDED: Final = re.compile(
    r"(?:^|/)(?:node_modules|tests?|__tests__|testing|examples?|benchmarks?|_vendor|vendored|__pycache__)/"
)
_TYPES_SUFFIX: Final = re.compile(r"\.d\.[mc]ts\Z")
Wanted = Callable[[str], bool]
"""True if the file at this path of a package is documentation."""


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """The documentation files of a package by path; those of PyPI include METADATA."""

    version: str
    files: Mapping[str, bytes]


class Installed(Protocol):
    """The packages that are installed for sandboxes."""

    async def version(self, package: str) -> str:
        """The version of a package; empty where it is not installed or the installation cannot be read."""

    async def files(self, package: str, wanted: Wanted, most_bytes: int) -> tuple[str, Mapping[str, bytes]] | None:
        """(version, wanted files by path), at most `most_bytes` of files together; None where the package is not
        installed or the installation cannot be read."""


@dataclass(frozen=True, slots=True)
class Registries:
    """The origins of packages. `npm`: registries by scope, "" for all other packages; `pypi`: simple indexes (URLs or
    folders of wheels), tried in order; `allowed`: those of them with private addresses."""

    npm: Mapping[str, str] = field(default_factory=lambda: {"": NPM_REGISTRY})
    pypi: tuple[str, ...] = ("https://pypi.org/simple",)
    allowed: Allowed = frozenset()


class PackageReader:
    """Reads the documentation of packages, at most `most_bytes` of each. `registries` is called in a thread, and only
    when a package is not installed: it can start pip and npm."""

    def __init__(
        self, fetcher: Fetcher, installed: Installed | None, registries: Callable[[], Registries], most_bytes: int
    ) -> None:
        self._fetcher, self._installed = fetcher, installed
        self._registries, self._most_bytes = registries, most_bytes

    async def version(self, package: str) -> str:
        """The installed version, else the one that `package` pins; empty if neither is known."""
        found = await self._installed.version(package) if self._installed is not None and package else ""
        return found or exact_version(package)

    async def read(self, package: str) -> Reading:
        """The documents of the package. Raises `NotRead`, also when it has none."""
        read, download = _pypi_documents, _download_pypi
        if package.startswith(NPM):
            read, download = _npm_documents, _download_npm
        installed = None
        if self._installed is not None:
            installed = await self._installed.files(package, wanted(package), self._most_bytes)
        if installed is not None:
            found = PackageFiles(*installed)
        else:
            found = await download(self._fetcher, await anyio.to_thread.run_sync(self._registries), package)
        documents = await anyio.to_thread.run_sync(lambda: list(_bounded(read(package, found), self._most_bytes)))
        if not documents:
            raise NotRead(f"{package} {found.version} has neither a README nor type declarations")
        return Reading(documents=documents, version=found.version)


def wanted(package: str) -> Wanted:
    """The predicate for files of this package that are documentation, or needed to find it."""
    suffixes = _TYPES if package.startswith(NPM) else (".pyi", ".py", "METADATA")

    def choose(path: str) -> bool:
        if path == "package.json" or path.endswith(".dist-info/METADATA"):
            return True
        if _EXCLUDED.search(path):
            return False
        return _README.fullmatch(path) is not None or path.endswith(suffixes)

    return choose


def _bounded(documents: Iterator[Document], most_bytes: int) -> Iterator[Document]:
    """The first documents within the bounds. The most useful ones come first, so the rest is left out."""
    left = most_bytes
    for number, document in enumerate(documents):
        left -= len(document.text or "")
        if left < 0 or number >= MAX_DOCUMENTS:
            return
        yield document


def _npm_documents(package: str, found: PackageFiles) -> Iterator[Document]:
    name = name_of(package).removeprefix(NPM)
    readme = min(filter(_README.fullmatch, found.files), key=len, default=None)
    if readme is not None:
        url = f"https://www.npmjs.com/package/{name}/v/{found.version}"
        yield Document(url=url, text=_text(found.files[readme]), title=name)
    types = [path for path in found.files if path.endswith(_TYPES)]
    plain = {path for path in types if path.endswith(".d.ts")}
    # The same declarations for another module system: one of them is enough.
    duplicates = {path for path in types if _TYPES_SUFFIX.sub(".d.ts", path) in plain - {path}}
    entry = _types_entry(found.files.get("package.json", b""))
    entry = _TYPES_SUFFIX.sub(".d.ts", entry) if entry in duplicates else entry
    for path in sorted(set(types) - duplicates, key=lambda one: (one != entry, one.count("/"), one)):
        url = f"{NPM}{name}@{found.version}/{path}"
        yield Document(url=url, text=_text(found.files[path]), language="typescript", path=path)


def _types_entry(package_json: bytes) -> str:
    """The path of the declarations that importers see first; empty if package.json does not name it."""
    try:
        manifest = json.loads(package_json)
    except (ValueError, RecursionError):
        return ""
    path = manifest.get("types") or manifest.get("typings") if isinstance(manifest, dict) else ""
    return posixpath.normpath(path) if isinstance(path, str) and path else ""


def _pypi_documents(package: str, found: PackageFiles) -> Iterator[Document]:
    name = _pypi_name(package)
    for path, data in found.files.items():
        if path.endswith("METADATA"):
            message = email.message_from_bytes(data, policy=email.policy.compat32)
            readme = message.get_payload(decode=True)
            text = _text(readme) if isinstance(readme, bytes) else ""
            if text.strip():
                yield Document(url=f"https://pypi.org/project/{name}/{found.version}/", text=text, title=name)
    stubs = {path for path in found.files if path.endswith(".pyi")}
    sources = {path for path in found.files if path.endswith(".py") and f"{path}i" not in stubs}
    for path in sorted(stubs | sources, key=lambda one: (one.count("/"), one)):
        url = f"{PYPI}{name}=={found.version}/{path}"
        yield Document(url=url, text=_text(found.files[path]), language="python", path=path)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


async def _download_npm(fetcher: Fetcher, registries: Registries, package: str) -> PackageFiles:
    name = name_of(package).removeprefix(NPM)
    scope = name.partition("/")[0] if name.startswith("@") else ""
    base = registries.npm.get(scope) or registries.npm.get("") or NPM_REGISTRY
    url = urljoin(base if base.endswith("/") else f"{base}/", quote(name, safe="@"))
    answer = await fetcher.get(url, LISTING_BYTES, allowed=registries.allowed, accept=_NPM_LISTING)
    listed = await anyio.to_thread.run_sync(_parse_listing, answer.body, url)
    wanted_version = package.removeprefix(name_of(package)).removeprefix("@")
    version = await anyio.to_thread.run_sync(
        best_npm, wanted_version, list(listed.get("versions") or {}), listed.get("dist-tags") or {}
    )
    if not version:
        raise NotRead(f"{url} has no version of {name} that {wanted_version or 'latest'!r} names")
    tarball = str(listed["versions"][version]["dist"]["tarball"])
    file = await fetcher.get(tarball, PACKAGE_BYTES, allowed=registries.allowed, accept="*/*")
    choose = wanted(package)

    def inside(path: str, _size: int) -> str:
        inner = inner_path(path)
        return inner if choose(inner) else ""

    return PackageFiles(version, await anyio.to_thread.run_sync(read_files, file.body, tarball, inside, UNPACKED_BYTES))


async def _download_pypi(fetcher: Fetcher, registries: Registries, package: str) -> PackageFiles:
    """Read from the first index that has the package."""
    reason: NotRead | None = None
    for index in registries.pypi:
        try:
            if not index.startswith(("http://", "https://")):
                return await anyio.to_thread.run_sync(_find_in_folder, index, package)
            return await _find_in_index(fetcher, registries.allowed, index, package)
        except NotRead as error:
            # That another index does not have the package is less useful than the reason why one could not be read.
            reason = error if reason is None or reason.gone else reason
    raise reason or NotRead(f"no configured package index can have {_pypi_name(package)}")


async def _find_in_index(fetcher: Fetcher, allowed: Allowed, index: str, package: str) -> PackageFiles:
    """Read a package from a simple index, which answers in JSON or as a page of links."""
    url = f"{index.rstrip('/')}/{_pypi_name(package)}/"
    answer = await fetcher.get(url, LISTING_BYTES, allowed=allowed, accept=_PYPI_LISTING)
    version, address = await anyio.to_thread.run_sync(_choose_listed, package, answer, url)
    file = await fetcher.get(address, PACKAGE_BYTES, allowed=allowed, accept="*/*")
    return await anyio.to_thread.run_sync(_read_wheel, package, version, file.body, address)


def _choose_listed(package: str, answer: Answer, url: str) -> tuple[str, str]:
    """(version, address) of the best file that an index lists. Blocking: a list can be long."""
    is_json = "json" in answer.content_type
    return _choose(package, _files_in_json(answer.body, url) if is_json else _files_in_html(answer.text(), url), url)


def _choose(package: str, files: Mapping[str, str], index: str) -> tuple[str, str]:
    """(version, address) of the best of these files (name → address)."""
    specifier = re.sub(r"^\[[^\]]*\]", "", package.removeprefix(name_of(package)))  # without extras
    chosen = best_pypi(specifier, files)
    if chosen is None:
        raise NotRead(f"{index} has no file of {_pypi_name(package)}{specifier} that can be read")
    return chosen


def _pypi_name(package: str) -> str:
    return name_of(package).removeprefix(PYPI)


def _find_in_folder(index: str, package: str) -> PackageFiles:
    """Read a package from a local folder of wheels, or of one folder of wheels per package. Blocking."""
    name = _pypi_name(package)
    folder = Path(url2pathname(urlsplit(index).path) if index.startswith("file:") else index)
    wheels = [*folder.glob("*.whl"), *(folder / name).glob("*.whl")]
    files = {
        wheel.name: str(wheel)
        for wheel in wheels
        if re.sub(r"[-_.]+", "-", wheel.name.partition("-")[0]).lower() == name
    }
    version, path = _choose(package, files, index)
    return _read_wheel(package, version, Path(path).read_bytes(), path)


def _read_wheel(package: str, version: str, body: bytes, address: str) -> PackageFiles:
    choose = wanted(package)
    files = read_files(body, address, lambda path, _: path if choose(path) else "", UNPACKED_BYTES)
    return PackageFiles(version, files)


def _parse_listing(body: bytes, url: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NotRead(f"{url} did not answer like a package index")
    return value


def _files_in_json(body: bytes, url: str) -> dict[str, str]:
    """File name → address."""
    files = _parse_listing(body, url).get("files") or []
    return {str(file["filename"]): urljoin(url, str(file["url"])) for file in files if not file.get("yanked")}


def _files_in_html(page: str, url: str) -> dict[str, str]:
    """File name → address."""
    # Imported here: at the top of the module it would take a twentieth of the server's start.
    from bs4 import BeautifulSoup

    links = BeautifulSoup(page, "lxml").find_all("a", href=True)
    found = (urljoin(url, str(link["href"])) for link in links if not link.has_attr("data-yanked"))
    return {posixpath.basename(urlsplit(address).path): address for address in found}
