"""The page of a project's files: added by drop or choice, read, found, looked into and deleted, in two windows."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server
from tests.pdfs import pdf

pytestmark = pytest.mark.browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LONG = 60_000
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC"
)


@pytest.fixture
def path(server: Server) -> str:
    """The page of a new project."""
    return f"/projects/{server.post('/v1/projects', {'name': 'Tiles'})['id']}/files"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    contents = {
        "report.pdf": pdf("Weather in Lisbon", "Prices of tiles"),
        "notes.md": b"# Rollout\n\nIt begins in **March**.\n",
        "tile.png": PNG,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return [tmp_path / name for name in contents]


def row(page: Page, name: str) -> Any:
    return page.locator("[data-file]").filter(has_text=name)


def test_files_are_added_read_found_and_deleted_and_others_see_it(
    open_page: OpenPage, path: str, files: list[Path]
) -> None:
    page, other = open_page(), open_page()
    page.goto(path)
    other.goto(path)
    expect(page.get_by_text("No files yet")).to_be_visible()
    page.get_by_label("Files to add").set_input_files(files)
    for name in ("report.pdf", "notes.md"):
        expect(row(page, name)).to_have_attribute("data-state", "ready", timeout=LONG)
        expect(row(other, name)).to_have_attribute("data-state", "ready", timeout=LONG)
    expect(row(page, "report.pdf")).to_contain_text("2 pages")
    expect(row(page, "tile.png").get_by_role("img")).to_be_visible()

    page.get_by_label("Search in files").fill("tiles")
    page.get_by_role("button", name="report.pdf, page 2").click()
    dialog = page.get_by_role("dialog", name="report.pdf")
    expect(dialog).to_contain_text("Prices of tiles")
    dialog.get_by_role("button", name="Previous page").click()
    expect(dialog).to_contain_text("Weather in Lisbon")
    dialog.get_by_role("button", name="Close").click()

    page.get_by_label("Clear search").click()
    page.get_by_role("button", name="Actions for notes.md").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(row(page, "notes.md")).to_have_count(0)
    expect(row(other, "notes.md")).to_have_count(0)


def test_a_file_that_is_refused_says_why_and_can_be_dismissed(open_page: OpenPage, path: str, tmp_path: Path) -> None:
    program = tmp_path / "setup.exe"
    program.write_bytes(b"MZ\x90\x00\x03")
    page = open_page()
    page.goto(path)
    page.get_by_label("Files to add").set_input_files(program)
    expect(page.get_by_role("alert")).to_contain_text("PDF")
    page.get_by_role("button", name="Dismiss setup.exe").click()
    expect(page.get_by_text("No files yet")).to_be_visible()


def test_files_are_shown_on_a_phone(open_page: OpenPage, path: str, files: list[Path]) -> None:
    page = open_page(**PHONE)
    page.goto(path)
    page.get_by_label("Files to add").set_input_files(files)
    expect(row(page, "report.pdf")).to_have_attribute("data-state", "ready", timeout=LONG)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
