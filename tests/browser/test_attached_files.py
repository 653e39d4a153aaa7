"""Files that people attach to messages, and files that an agent gives them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved
from tests.browser.studio import Studio, calling, open_studio

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
CSV = "month,cents\nMay,5\n"
MEGABYTES = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("studio")) as studio:
        yield studio


def attach(page: Page, *files: Path) -> None:
    page.locator("input[type=file]").set_input_files(list(files))


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_a_file_is_attached_read_and_answered_with_a_file_to_download(
    open_page: OpenPage, server: Studio, tmp_path: Path, device: dict[str, object]
) -> None:
    (tmp_path / "sales.csv").write_text(CSV)
    page = open_page("/", **device)
    attach(page, tmp_path / "sales.csv")
    draft = page.get_by_role("list", name="Attached files")
    expect(draft.get_by_text("sales.csv")).to_be_visible()
    expect(draft.get_by_role("progressbar")).to_have_count(0)
    server.script(
        calling("create_or_update_files", files=[{"path": "report.md", "content": "# Sales"}]),
        calling("show_file", path="report.md"),
        {"text": "Here is the report."},
    )
    page.get_by_label("Message", exact=True).fill("Make a report")
    page.get_by_role("button", name="Send").click()
    sent = page.get_by_role("article", name="Your message")
    expect(sent.get_by_role("link", name="Download sales.csv")).to_contain_text("CSV text")
    answer = saved(page)
    link = answer.get_by_role("link", name="Download report.md")
    expect(link).to_contain_text("Markdown text")
    assert "month,cents" in str(server.asked()[-1]["messages"]), "the model gets the beginning"
    page.keyboard.press("Escape")
    link.focus()
    with page.expect_download() as downloaded:
        page.keyboard.press("Enter")
    assert Path(downloaded.value.path()).read_text() == "# Sales"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_upload_that_broke_off_is_continued(open_page: OpenPage, server: Studio, tmp_path: Path) -> None:
    big = tmp_path / "big.bin"
    big.write_bytes(b"\1" * MEGABYTES * 1_000_000)
    page = open_page("/")
    sent: list[str] = []

    def refuse(route: object, request: object) -> None:
        sent.append(request.url)  # type: ignore[attr-defined]
        if len(sent) == 2:
            route.fulfill(status=403, json={"code": "forbidden", "detail": "Not now."})  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/v1/uploads/*?offset=*", refuse)
    attach(page, big)
    draft = page.get_by_role("list", name="Attached files")
    draft.get_by_role("button", name="Retry big.bin").click()
    expect(draft.get_by_role("button", name="Retry big.bin")).to_have_count(0)
    expect(draft.get_by_role("progressbar")).to_have_count(0)
    assert [url.rpartition("=")[2] for url in sent] == ["0", "2000000", "2000000", "4000000"]
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
