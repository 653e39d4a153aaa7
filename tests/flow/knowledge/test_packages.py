"""What packages bring along is read from what is installed, else from the indexes that pip and npm use."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from outlast.apps.knowledge.readers.packages import Installed, PackageReader, Registries, wanted
from outlast.apps.knowledge.source_documents import cut_documents
from outlast.kernel.web.http_fetch import Fetcher, NotRead
from outlast.testing.clock import ManualClock
from outlast_sandbox.package_names import name_of
from outlast_sandbox.providers.local.installed_packages import files_in, version_in
from tests.web_site import web_site

TYPES = "/** Talks to the tracker. */\nexport declare class Tracker { issues(): Promise<string[]> }\n"
STUB = 'class Tracker:\n    def issues(self) -> list[str]:\n        """All of them."""\n'
METADATA = "Metadata-Version: 2.1\nName: tracker\nVersion: 2.0\n\n# Tracker\n\nFor Python.\n"


def tarball(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def wheel(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return buffer.getvalue()


NPM = tarball(
    {
        "package.json": json.dumps({"name": "@acme/tracker", "version": "1.2.0", "types": "dist/main.d.ts"}),
        "README.md": "# Tracker\n\n## Install\n\nWith npm.\n",
        "dist/main.d.ts": TYPES,
        "dist/main.d.mts": TYPES,
        "dist/other.d.ts": "export type Other = string;\n",
        "node_modules/x/index.d.ts": "export type Hidden = string;\n",
        "dist/main.js": "export class Tracker {}\n",
    }
)
WHEEL = wheel(
    {
        "tracker/__init__.py": "from .client import Tracker\n",
        "tracker/client.py": "class Tracker: ...\n",
        "tracker/client.pyi": STUB,
        "tracker/tests/test_client.py": "class TestTracker: ...\n",
        "tracker-2.0.dist-info/METADATA": METADATA,
    }
)


async def headings(reader: PackageReader, package: str) -> tuple[str, list[str]]:
    reading = await reader.read(package)
    cuts = cut_documents(reading.documents or (), 1600)
    return reading.version, [one.heading for found in cuts.values() for one in found]


def reader(fetcher: Fetcher, registries: Registries, installed: Installed | None = None) -> PackageReader:
    return PackageReader(fetcher, installed, lambda: registries, 1_000_000)


@pytest.fixture
async def fetcher():
    made = Fetcher(5.0, ManualClock())
    yield made
    await made.aclose()


async def test_an_npm_package_is_read_from_its_registry(fetcher: Fetcher) -> None:
    listing = {
        "dist-tags": {"latest": "1.2.0"},
        "versions": {"1.2.0": {"dist": {"tarball": "{base}/t.tgz"}}, "2.0.0-rc": {"dist": {"tarball": ""}}},
    }
    async with web_site({"/@acme/tracker": json.dumps(listing), "/@acme%2Ftracker": json.dumps(listing)}) as site:
        site.pages["/t.tgz"] = NPM
        registries = Registries({"": f"{site.base}/wrong", "@acme": f"{site.base}/"}, (), site.allowed)
        for asked in ("npm:@acme/tracker", "npm:@acme/tracker@^1.0.0", "npm:@acme/tracker@1.2.0"):
            assert await headings(reader(fetcher, registries), asked) == (
                "1.2.0",
                ["Tracker › Install", "Type declarations › Tracker", "Type declarations › Other"],
            )
        with pytest.raises(NotRead, match="no version"):
            await reader(fetcher, registries).read("npm:@acme/tracker@^3.0.0")


@pytest.mark.parametrize("kind", ["json", "html"])
async def test_a_pypi_package_is_read_from_an_index_of_either_form(fetcher: Fetcher, kind: str) -> None:
    name = "tracker-2.0-py3-none-any.whl"
    async with web_site({"/files/" + name: WHEEL}) as site:
        if kind == "json":
            page = json.dumps({"files": [{"filename": name, "url": f"{site.base}/files/{name}"}]})
            site.headers["/simple/tracker/"] = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
        else:
            page = (
                f'<a href="../../files/{name}#sha256=0">{name}</a>'
                '<a data-yanked href="tracker-3.0-py3-none-any.whl">x</a>'
            )
        site.pages["/simple/tracker/"] = page
        registries = Registries({}, (f"{site.base}/nothing", f"{site.base}/simple"), site.allowed)
        assert await headings(reader(fetcher, registries), "pypi:tracker") == (
            "2.0",
            ["Tracker", "Signatures › tracker.client.Tracker"],
        )


async def test_a_pypi_index_may_be_a_folder_of_wheels(fetcher: Fetcher, tmp_path: Path) -> None:
    (tmp_path / "tracker-2.0-py3-none-any.whl").write_bytes(WHEEL)
    version, _ = await headings(reader(fetcher, Registries({}, (tmp_path.as_uri(),))), "pypi:tracker==2.0")
    assert version == "2.0"
    with pytest.raises(NotRead):
        await reader(fetcher, Registries({}, (str(tmp_path),))).read("pypi:tracker==3.0")


class Home:
    """What is installed in a folder, as a snapshot's home folder is."""

    def __init__(self, home: Path) -> None:
        self.home = home

    async def version(self, package: str) -> str:
        return version_in(self.home, name_of(package))

    async def files(self, package: str, choose, most_bytes: int):
        return files_in(self.home, name_of(package), choose, most_bytes)


def install(home: Path) -> None:
    real = home / "node_modules/.deno/tracker@1.2.0/node_modules/tracker"
    real.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(NPM)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            path = real / member.name.partition("/")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.read() if file else b"")
    (home / "node_modules/tracker").symlink_to(".deno/tracker@1.2.0/node_modules/tracker")
    python = home / ".python"
    with zipfile.ZipFile(io.BytesIO(WHEEL)) as archive:
        archive.extractall(python)
        record = "\n".join(f"{name},," for name in archive.namelist())
    (python / "tracker-2.0.dist-info/RECORD").write_text(record)


async def test_what_is_installed_is_read_and_no_index_is_asked(fetcher: Fetcher, tmp_path: Path) -> None:
    install(tmp_path)
    read = reader(fetcher, Registries({}, ()), Home(tmp_path))
    assert (await headings(read, "npm:tracker"))[0] == "1.2.0"
    assert await headings(read, "pypi:tracker") == ("2.0", ["Tracker", "Signatures › tracker.client.Tracker"])
    assert await read.version("npm:tracker@1") == "1.2.0"
    assert await read.version("npm:other@3.1.0") == "3.1.0"
    assert await read.version("npm:other@^3") == ""


def test_no_link_leads_out_of_what_is_installed(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    package = home / "node_modules/tracker"
    package.mkdir(parents=True)
    outside.mkdir()
    (outside / "README.md").write_text("secret")
    (package / "package.json").write_text('{"version": "1.0.0"}')
    (package / "README.md").symlink_to(outside / "README.md")
    (home / "node_modules/evil").symlink_to(outside)
    found = files_in(home, "npm:tracker", wanted("npm:tracker"), 1000)
    assert found is not None
    assert set(found[1]) == {"package.json"}
    assert files_in(home, "npm:evil", wanted("npm:evil"), 1000) is None
    assert version_in(home, "npm:absent") == ""
