"""Two people at one document: comments, mentions, the inbox, who drives a conversation, forks."""

import json
import sqlite3
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import WEB, OpenPage, Server
from tests.browser.pages import saved

pytestmark = pytest.mark.browser

# No sandboxes; the demo model answers with rules of its own, on the real text.
CONFIG = """
default_model = "demo"

[providers.demo]
kind = "demo"

[[models]]
id = "demo"
provider = "demo"
name = "demo"

[sandbox]
provider = "none"
"""
TEXT = """# Plan

We move the billing service in three steps.

## Why now

The old cluster reaches the end of its support in March, and every fix takes longer.

## Steps

The way back is the mirror in the other direction.
"""
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
STILL: Any = {"reduced_motion": "reduce"}


class Shared(Server):
    """Others could reach it, so everybody signs in: Ada owns the project, Bob Ross is an editor."""

    project = ""
    bob = ""

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        headers = {"content-type": "application/json", "authorization": f"Bearer {token or self.token}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def document(self, title: str) -> dict[str, Any]:
        body = {"title": title, "markdown": TEXT}
        made: dict[str, Any] = self.ask("POST", f"/v1/projects/{self.project}/documents", body)
        return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    folder = tmp_path_factory.mktemp("documents")
    config = folder / "outlast.toml"
    config.write_text(CONFIG)
    running = Shared(folder)
    running.start("--config", str(config))
    running.token = running.post("/v1/tokens", {"name": "owner"})["token"]
    running.project = running.get("/v1/me")["default_project_id"]
    invitation = running.post(f"/v1/projects/{running.project}/invitations", {"role": "editor"})
    running.stop()
    running.start("--config", str(config), "--host", "0.0.0.0")
    joined = running.post("/v1/invitations/accept", {"token": invitation["token"], "name": "Bob Ross"})
    running.bob = joined["token"]
    yield running
    running.stop()


Enter = Callable[..., Page]


@pytest.fixture
def enter(open_page: OpenPage, server: Shared) -> Enter:
    """Opens a path in a browser of its own, signed in with a token, in the shared project."""

    def open_as(token: str, path: str, **options: Any) -> Page:
        page = open_page("/healthz", **STILL, **options)
        answer = page.request.post(f"{server.url}/v1/session", data={"token": token}, headers={"origin": server.url})
        assert answer.ok
        page.add_init_script(f"localStorage.setItem('outlast.project', '{server.project}')")
        page.goto(path)
        return page

    return open_as


SELECT = """words => {
  const walk = document.createTreeWalker(document.querySelector('[data-document-body]'), NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
    const at = node.data.indexOf(words)
    if (at === -1) continue
    const range = document.createRange()
    range.setStart(node, at)
    range.setEnd(node, at + words.length)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
    return
  }
}"""


def select(page: Page, words: str) -> Locator:
    """Select words of the document; the bar over them."""
    expect(page.locator("[data-document-body]")).to_contain_text(words)
    page.evaluate(SELECT, words)
    return page.locator("[data-selection-bar]")


def tab(page: Page, name: str) -> None:
    page.get_by_role("tablist", name="Document panel").get_by_role("tab", name=name).click()


def card(page: Page) -> Locator:
    return page.locator("[data-comment-card]")


def mark(page: Page) -> Locator:
    return page.locator("mark[data-comment]")


def comment_on(server: Shared, document: dict[str, Any], words: str, body: str, **more: Any) -> Any:
    """Ada's comment on words of the section Why now."""
    (section,) = [one for one in document["sections"] if one["heading"] == "Why now"]
    place = {"section_id": section["id"], "block_id": section["blocks"][0]["id"]}
    quote = {"text": words, "prefix": "", "suffix": ""}
    written = {"body": body, "quote": quote, **place, **more}
    return server.ask("POST", f"/v1/documents/{document['id']}/comments", written)


def test_who_is_named_in_a_comment_finds_it_in_the_inbox_and_answers(enter: Enter, server: Shared) -> None:
    document = server.document("Named")
    bob = enter(server.bob, "/inbox")
    expect(bob.get_by_text("Nothing is waiting for you")).to_be_visible()
    ada = enter(server.token, f"/documents/{document['id']}")
    select(ada, "end of its support").get_by_role("button", name="Comment").click()
    box = ada.get_by_label("Comment", exact=True)
    box.press_sequentially("Is that certain? @bo")
    expect(ada.get_by_role("option", name="Bob Ross")).to_be_visible()
    box.press("Enter")
    expect(box).to_have_value("Is that certain? @Bob Ross ")
    ada.reload()  # what is being written is kept
    expect(mark(ada)).to_have_text("end of its support")
    expect(box).to_have_value("Is that certain? @Bob Ross ")
    box.press("Control+Enter")
    expect(card(ada)).to_contain_text("Is that certain?")

    item = bob.locator("[data-inbox-item=mention]")
    expect(item).to_contain_text("mentioned you")
    expect(bob.locator("[data-inbox-count]")).to_have_text("1")
    item.get_by_role("button", name="Open").click()
    expect(mark(bob)).to_have_text("end of its support")
    expect(bob.locator("[data-inbox-count]")).to_have_count(0)
    bob.get_by_label("Reply", exact=True).fill("The contract says so.")
    bob.get_by_role("button", name="Reply", exact=True).click()
    expect(card(ada)).to_contain_text("The contract says so.")
    expect(ada.get_by_label("1 comment", exact=True)).to_be_visible()

    card(ada).get_by_role("button", name="Resolve").click()
    expect(mark(bob)).to_have_count(0)
    bob.get_by_role("group", name="Filter comments").get_by_role("button", name="Resolved").click()
    expect(card(bob)).to_contain_text("Resolved by")
    card(bob).get_by_role("button", name="Reopen").click()
    expect(mark(ada)).to_have_text("end of its support")


def test_a_comment_given_to_the_agent_is_watched_and_the_wheel_handed_over(enter: Enter, server: Shared) -> None:
    document = server.document("Handed over")
    comment = comment_on(server, document, "every fix takes longer", "Say this in fewer words")
    ada = enter(server.token, f"/documents/{document['id']}?panel=comments&item={comment['id']}")
    bob = enter(server.bob, f"/documents/{document['id']}")
    card(ada).get_by_role("button", name="Assign to agent").click()
    expect(ada.locator("[data-anchor=comment]")).to_contain_text("every fix takes longer")
    expect(saved(ada)).to_be_visible()
    answer = card(bob).locator("[data-agent-answer=complete]")
    answer.get_by_role("button", name="Open the conversation").click()

    banner = bob.locator("[data-lock-banner]")
    expect(banner).to_contain_text("Locked by Owner")
    expect(bob.get_by_label("Message", exact=True)).to_have_count(0)
    banner.get_by_role("button", name="Request hand-over").click()
    expect(banner.get_by_role("button", name="Hand-over requested")).to_be_disabled()
    ada.get_by_role("link", name="Inbox").click()
    ada.locator("[data-inbox-item=handover]").get_by_role("button", name="Hand over").click()
    expect(ada.locator("[data-inbox-item=handover]")).to_have_count(0)
    expect(bob.get_by_label("Message", exact=True)).to_be_visible()
    ada.go_back()
    expect(ada.locator("[data-lock-banner]")).to_contain_text("Locked by Bob Ross")
    ada.locator("[data-anchor=comment]").click()  # and back to what it is about
    expect(card(ada)).to_have_attribute("aria-current", "true")


def test_an_expired_lock_is_taken_over_and_a_free_one_lets_everybody_write(enter: Enter, server: Shared) -> None:
    document = server.document("Expired")
    thread = document["thread_id"]
    server.ask("PUT", f"/v1/threads/{thread}/lock", {}, server.bob)
    ada = enter(server.token, f"/documents/{document['id']}?panel=thread")
    bob = enter(server.bob, f"/documents/{document['id']}?panel=thread")
    expect(ada.locator("[data-lock-banner]")).to_contain_text("Locked by Bob Ross")
    expect(bob.get_by_label("Locked by you")).to_be_visible()
    expire_lock(server, thread)
    ada.reload()
    banner = ada.locator("[data-lock-banner]")
    expect(banner).to_contain_text("The lock of Bob Ross has expired")
    banner.get_by_role("button", name="Take over").click()
    expect(ada.get_by_label("Message", exact=True)).to_be_visible()
    expect(bob.locator("[data-lock-banner]")).to_contain_text("Locked by Owner")
    ada.get_by_label("Locked by you").click()
    ada.get_by_role("menuitem", name="Release the lock").click()
    expect(bob.get_by_label("Message", exact=True)).to_be_visible()
    bob.get_by_label("Message", exact=True).press_sequentially("I go on")
    expect(ada.get_by_text("Bob Ross is writing…")).to_be_visible()


def expire_lock(server: Shared, thread: str) -> None:
    """An hour passes, for this lock alone."""
    with sqlite3.connect(server.folder / "data" / "outlast.db", timeout=30) as database:
        (before,) = database.execute("select expires_at from locks where resource_id = ?", (thread,)).fetchone()
        past = type(before)(0) if isinstance(before, int | float) else "2020-01-01" + before[10:]
        database.execute("update locks set expires_at = ? where resource_id = ?", (past, thread))


def test_a_locked_thread_is_forked_and_the_family_is_shown_as_a_tree(enter: Enter, server: Shared) -> None:
    document = server.document("Forked")
    thread = document["thread_id"]
    body = {"content": "Make it shorter"}
    server.ask("POST", f"/v1/threads/{thread}/runs", body)
    bob = enter(server.bob, f"/documents/{document['id']}?panel=thread")
    expect(saved(bob)).to_be_visible()
    bob.locator("[data-lock-banner]").get_by_role("button", name="Fork thread").click()
    expect(bob.get_by_label("Message", exact=True)).to_be_visible()
    bob.get_by_role("button", name="Conversation menu").click()
    bob.get_by_role("menuitem", name="Fork with a summary").click()
    expect(saved(bob)).to_contain_text("What it is about")
    bob.locator("[data-family]").click()
    branches = bob.locator("[data-branch]")
    expect(branches).to_have_count(3)
    expect(branches.locator("[aria-current=page]")).to_contain_text("You are here")
    assert [branch.get_attribute("aria-level") for branch in branches.all()] == ["1", "2", "3"]
    expect(branches.first).to_have_attribute("data-branch", thread)
    branches.first.get_by_role("link").click()
    expect(bob.locator(f"[data-document-thread={thread}]")).to_be_visible()
    expect(bob.locator("[data-lock-banner]")).to_contain_text("Locked by Owner")


def test_the_agent_is_asked_about_selected_words_and_only_people_get_a_post(enter: Enter, server: Shared) -> None:
    document = server.document("Selected")
    bob = enter(server.bob, f"/documents/{document['id']}")
    select(bob, "the mirror in the other direction").get_by_role("button", name="Ask agent").click()
    expect(bob.locator("[data-ask-agent] blockquote")).to_have_text("the mirror in the other direction")
    bob.get_by_role("button", name="Make it shorter").click()
    expect(saved(bob)).to_be_visible()
    expect(bob.locator("[data-anchor=selection]")).to_have_text("the mirror in the other direction")
    (asked,) = [
        one
        for one in server.ask("GET", f"/v1/documents/{document['id']}/threads")["items"]
        if one["id"] != document["thread_id"]
    ]
    assert asked["anchor"]["type"] == "selection"
    runs = len(server.ask("GET", f"/v1/runs?thread={asked['id']}")["items"])

    box = bob.get_by_label("Message", exact=True)
    box.press_sequentially("@own")
    box.press("Tab")
    box.press_sequentially("please look")
    bob.get_by_role("button", name="Post only").click()
    expect(bob.locator("[data-message] [data-mention]")).to_have_text("@Owner")
    assert len(server.ask("GET", f"/v1/runs?thread={asked['id']}")["items"]) == runs
    ada = enter(server.token, "/inbox")
    named = ada.locator("[data-inbox-item=mention]", has_text="please look")
    named.get_by_role("button", name="Mark as read").click()
    expect(named).to_have_count(0)


def test_a_comment_whose_words_are_gone_keeps_them(enter: Enter, server: Shared) -> None:
    document = server.document("Orphaned")
    comment_on(server, document, "every fix takes longer", "Really?")
    ada = enter(server.token, f"/documents/{document['id']}?panel=comments")
    expect(mark(ada)).to_have_text("every fix takes longer")
    (section,) = [one for one in document["sections"] if one["heading"] == "Why now"]
    block = section["blocks"][0]
    change = {"op": "edit_block", "block_id": block["id"], "markdown": "Support ends.", "old": block["markdown"]}
    server.ask("POST", f"/v1/documents/{document['id']}/changes", {"changes": [change]}, server.bob)
    expect(card(ada)).to_contain_text("This text was deleted")
    expect(card(ada).locator("[data-quote]")).to_have_text("every fix takes longer")
    expect(mark(ada)).to_have_count(0)


def test_a_comment_is_assigned_to_a_member_and_linked_to_another_section(enter: Enter, server: Shared) -> None:
    document = server.document("Assigned")
    comment = comment_on(server, document, "old cluster", "Somebody should look")
    bob = enter(server.bob, "/inbox")
    ada = enter(server.token, f"/documents/{document['id']}?panel=comments&item={comment['id']}")
    card(ada).get_by_role("button", name="Comment options").click()
    ada.get_by_role("menuitem", name="Bob Ross").click()
    expect(card(ada)).to_contain_text("Assigned to Bob Ross")
    card(ada).get_by_role("button", name="Comment options").click()
    ada.get_by_role("menuitem", name="Link more sections…").click()
    card(ada).get_by_label("Steps").check()
    card(ada).get_by_role("button", name="Done").click()
    expect(card(ada).locator("[data-linked]")).to_have_text("Steps")
    item = bob.locator("[data-inbox-item=assigned]", has_text="Somebody should look")
    item.get_by_role("button", name="Open").click()
    expect(card(bob)).to_contain_text("Assigned to you")
    expect(card(bob).locator("[data-linked]")).to_have_text("Steps")
    bob.get_by_role("link", name="Inbox").click()
    expect(bob.get_by_role("heading", name="Inbox", exact=True)).to_be_visible()
    expect(item).to_have_count(0)


FAKE_NOTICES = """
window.shown = []
window.Notification = class {
  static permission = 'default'
  static async requestPermission() { this.permission = 'granted'; return 'granted' }
  constructor(title, options) {
    Object.assign(this, { title, options })
    document.documentElement.dataset.told = window.shown.push(this)
  }
  close() {}
}
"""
HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
  document.dispatchEvent(new Event('visibilitychange'))
}"""


def test_a_browser_tells_of_what_comes_while_its_page_is_hidden(enter: Enter, server: Shared) -> None:
    document = server.document("Told")
    bob = enter(server.bob, "/healthz")
    bob.add_init_script(FAKE_NOTICES)
    bob.goto("/inbox")
    bob.get_by_role("button", name="Notify me").click()
    expect(bob.get_by_role("button", name="Notifications on")).to_be_visible()
    comment_on(server, document, "old cluster", "@Bob Ross, seen?")
    expect(bob.locator("[data-inbox-item=mention]", has_text="seen?")).to_be_visible()
    assert bob.evaluate("shown.length") == 0, "nothing is told while one looks at the page"
    with bob.expect_response(lambda answer: "/events" in answer.url and "/projects/" in answer.url):
        bob.evaluate(HIDE, True)
    comment = comment_on(server, document, "old cluster", "@Bob Ross, and this?")
    expect(bob.locator("html")).to_have_attribute("data-told", "1")
    assert bob.evaluate("shown[0].title") == "Owner mentioned you"
    assert bob.evaluate("shown[0].options.body") == "@Bob Ross, and this?\nTold"
    bob.evaluate("shown[0].onclick()")
    expect(bob.locator(f"[data-comment-card={comment['id']}]")).to_be_visible()


def test_on_a_phone_one_reads_comments_and_works_through_the_inbox(enter: Enter, server: Shared) -> None:
    document = server.document("By phone")
    comment = comment_on(server, document, "every fix takes longer", "@Bob Ross, is this so?")
    bob = enter(server.bob, "/inbox", **PHONE)
    expect(bob.locator("[data-inbox-dot]")).to_be_visible()
    item = bob.locator("[data-inbox-item=mention]", has_text="is this so?")
    item.get_by_role("button", name="Open").click()
    expect(card(bob)).to_contain_text("every fix takes longer")
    bob.get_by_label("Reply", exact=True).fill("It is.")
    bob.get_by_role("button", name="Reply", exact=True).click()
    expect(card(bob)).to_contain_text("It is.")
    assert bob.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    tab(bob, "Text")
    bob.locator(f"mark[data-comment={comment['id']}]").tap()
    expect(card(bob)).to_have_attribute("aria-current", "true")
