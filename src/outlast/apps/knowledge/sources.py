"""The kind of source that an address names, and the sources in the configuration. Pure."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from outlast.apps.knowledge.markdown_splitter import RULES
from outlast.apps.knowledge.settings import KnowledgeSettings
from outlast.apps.knowledge.shapes import SourceKind
from outlast.base.records import dataclass
from outlast.kernel.library.code_uses import filed_under
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.host_patterns import parse_host_port
from outlast_sandbox.package_names import name_of, parse_package

INSTALLED: Final = "package"  # as a dependency's source: the documentation inside the package
_ARCHIVE: Final = re.compile(r"\.(?:tar\.gz|tgz|tar|zip)\Z")
_LISTS: Final = re.compile(r"/llms(?:-[\w-]+)?\.txt\Z")
_EXACT: Final = re.compile(r"\d[\w.+-]*\Z")
_GITHUB: Final = re.compile(r"/([\w.-]+)/([\w.-]+?)(?:\.git)?(?:/tree/([^/]+)(?:/(.+?))?)?/?\Z")
_GITLAB: Final = re.compile(r"/([\w./-]+?)/-/tree/([^/]+)(?:/(.+?))?/?\Z")
_GITEA: Final = re.compile(r"/([\w.-]+)/([\w.-]+)/src/(?:branch|tag|commit)/([^/]+)(?:/(.+?))?/?\Z")


@dataclass(frozen=True, slots=True)
class Configured:
    """A source of all projects from the configuration. `allowed` are the private addresses that it may be
    read from; `package` is its label, `installed` the package whose version it has (or empty)."""

    package: str
    kind: SourceKind
    location: str
    allowed: frozenset[tuple[str, int]] = frozenset()
    installed: str = ""


@dataclass(frozen=True, slots=True)
class Archive:
    """A repository's files in one archive: `folder` is the folder to read (empty: the usual folders),
    `shown_at` the prefix of a file's address for people (empty: the archive's own address)."""

    url: str
    folder: str = ""
    shown_at: str = ""


def cut_name(passage_chars: int) -> str:
    """The name of the current cutting rules: passages with another name were cut differently."""
    return f"{RULES}:{passage_chars}"


def is_web(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


def kind_of(location: str) -> SourceKind:
    """The kind of source of an address, file or folder, as far as its spelling shows. For a place on this
    machine, reading shows if it is a file or a folder."""
    if location.startswith(("npm:", "pypi:")):
        return "package"
    path = urlsplit(location).path.lower() if is_web(location) else location.lower()
    if _LISTS.search(path) or path.rpartition("/")[2].startswith("llms"):
        return "llms_txt"
    if path.endswith((".xml", ".xml.gz")):
        return "sitemap"
    if archive_of(location) is not None if is_web(location) else not PurePosixPath(location).suffix:
        return "folder"
    return "markdown"


def archive_of(location: str) -> Archive | None:
    """The archive with a repository's files: for addresses of archives (with `#folder`), and of repositories and
    folders at GitHub, GitLab, Gitea and the like. None for any other address."""
    parts = urlsplit(location)
    base = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
    if _ARCHIVE.search(parts.path):
        return Archive(urlunsplit(parts._replace(fragment="")), parts.fragment.strip("/"))
    if found := _GITLAB.match(parts.path):
        project, ref, folder = found.groups()
        name = f"{project.rpartition('/')[2]}-{ref}"
        url = f"{base}/{project}/-/archive/{quote(ref)}/{quote(name)}.tar.gz"
        return Archive(url, folder or "", f"{base}/{project}/-/blob/{ref}/")
    if found := _GITEA.match(parts.path):
        owner, repo, ref, folder = found.groups()
        url = f"{base}/{owner}/{repo}/archive/{quote(ref)}.tar.gz"
        return Archive(url, folder or "", f"{base}{parts.path[: found.start(3)]}{ref}/")
    host = parts.hostname or ""
    if (host == "github.com" or host.startswith("github.")) and (found := _GITHUB.match(parts.path)):
        owner, repo, ref, folder = found.groups()
        at = f"{base}/{owner}/{repo}"
        return Archive(f"{at}/archive/{quote(ref or 'HEAD')}.tar.gz", folder or "", f"{at}/blob/{ref or 'HEAD'}/")
    return None


def configured_sources(sandbox: SandboxSettings | None, knowledge: KnowledgeSettings) -> Iterator[Configured]:
    """The sources of `[[sandbox.dependencies]].docs`; duplicates are not removed."""
    for dependency in sandbox.dependencies if sandbox is not None else ():
        parsed = parse_package(dependency.package) if dependency.package else ""
        name = filed_under(dependency)
        allowed = private_exceptions((*dependency.allow_private, *knowledge.allow_private))
        for stated in dependency.docs:
            location = parsed if stated == INSTALLED else stated.strip()
            if location:
                yield Configured(name or location, kind_of(location), location, allowed, parsed)


def private_exceptions(texts: tuple[str, ...]) -> frozenset[tuple[str, int]]:
    """The pairs of HOST:PORT settings, which were validated when they were loaded."""
    return frozenset(parse_host_port(text) for text in texts)


def exact_version(package: str) -> str:
    """The version that a parsed package pins; empty for none or a range."""
    name = name_of(package)
    stated = package.removeprefix(name).lstrip("@=")
    if package.startswith("pypi:"):
        stated = package.partition("==")[2]
    return stated if _EXACT.match(stated) else ""
