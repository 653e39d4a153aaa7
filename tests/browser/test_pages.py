"""Live pages: built while somebody watches, used while they change, looked at as they were."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.live_pages import (
    FORM,
    another_site,
    answering,
    ask,
    changes,
    frame_of,
    full,
    inside,
    make_page,
    open_page_view,
    panel,
    patches,
    stalling,
    state,
    summary,
    text,
    told,
)
from tests.browser.studio import Studio, calling, open_studio

pytestmark = pytest.mark.browser

PAGE_URL = re.compile(r"/pages/pag_\w+$")
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("pages")) as studio:
        yield studio


def test_saying_what_a_page_shall_show_makes_it_and_it_stands_in_the_list(open_page: OpenPage, server: Studio) -> None:
    project = server.post("/v1/projects", {"name": "First"})["id"]
    server.script(answering(full("<h1>Hello</h1>", "Greetings"), summary("a greeting → wrote one")))
    page = open_page(f"/projects/{project}/pages")
    expect(page.get_by_role("heading", name="What should the page show?")).to_be_visible()
    ask(page, "A greeting")
    page.wait_for_url(PAGE_URL)
    expect(inside(page).get_by_role("heading", name="Hello")).to_be_visible()
    expect(page.get_by_role("heading", name="Greetings")).to_be_visible()
    expect(state(page)).to_have_text("Ready")
    page.get_by_role("link", name="All pages").click()
    card = page.get_by_role("list", name="Pages").get_by_role("link", name="Greetings")
    expect(card).to_be_visible()
    expect(card.locator("iframe").content_frame.get_by_text("Hello")).to_be_attached()


def test_patches_arrive_while_the_agent_writes_and_what_one_types_survives_them(
    open_page: OpenPage, server: Studio
) -> None:
    made = make_page(server, FORM)
    page = open_page()
    shown = open_page_view(page, made)
    item = shown.locator("#item")
    item.fill("half a word")
    item.evaluate("field => field.setSelectionRange(4, 6)")
    anew = FORM.split("</p>")[1].split("</form>")[0].replace("Add<", "Put it in<") + "</form>"
    server.script(stalling(patches(text("count", "1")) + patches({"op": "replace", "at": "#add", "html": anew})))
    server.post(f"/v1/threads/{made['thread_id']}/runs", {"content": "Rename the button"})
    expect(shown.locator("#count")).to_have_text("1")
    expect(shown.get_by_role("button", name="Put it in")).to_be_visible()
    expect(state(page)).to_have_text("Working")
    expect(item).to_have_value("half a word")
    expect(item).to_be_focused()
    assert item.evaluate("field => [field.selectionStart, field.selectionEnd]") == [4, 6]
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator("[data-run-strip]")).to_have_count(0)


def test_what_is_done_on_a_page_starts_a_run_that_changes_it(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    page = open_page()
    shown = open_page_view(page, made)
    server.script(answering(patches(text("count", "2")), summary("more → counted")))
    shown.get_by_role("button", name="More").click()
    expect(shown.locator("#count")).to_have_text("2")
    expect(shown.get_by_role("button", name="More")).not_to_have_attribute("aria-busy", "true")
    assert '1. Action: more Data: {\\"by\\":\\"2\\"}' in told(server.asked())
    expect(state(page)).to_have_text("Ready")
    server.script(answering(patches({"op": "append", "at": "#list", "html": "<li>Milk</li>"})))
    shown.locator("#item").fill("Milk")
    shown.locator("#item").press("Enter")
    expect(shown.get_by_role("listitem")).to_have_text("Milk")
    expect(shown.locator("#item")).to_have_value("")  # it was handed in
    assert '1. Action: add Data: {\\"item\\":\\"Milk\\"}' in told(server.asked())


def test_actions_wait_while_the_agent_works_and_go_together_unless_taken_back(
    open_page: OpenPage, server: Studio
) -> None:
    made = make_page(server, FORM)
    page = open_page()
    shown = open_page_view(page, made)
    server.script(stalling(patches(text("count", "1"))), answering(patches(text("count", "9"))))
    ask(page, "Begin")
    expect(shown.locator("#count")).to_have_text("1")
    shown.get_by_role("button", name="More").click()
    shown.locator("#item").fill("Bread")
    shown.locator("#item").press("Enter")
    expect(shown.get_by_role("button", name="More")).to_have_attribute("aria-busy", "true")
    waiting = page.get_by_role("region", name="Waiting actions").get_by_role("listitem")
    expect(waiting).to_have_text([re.compile("more: by 2"), re.compile("add: item Bread")])
    waiting.first.get_by_role("button", name="Cancel").click()
    expect(waiting).to_have_count(1)
    expect(shown.get_by_role("button", name="More")).not_to_have_attribute("aria-busy", "true")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(shown.locator("#count")).to_have_text("9")
    asked = told(server.asked())
    assert '1. Action: add Data: {\\"item\\":\\"Bread\\"}' in asked
    assert "Action: more" not in asked


# A double click on "Create" made two issues in the tracker, and fifty waiting clicks buried the page.
def test_a_double_click_acts_once_and_what_repeats_is_one_line(open_page: OpenPage, server: Studio) -> None:
    repeated = '<button data-action="inc" data-repeat>Plus</button>'
    made = make_page(server, FORM + repeated)
    page = open_page()
    shown = open_page_view(page, made)
    server.script(stalling(patches(text("count", "1"))), answering(patches(text("count", "9"))))
    ask(page, "Begin")
    expect(shown.locator("#count")).to_have_text("1")
    shown.get_by_role("button", name="More").dblclick()
    for _ in range(5):
        shown.get_by_role("button", name="Plus").click()
    region = page.get_by_role("region", name="Waiting actions")
    expect(region.get_by_role("listitem")).to_have_text([re.compile("^more: by 2"), re.compile("^inc ×5")])
    assert len(server.get(f"/v1/pages/{made['id']}/actions")["items"]) == 6
    region.get_by_role("button", name="Cancel all").click()
    expect(region).to_have_count(0)


# The frame went on showing version 11 of 14 while the change that was asked for was made.
def test_an_earlier_version_does_nothing_and_says_so_and_asking_returns_to_now(
    open_page: OpenPage, server: Studio
) -> None:
    made = make_page(server, FORM)
    server.script(answering(patches(text("count", "1")), summary("one")), answering(patches(text("count", "2"))))
    server.run(made, "Count")
    page = open_page()
    shown = open_page_view(page, made)
    expect(shown.locator("#count")).to_have_text("1")
    entries = panel(page, "History").get_by_role("list", name="Versions").locator("[data-version]")
    entries.last.get_by_role("button").first.click()
    travel = page.get_by_role("region", name="Earlier version")
    expect(travel).to_contain_text("Viewing version 1 of 2")
    expect(shown.locator("#count")).to_have_text("0")
    shown.get_by_role("button", name="More").click()
    expect(page.get_by_text("This is version 1. Go back to now to use the page.").first).to_be_visible()
    assert server.get(f"/v1/pages/{made['id']}/actions")["items"] == []
    ask(page, "Count on")
    expect(travel).to_have_count(0)
    expect(shown.locator("#count")).to_have_text("2")


def test_an_earlier_version_is_looked_at_and_brought_back(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    for number in ("1", "2"):
        server.script(
            answering(patches(text("count", number)), patches(text("title", f"No {number}")), summary(number))
        )
        server.run(made, f"Count to {number}")
    page = open_page()
    shown = open_page_view(page, made)
    expect(shown.locator("#count")).to_have_text("2")
    entries = panel(page, "History").get_by_role("list", name="Versions").locator("[data-version]")
    expect(entries).to_have_count(3)
    expect(entries.first).to_contain_text("Now")
    entries.nth(1).get_by_role("button").first.click()
    travel = page.get_by_role("region", name="Earlier version")
    expect(shown.locator("#title")).to_have_text("No 1")
    travel.get_by_label("Version").press("ArrowLeft")
    expect(shown.locator("#count")).to_have_text("1")
    expect(shown.locator("#title")).to_have_text("Shopping")
    travel.get_by_role("button", name="Back to current").click()
    expect(shown.locator("#count")).to_have_text("2")
    entries.last.get_by_role("button").first.click()
    expect(shown.locator("#count")).to_have_text("0")
    travel.get_by_role("button", name="Restore").click()
    expect(travel).to_have_count(0)
    expect(shown.locator("#title")).to_have_text("Shopping")
    expect(entries).to_have_count(4)
    assert 'id="count">0<' in server.get(f"/v1/pages/{made['id']}")["html"]


def test_the_last_changes_are_undone_by_button_and_by_key_also_from_within_the_page(
    open_page: OpenPage, server: Studio
) -> None:
    made = make_page(server, FORM)
    for number in ("1", "2"):
        server.script(answering(patches(text("count", number))))
        server.run(made, f"Count to {number}")
    page = open_page()
    shown = open_page_view(page, made)
    expect(shown.locator("#count")).to_have_text("2")
    shown.locator("#item").fill("typed")
    page.keyboard.press("Control+z")  # is the field's own
    expect(shown.locator("#count")).to_have_text("2")
    shown.locator("#more").focus()
    page.keyboard.press("Control+z")
    expect(shown.locator("#count")).to_have_text("1")
    page.get_by_role("button", name="Undo last changes").click()
    expect(shown.locator("#count")).to_have_text("0")


def test_two_browsers_show_the_same_and_one_that_was_away_catches_up(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    mine, theirs = open_page(), open_page()
    shown, seen = open_page_view(mine, made), open_page_view(theirs, made)
    server.script(answering(patches(text("count", "1"))), answering(patches(text("title", "Later"))))
    ask(mine, "Count")
    for one in (shown, seen):
        expect(one.locator("#count")).to_have_text("1")
    theirs.context.set_offline(True)
    server.run(made, "Rename it")
    expect(shown.locator("#title")).to_have_text("Later")
    theirs.context.set_offline(False)
    expect(seen.locator("#title")).to_have_text("Later")
    assert _html(mine) == _html(theirs) == server.get(f"/v1/pages/{made['id']}")["html"]


def _html(page: Page) -> str:
    found: str = frame_of(page).evaluate("document.querySelector('[data-outlast-page]').innerHTML")
    return found


def test_a_hostile_page_reaches_neither_the_app_nor_the_network(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    page = open_page()
    open_page_view(page, made)
    sent = changes(page)
    reached = frame_of(page).evaluate(
        """async app => {
          const tries = {
            parent: () => parent.document.title,
            storage: () => localStorage.length,
            cookie: () => document.cookie,
            top: () => { top.location.href = app },
            api: () => fetch(app + '/v1/me'),
            own: () => fetch('/v1/me'),
            picture: () => new Promise((yes, no) => Object.assign(new Image(),
              { onload: yes, onerror: no, src: app + '/icon.svg' })),
            frame: () => new Promise((yes, no) => {
              const frame = document.createElement('iframe')
              frame.src = app
              document.body.append(frame)
              setTimeout(() => no(), 300)
            }),
            script: () => { Function('return 1')() },
            inline: () => new Promise((yes, no) => {
              window.ran = yes
              document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="ran()">')
              setTimeout(no, 300)
            }),
          }
          const reached = []
          for (const [name, attempt] of Object.entries(tries)) {
            try { await attempt(); reached.push(name) } catch { /* kept out */ }
          }
          for (const junk of [null, 1, 'x', {}, { outlast: 'page' }, { outlast: 'page', type: 'action' },
              { outlast: 'page', type: 'action', key: 'k', name: 'NOT a name', data: {} },
              { outlast: 'page', type: 'action', key: 'k', name: 'ok', data: { much: 'x'.repeat(20000) } },
              { outlast: 'page', type: 'open', href: 'javascript:alert(1)' },
              { outlast: 'page', type: 'html', version: 99, html: '<h1>Mine</h1>' },
              { type: 'action', key: 'k', name: 'ok', data: {} }])
            parent.postMessage(junk, '*')
          return reached
        }""",
        server.url,
    )
    assert reached == []
    assert page.url.endswith(made["id"])
    page.evaluate("new Promise(done => setTimeout(done))")
    assert sent == []
    assert server.get(f"/v1/pages/{made['id']}/actions")["items"] == []


def test_messages_of_other_windows_change_nothing(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    page = open_page()
    shown = open_page_view(page, made)
    page.evaluate(
        "postMessage({ outlast: 'page', type: 'action', key: 'k', name: 'forged', data: {} }, location.origin)"
    )
    frame_of(page).evaluate("postMessage({ outlast: 'page', type: 'html', version: 99, html: '<h1>Mine</h1>' }, '*')")
    expect(shown.locator("#title")).to_have_text("Shopping")
    assert server.get(f"/v1/pages/{made['id']}/actions")["items"] == []


def test_links_open_in_a_window_that_knows_nothing_of_the_app(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, '<a href="https://other.example/there">Elsewhere</a><a href="#end">Down</a>')
    page = open_page()
    shown = open_page_view(page, made)
    page.context.route("https://other.example/**", lambda route: route.fulfill(body="There"))
    with page.context.expect_page() as opened:
        shown.get_by_role("link", name="Elsewhere").click()
    there = opened.value
    expect(there.get_by_text("There")).to_be_visible()
    assert there.evaluate("opener === null && document.referrer === ''")
    expect(shown.get_by_role("link", name="Down")).to_be_visible()


def test_the_code_that_ran_stands_beside_the_page_with_its_result(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    server.script(
        calling("run_code", code="1 + 1", description="Add two numbers"),
        answering(patches(text("count", "2")), summary("add → added")),
    )
    page = open_page()
    shown = open_page_view(page, made)
    ask(page, "Add")
    expect(shown.locator("#count")).to_have_text("2")
    code = panel(page, "Code")
    ran = code.locator("[data-code][data-tool=run_code]")
    expect(ran).to_contain_text("Add two numbers")
    expect(ran).to_contain_text("1 + 1")


def test_a_link_shows_the_page_live_and_read_only_in_any_site_until_it_is_revoked(
    open_page: OpenPage, server: Studio
) -> None:
    made = make_page(server, FORM, "Shared")
    page = open_page()
    shown = open_page_view(page, made)
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog", name="Share this page")
    dialog.get_by_label("Name of the link").fill("team wiki")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.locator("[data-new-link] code")).to_have_count(2)
    link, html = dialog.locator("[data-new-link] code").all_inner_texts()
    wiki = open_page()
    with another_site(html) as address:
        wiki.goto(address)
    embedded = wiki.frame_locator("iframe")
    expect(embedded.locator("#title")).to_have_text("Shopping")
    expect(embedded.get_by_role("button", name="More")).to_be_disabled()
    assert link in html
    server.script(answering(patches(text("count", "7"))))
    server.run(made, "Count")
    expect(shown.locator("#count")).to_have_text("7")
    expect(embedded.locator("#count")).to_have_text("7")
    dialog.get_by_role("button", name="Revoke team wiki").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
    expect(embedded.get_by_role("status")).to_contain_text("no longer works")
    expect(embedded.locator("#count")).to_have_count(0)


def test_on_a_phone_the_page_fills_the_window_and_the_rest_is_a_tab_away(open_page: OpenPage, server: Studio) -> None:
    made = make_page(server, FORM)
    page = open_page(**PHONE)
    shown = open_page_view(page, made)
    box = page.locator("[data-page-frame]").bounding_box()
    assert box is not None
    assert box["width"] == 390
    server.script(answering(patches(text("count", "3"))))
    shown.get_by_role("button", name="More").click()
    expect(shown.locator("#count")).to_have_text("3")
    history = panel(page, "History")
    history.locator("[data-version]").last.get_by_role("button").first.click()
    expect(shown.locator("#count")).to_have_text("0")
