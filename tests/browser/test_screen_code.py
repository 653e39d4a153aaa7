"""A screen's code in the page: the tree, one file, search, what an answer changed, the way back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved, say
from tests.browser.studio import PAGE, Studio, building, closing, code, open_code, open_studio, open_tab, writing

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("code")) as studio:
        yield studio


def change(page: Page, path: str) -> Locator:
    """A file among those that differ."""
    return code(page).locator(f'[data-change][data-path="{path}"]')


def test_the_tree_is_walked_with_keys_and_a_file_is_read_in_colours(open_page: OpenPage, server: Studio) -> None:
    page = open_page()
    open_code(page, server.screen())
    tree = code(page).get_by_role("tree", name="Files")
    app = tree.get_by_role("treeitem", name="app", exact=True)
    expect(app).to_have_attribute("aria-expanded", "true")
    app.focus()
    page.keyboard.press("ArrowLeft")
    expect(app).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    expect(tree.get_by_role("treeitem", name="page.tsx")).to_be_focused()
    page.keyboard.press("Enter")
    file = code(page).locator('[data-file="app/page.tsx"]')
    expect(file).to_contain_text("export default function Page")
    expect(file.locator("[data-token]").first).to_be_visible()
    expect(file.get_by_role("button", name="Copy file")).to_be_visible()
    expect(file).to_be_focused()
    file.get_by_role("button", name="Back to the files").click()
    expect(tree.get_by_role("treeitem", name="page.tsx")).to_be_focused()
    code(page).get_by_role("tab", name="Files").focus()
    page.keyboard.press("ArrowRight")
    expect(code(page).get_by_role("tab", name="Changes")).to_have_attribute("aria-selected", "true")


def test_a_hit_of_the_search_opens_its_file_at_its_line(open_page: OpenPage, server: Studio) -> None:
    page = open_page()
    open_code(page, server.built())
    code(page).get_by_label("Search in files").fill("plan-card")
    code(page).locator('[data-hit="app/page.tsx:1"]').click()
    expect(code(page).locator('[data-file="app/page.tsx"] [data-marked]')).to_contain_text("plan-card")
    code(page).get_by_role("button", name="Back to the files").click()
    code(page).get_by_label("Search in files").fill("no such word anywhere")
    expect(code(page).get_by_text("No results")).to_be_visible()
    code(page).get_by_role("button", name="Clear search").click()
    expect(code(page).get_by_role("tree", name="Files")).to_be_visible()


def test_what_an_answer_changed_is_a_diff_and_an_earlier_point_is_brought_back(
    open_page: OpenPage, server: Studio
) -> None:
    screen = server.built("First")
    server.script(writing(app__page=PAGE.format(words="Second")), closing())
    server.run(screen, "Say it differently")
    page = open_page()
    open_code(page, screen)
    code(page).get_by_role("tab", name="Changes").click()
    changed = change(page, "app/page.tsx")
    expect(changed.locator("[data-line=removed]")).to_contain_text("First")
    expect(changed.locator("[data-line=added]")).to_contain_text("Second")
    code(page).get_by_role("button", name="Choose an answer").click()
    page.get_by_role("menuitem", name="A pricing page").click()
    expect(change(page, "components/plan-card.tsx")).to_have_attribute("data-change", "added")

    code(page).get_by_role("tab", name="History").click()
    points = code(page).get_by_role("list", name="Saved points").locator("[data-checkpoint]")
    expect(points).to_have_count(3)
    expect(points.nth(0)).to_contain_text("Now")
    expect(points.nth(1)).to_contain_text("A pricing page")
    points.nth(1).get_by_role("button", name="Restore").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Restore").click()
    expect(points.nth(0)).to_contain_text("Restored")
    code(page).get_by_role("tab", name="Files").click()
    code(page).get_by_role("treeitem", name="page.tsx").click()
    expect(code(page).locator('[data-file="app/page.tsx"]')).to_contain_text("First")


def test_files_that_the_agent_writes_appear_while_one_looks(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    page = open_page()
    open_code(page, screen)
    expect(code(page).get_by_role("treeitem", name="plan-card.tsx")).to_have_count(0)
    server.script(*building())
    server.run(screen, "A pricing page")
    written = code(page).get_by_role("treeitem", name="plan-card.tsx")
    expect(written.locator("[data-changed]")).to_be_visible()


def test_files_are_read_while_the_sandbox_is_gone_and_it_is_said(open_page: OpenPage, server: Studio) -> None:
    screen = server.built("Kept")
    sandbox = server.get(f"/v1/screens/{screen['id']}")["sandbox_id"]
    page = open_page()
    page.route("**/open", lambda route: route.abort())  # the canvas would wake it again
    page.route("**/preview", lambda route: route.abort())
    server.post(f"/v1/sandboxes/{sandbox}/kill", {})
    open_code(page, screen)
    expect(code(page).locator("[data-asleep]")).to_contain_text("as last saved")
    code(page).get_by_role("treeitem", name="page.tsx").click()
    expect(code(page).locator('[data-file="app/page.tsx"]')).to_contain_text("Kept")


def test_the_archive_is_loaded_and_code_opens_from_the_chat(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    page = open_page(f"/screens/{screen['id']}")
    open_tab(page, "Chat")
    server.script(*building())
    say(page, "A pricing page")
    saved(page).get_by_role("button", name="Changes in this answer").click()
    expect(change(page, "app/page.tsx")).to_have_attribute("data-change", "changed")
    with page.expect_download() as loading:
        code(page).get_by_role("link", name="ZIP").click()
    assert loading.value.suggested_filename.endswith(".zip")


def test_on_a_phone_the_tree_and_the_file_take_turns(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    page = open_page(f"/screens/{screen['id']}", **PHONE)
    page.get_by_role("tab", name="Code").click()
    code(page).get_by_role("treeitem", name="page.tsx").click()
    expect(code(page).get_by_role("tree")).to_be_hidden()
    expect(code(page).locator('[data-file="app/page.tsx"]')).to_contain_text("Page")
    code(page).get_by_role("button", name="Back to the files").click()
    expect(code(page).get_by_role("tree")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
