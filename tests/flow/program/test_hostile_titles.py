"""What people and agents write is shown by every list as it is, also where it looks like markup of the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.request import Request, urlopen

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast

TITLE = "[/b] [link=https://evil.example]hi"


@dataclass
class Made:
    url: str
    document: str
    page: str
    screen: str
    thread: str

    def post(self, path: str, **body: object) -> dict[str, object]:
        headers = {"content-type": "application/json"}
        with urlopen(Request(self.url + path, json.dumps(body).encode(), headers)) as answer:
            said: dict[str, object] = json.loads(answer.read())
        return said


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("hostile")
    config = folder / "outlast.toml"
    config.write_text(CONFIG.format(folder=folder / "data"))
    notes = folder / "[b] notes [bold].md"
    notes.write_text(f"# Rollout {TITLE}\n\nIt begins in March.\nIt ends in May.\n")
    with served(config) as url:
        done = outlast("runs", "start", f"say {TITLE}", url=url)
        assert done.returncode == Exit.OK, done.stderr
        document = outlast("documents", "create", TITLE, url=url).stdout.strip()
        page = outlast("pages", "create", TITLE, url=url).stdout.strip()
        screen = outlast("screens", "create", TITLE, url=url).stdout.strip()
        assert outlast("files", "add", str(notes), url=url).returncode == Exit.OK
        assert outlast("memories", "add", TITLE, "--for-everyone", url=url).returncode == Exit.OK
        thread = json.loads(outlast("threads", "list", "--json", url=url).stdout)["items"][0]["id"]
        here = Made(url, document, page, screen, thread)
        here.post("/v1/projects", name=TITLE)
        here.post(f"/v1/documents/{document}/comments", body=TITLE)
        yield here


LISTS = {
    "projects list": ("projects", "list"),
    "threads list": ("threads", "list"),
    "run list": ("runs", "list"),
    "document list": ("documents", "list"),
    "document comments": ("documents", "comments", "{document}"),
    "page list": ("pages", "list"),
    "screen list": ("screens", "list"),
    "file list": ("files", "list"),
    "memory list": ("memories", "list"),
    "lines of runs": ("memories", "list", "--scope", "run"),
    "file search": ("files", "search", "rollout"),
}
QUIET = {
    "document versions": ("documents", "versions", "{document}"),
    "page versions": ("pages", "versions", "{page}"),
    "page actions": ("pages", "actions", "{page}"),
    "page links": ("pages", "links", "{page}"),
    "page code": ("pages", "code", "{page}"),
    "proposal list": ("proposals", "list", "{document}"),
    "checkpoint list": ("checkpoints", "list", "{thread}"),
    "sandbox list": ("sandboxes", "list"),
    "secret uses": ("secrets", "uses"),
    "docs list": ("docs", "list"),
    "screen themes": ("screens", "themes"),
}


@pytest.mark.parametrize("words", [*LISTS.values(), *QUIET.values()], ids=[*LISTS, *QUIET])
def test_every_list_shows_a_title_that_looks_like_markup(made: Made, words: tuple[str, ...]) -> None:
    ids = {"document": made.document, "page": made.page, "thread": made.thread}
    told = outlast(*(word.format(**ids) for word in words), url=made.url)
    assert told.returncode == Exit.OK, told.stderr
    if words in LISTS.values():
        assert ("[bold]" if words[0] == "files" else TITLE) in told.stdout


def test_a_hit_keeps_its_line_breaks(made: Made) -> None:
    told = outlast("files", "search", "rollout", url=made.url)
    assert "\ufffd" not in told.stdout
    assert "It begins in March.\nIt ends in May." in told.stdout


def test_a_note_with_square_brackets_is_told_whole(made: Made) -> None:
    note = json.loads(outlast("files", "search", "rollout", "--json", url=made.url).stdout)["note"]
    assert "[embeddings]" in note
    assert note in outlast("files", "search", "rollout", url=made.url).stderr
