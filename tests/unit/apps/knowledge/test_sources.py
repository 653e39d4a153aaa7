"""What an address names, which sources a configuration describes, when one is due again."""

from __future__ import annotations

import pytest

from outlast.apps.knowledge.readers.versions import best_npm, best_pypi
from outlast.apps.knowledge.readers.web import listed_links
from outlast.apps.knowledge.settings import KnowledgeSettings
from outlast.apps.knowledge.sources import Configured, archive_of, configured_sources, exact_version, kind_of
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.web.http_fetch import NotRead, checked_address


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("https://linear.app/developers/sdk.md", "markdown"),
        ("https://api.slack.com/methods", "markdown"),
        ("https://docs.example/llms.txt", "llms_txt"),
        ("https://docs.example/en/llms-full.txt", "llms_txt"),
        ("https://docs.example/.well-known/llms.txt", "llms_txt"),
        ("https://docs.example/sitemap.xml#/docs/", "sitemap"),
        ("https://docs.example/sitemap_index.xml.gz", "sitemap"),
        ("https://github.com/acme/tracker", "folder"),
        ("https://github.com/acme/tracker/tree/main/docs", "folder"),
        ("https://gitlab.com/acme/deep/tracker/-/tree/v1/docs", "folder"),
        ("https://codeberg.org/acme/tracker/src/branch/main/docs", "folder"),
        ("https://files.example/tracker-1.0.tar.gz#docs", "folder"),
        ("https://github.com/acme/tracker/blob/main/README.md", "markdown"),
        ("npm:zod", "package"),
        ("pypi:httpx", "package"),
        ("docs/guide.md", "markdown"),
        ("/srv/warehouse/docs", "folder"),
        ("docs/llms.txt", "llms_txt"),
    ],
)
def test_an_address_tells_what_it_leads_to(location: str, kind: str) -> None:
    assert kind_of(location) == kind


@pytest.mark.parametrize(
    ("location", "url", "folder", "shown_at"),
    [
        (
            "https://github.com/acme/tracker/tree/v2/packages/sdk/docs/",
            "https://github.com/acme/tracker/archive/v2.tar.gz",
            "packages/sdk/docs",
            "https://github.com/acme/tracker/blob/v2/",
        ),
        (
            "https://github.com/acme/tracker.git",
            "https://github.com/acme/tracker/archive/HEAD.tar.gz",
            "",
            "https://github.com/acme/tracker/blob/HEAD/",
        ),
        (
            "https://gitlab.example/a/b/c/-/tree/main/docs",
            "https://gitlab.example/a/b/c/-/archive/main/c-main.tar.gz",
            "docs",
            "https://gitlab.example/a/b/c/-/blob/main/",
        ),
        (
            "https://git.example/acme/tracker/src/tag/v1/docs",
            "https://git.example/acme/tracker/archive/v1.tar.gz",
            "docs",
            "https://git.example/acme/tracker/src/tag/v1/",
        ),
        ("https://x.example/t.zip#docs", "https://x.example/t.zip", "docs", ""),
    ],
)
def test_repositories_are_had_as_archives(location: str, url: str, folder: str, shown_at: str) -> None:
    found = archive_of(location)
    assert found is not None
    assert (found.url, found.folder, found.shown_at) == (url, folder, shown_at)


def test_the_configuration_names_sources_of_everybody() -> None:
    dependencies = (
        DependencySettings(
            package="@acme/tracker@1",
            docs=("package", "https://docs.example/llms.txt", "https://docs.example/llms.txt"),
            allow_private=("127.0.0.1:9000",),
        ),
        DependencySettings(hosts=("api.example",), docs=("guide.md",)),
        DependencySettings(name="chat", package="pypi:chat", docs=("package",)),
    )
    knowledge = KnowledgeSettings(allow_private=("10.0.0.1:80",))
    private = frozenset({("127.0.0.1", 9000), ("10.0.0.1", 80)})
    only = frozenset({("10.0.0.1", 80)})
    found = configured_sources(SandboxSettings(dependencies=dependencies), knowledge)
    assert list(dict.fromkeys(found)) == [
        Configured("npm:@acme/tracker", "package", "npm:@acme/tracker@1", private, "npm:@acme/tracker@1"),
        Configured("npm:@acme/tracker", "llms_txt", "https://docs.example/llms.txt", private, "npm:@acme/tracker@1"),
        Configured("api.example", "markdown", "guide.md", only, ""),
        Configured("chat", "package", "pypi:chat", only, "pypi:chat"),
    ]
    assert list(configured_sources(None, knowledge)) == []


def test_only_an_exact_version_is_a_version() -> None:
    for package, version in (
        ("npm:@acme/x@1.2.3", "1.2.3"),
        ("npm:x@^1.2.3", ""),
        ("npm:x", ""),
        ("pypi:x==2.0", "2.0"),
        ("pypi:x[extra]==2.0", "2.0"),
        ("pypi:x>=2.0", ""),
    ):
        assert exact_version(package) == version


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://docs.example/x",
        "docs.example/x",
        "http://127.0.0.1/x",
        "http://[::1]:80/x",
        "http://[::ffff:169.254.169.254]/latest",
        "http://10.0.0.8/x",
        "http://user:secret@docs.example/x",
        "http://docs.example:99999/x",
        "http:///x",
    ],
)
def test_addresses_that_nobody_may_be_led_to_are_refused(url: str) -> None:
    with pytest.raises(NotRead) as caught:
        checked_address(url)
    assert "secret" not in str(caught.value)


def test_a_private_address_that_is_allowed_is_taken() -> None:
    assert checked_address("http://127.0.0.1:90/x", frozenset({("127.0.0.1", 90)})) == ("127.0.0.1", 90)


def test_a_list_of_links_is_told_from_a_text() -> None:
    url = "https://docs.example/a/llms.txt"
    listed = "# T\n\n> About.\n\n## Docs\n\n- [A](b.md): x\n* [B](/c.md#part)\n- [B](/c.md)\n- [M](mailto:x@y)\n"
    assert listed_links(listed, url) == ["https://docs.example/a/b.md", "https://docs.example/c.md"]
    assert listed_links("# T\n\nSee [A](b.md).\n\nMuch text.\n\n- [A](b.md)\n", url) == []
    assert listed_links(listed, "https://docs.example/llms-full.txt") == []


VERSIONS = ["1.0.0", "1.2.0", "1.10.1", "2.0.0", "2.1.0-beta.1", "0.3.0", "0.3.9", "0.4.0"]


@pytest.mark.parametrize(
    ("asked", "version"),
    [
        ("", "2.0.0"),
        ("latest", "2.0.0"),
        ("next", "2.1.0-beta.1"),
        ("1", "1.10.1"),
        ("^1.1.0", "1.10.1"),
        ("~1.2", "1.2.0"),
        ("^0.3.0", "0.3.9"),
        (">=1.0.0 <1.5.0", "1.2.0"),
        ("1.x || 0.3.0", "1.10.1"),
        ("2.1.0-beta.1", "2.1.0-beta.1"),
        ("^3", ""),
    ],
)
def test_ranges_of_npm_choose_the_newest_that_fits(asked: str, version: str) -> None:
    assert best_npm(asked, VERSIONS, {"latest": "2.0.0", "next": "2.1.0-beta.1"}) == version


@pytest.mark.parametrize(
    ("asked", "version"),
    [
        ("", "2.1"),
        ("==1.0", "1.0.0"),
        (">=1.0,<2", "1.9"),
        ("~=1.0", "1.9"),
        ("!=2.1", "1.9"),
        ("==1.*", "1.9"),
        (">=2.2b1", "2.2b1"),
    ],
)
def test_ranges_of_pip_choose_the_newest_wheel_that_fits(asked: str, version: str) -> None:
    files = {f"x-{one}-py3-none-any.whl": one for one in ("1.0.0", "1.9", "2.1", "2.2b1")}
    files |= {"x-9.0.tar.gz": "source"}
    assert best_pypi(asked, files) == (version, version)


def test_without_a_fitting_wheel_there_is_none() -> None:
    assert best_pypi("==7", {"x-1.0-py3-none-any.whl": ""}) is None
