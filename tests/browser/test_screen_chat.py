"""Talking about a screen beside it: what is sent, what is shown while it is built, what is left when it is done."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved, say
from tests.browser.studio import Studio, building, calling, chat, closing, code, growing, open_studio, open_tab, writing

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
# One red pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc0000003010100"
    "18dd8db00000000049454e44ae426082"
)
# Notes every mark that is ever on the page, also for the length of one frame.
WATCH = """
() => {
  window.seen = []
  const look = () => {
    const found = document.querySelector('[data-screen-chat]')?.textContent?.match(/<\\/?(?:ti|task_|files_)\\w*/)
    if (found) window.seen.push(found[0])
  }
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
}
"""


# A file that comes by an event, as from a clipboard or a folder.
HAND_OVER = """
(box, [name, field, content]) => {
  const files = new DataTransfer()
  files.items.add(new File([new Uint8Array(content)], `${name}.png`, { type: 'image/png' }))
  const event = new Event(name, { bubbles: true, cancelable: true })
  Object.defineProperty(event, field, { value: files })
  box.dispatchEvent(event)
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("chat"), max_steps=6) as studio:
        yield studio


def test_a_chip_starts_the_work_whose_steps_are_shown_and_whose_answer_has_no_marks(
    open_page: OpenPage, server: Studio
) -> None:
    screen = server.screen()
    server.script(*[{**answer, "delay_s": 0.03} for answer in building()])
    page = open_page(f"/screens/{screen['id']}", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(WATCH)
    chat(page).get_by_role("button", name="A pricing page").click()
    expect(chat(page).get_by_label("Your message")).to_contain_text("A pricing page with three plans")
    expect(growing(page).locator("[data-answer-head]")).to_contain_text("Grok 4.1 Fast")
    expect(growing(page).locator("[data-tool=read_files]")).to_contain_text("Read app/page.tsx")
    expect(growing(page).locator("[data-tool=create_or_update_files]")).to_contain_text(re.compile("Writing|Wrote"))
    answer = saved(page)
    expect(answer).to_be_visible()
    expect(answer.locator("[data-answer-head]")).to_contain_text("1 credit")
    expect(answer.get_by_role("heading", name="What I built")).to_be_visible()
    expect(answer.locator("[data-answer-files]")).to_contain_text("2 files")
    expect(chat(page).get_by_role("list", name="Suggestions").get_by_role("button")).to_have_count(3)
    assert page.evaluate("window.seen") == [], "no mark was shown, not even for a moment"

    answer.locator("[data-work] button").first.click()
    for label in ("Read app/page.tsx", "Wrote 2 files", "Checked types"):
        expect(answer.get_by_text(label)).to_be_visible()
    answer.get_by_role("button", name="Copy answer").click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "I look at it first.\n\nI built it.\n\n## What I built\nAll is **done**."

    answer.locator("[data-answer-files] button").first.click()
    answer.locator("[data-answer-files]").get_by_role("button", name="components/plan-card.tsx").click()
    expect(code(page).locator('[data-file="components/plan-card.tsx"]')).to_contain_text("export const Plan")


def test_what_happens_before_the_agent_speaks_is_told_step_by_step(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    server.script({"text": "x", "fault": "stall_first"})
    page = open_page(f"/screens/{screen['id']}")
    say(page, "A landing page")
    steps = growing(page).get_by_role("list", name="Getting ready")
    for name in ("load_screen", "open_sandbox", "load_messages"):
        expect(steps.locator(f"[data-step={name}]")).to_have_attribute("data-step-status", "complete")
    expect(page.get_by_role("status").filter(has_text="Starting…")).to_be_visible()
    page.get_by_role("button", name="Stop the answer").click()
    expect(page.locator("[data-end=cancelled]")).to_be_visible()


def test_an_image_is_refused_for_a_blind_model_and_one_click_takes_one_that_sees(
    open_page: OpenPage, server: Studio, tmp_path: Path
) -> None:
    picture = tmp_path / "sketch.png"
    picture.write_bytes(PNG)
    screen = server.screen()
    page = open_page(f"/screens/{screen['id']}")
    before = len(server.asked())
    page.locator("input[type=file]").set_input_files(picture)
    expect(page.get_by_role("list", name="Attached files").get_by_role("img")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("Like this sketch")
    note = page.locator("[data-note=hard]")
    expect(note).to_contain_text("Grok 4.1 Fast cannot see images")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    page.get_by_label("Message", exact=True).press("Enter")
    assert len(server.asked()) == before, "nothing was sent"

    note.get_by_role("button", name="Use GPT-5.1 (2 credits)").click()
    expect(note).to_have_count(0)
    server.script(*building())
    page.get_by_role("button", name="Send").click()
    expect(saved(page).locator("[data-answer-head]")).to_contain_text("GPT-5.1")
    expect(saved(page).locator("[data-answer-head]")).to_contain_text("2 credits")
    sent = server.asked()[before]
    assert sent["model"] == "router/gpt"
    assert "image_url" in str(sent["messages"]), "the model sees the picture"

    chat(page).get_by_role("button", name="Enlarge: sketch.png").click()
    large = page.get_by_role("dialog", name="sketch.png")
    expect(large.get_by_role("img", name="sketch.png")).to_be_visible()
    page.keyboard.press("Escape")
    expect(large).to_have_count(0)


def test_files_come_by_button_by_paste_and_by_drop(open_page: OpenPage, server: Studio, tmp_path: Path) -> None:
    (tmp_path / "button.png").write_bytes(PNG)
    (tmp_path / "text.txt").write_text("Hello")
    (tmp_path / "empty.txt").touch()
    page = open_page(f"/screens/{server.screen()['id']}")
    images = page.get_by_role("list", name="Attached files")
    page.locator("input[type=file]").set_input_files(tmp_path / "button.png")
    expect(images.get_by_role("img")).to_have_count(1)
    for event, field in (("paste", "clipboardData"), ("drop", "dataTransfer")):
        page.locator("[data-composer]").evaluate(HAND_OVER, [event, field, list(PNG)])
    expect(images.get_by_role("img")).to_have_count(3)
    expect(images.get_by_role("progressbar")).to_have_count(0)
    images.get_by_role("button", name="Remove paste.png").click()
    open_tab(page, "Code")
    open_tab(page, "Chat")
    expect(images.get_by_role("img")).to_have_count(2)
    page.locator("input[type=file]").set_input_files(tmp_path / "text.txt")
    expect(images.get_by_text("text.txt")).to_be_visible()
    page.locator("input[type=file]").set_input_files(tmp_path / "empty.txt")
    expect(chat(page).get_by_text("“empty.txt” is empty, or a folder.")).to_be_visible()


def test_the_selector_says_what_sees_what_costs_and_what_lacks_a_key(open_page: OpenPage, server: Studio) -> None:
    page = open_page(f"/screens/{server.screen()['id']}")
    page.get_by_role("button", name="Model: Grok 4.1 Fast").click()
    opus = page.locator('[data-model="router/opus"]')
    expect(opus).to_contain_text("5 credits")
    expect(opus.get_by_label("Sees images")).to_be_visible()
    keyless = page.locator('[data-model="elsewhere/gemini"]')
    expect(keyless).to_have_attribute("aria-disabled", "true")
    expect(keyless).to_contain_text("STUDIO_KEY_THAT_IS_NOT_SET is not set")
    opus.click()
    expect(page.get_by_role("button", name="Model: Claude Opus 4.5")).to_be_visible()


def test_problems_are_said_plainly_and_one_click_asks_for_them_to_be_mended(
    open_page: OpenPage, server: Studio
) -> None:
    screen = server.screen()
    server.script(writing(app__page="const WRONG = 1\n"), *[closing() for _ in range(5)])
    ended = server.run(screen, "A pricing page")
    assert ended["stop_reason"] == "problems"
    page = open_page(f"/screens/{screen['id']}")
    problems = page.get_by_role("region", name="Completed with problems")
    expect(problems).to_contain_text("Nothing was charged")
    expect(problems).to_contain_text("TS2322")
    expect(saved(page).get_by_role("heading", name="What I built")).to_have_count(1)
    server.script(*building())
    problems.get_by_role("button", name="Ask to fix").click()
    expect(chat(page).get_by_label("Your message").last).to_contain_text("Please fix these problems")
    expect(page.locator("article[aria-label=Answer][data-message]")).to_have_count(2)
    expect(chat(page).get_by_role("button", name="Ask to fix")).to_have_count(0)


def test_an_answer_that_fails_offers_to_try_again(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    server.script({"text": "No", "fault": "bad_key"})
    page = open_page(f"/screens/{screen['id']}")
    say(page, "A dashboard")
    failed = page.locator("[data-end=error]")
    expect(failed).to_be_visible()
    server.script(*building())
    failed.get_by_role("button", name="Retry").click()
    expect(saved(page)).to_be_visible()


def test_a_question_is_answered_where_it_is_asked(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    question = {"id": "plans", "question": "How many plans?", "options": ["Two", "Three"]}
    server.script(calling("ask_user", questions=[question]), *building())
    page = open_page(f"/screens/{screen['id']}")
    say(page, "A pricing page")
    card = chat(page).locator("[data-question]")
    card.get_by_role("button", name="Three").click()
    card.get_by_role("button", name="Answer").click()
    expect(saved(page)).to_be_visible()


def queue(page: Page) -> Locator:
    return page.get_by_role("region", name="Queued messages")


def test_two_windows_see_the_same_work_and_a_stop_in_one_shows_in_both(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    server.script({"text": " ".join(f"word{n}" for n in range(400)), "delay_s": 0.05})
    one = open_page(f"/screens/{screen['id']}")
    other = open_page(f"/screens/{screen['id']}")
    say(one, "A kanban board")
    for page in (one, other):
        expect(growing(page)).to_contain_text("word8")
    say(other, "Then make it blue")
    for page in (one, other):
        expect(queue(page)).to_contain_text("Then make it blue")
    queue(one).get_by_role("button", name="Remove from the queue").click()
    expect(queue(other)).to_have_count(0)
    other.get_by_role("button", name="Stop the answer").click()
    for page in (one, other):
        expect(page.locator("[data-end=cancelled]").first).to_contain_text("Cancelled")
        expect(saved(page, "cancelled")).to_contain_text("word8")


def test_on_a_phone_a_screen_is_asked_for_and_read(open_page: OpenPage, server: Studio) -> None:
    screen = server.screen()
    server.script(*building())
    page = open_page(f"/screens/{screen['id']}", **PHONE)
    if chat(page).count() == 0:
        page.get_by_role("tab", name="Chat").click()
    page.get_by_label("Message", exact=True).fill("A pricing page")
    page.get_by_role("button", name="Send").click()
    expect(saved(page).get_by_role("heading", name="What I built")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
