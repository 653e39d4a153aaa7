"""What a person does and sees on a thread's page, by its accessible names and data attributes."""

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

THREAD_URL = re.compile(r"/threads/thr_\w+$")


def say(page: Page, text: str) -> None:
    """Write a message and press Enter."""
    box = page.get_by_label("Message", exact=True)
    box.fill(text)
    box.press("Enter")


def start_thread(page: Page, text: str) -> str:
    """Begin a thread from the start page; its id."""
    say(page, text)
    page.wait_for_url(THREAD_URL)
    return page.url.rsplit("/", 1)[1]


def wait_until(page: Page, is_so: Callable[[], bool], wait_s: float = 90) -> None:
    """Wait for what the page shows nothing of."""
    end = time.monotonic() + wait_s
    while not is_so():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def live(page: Page) -> Locator:
    """The answer while it is made."""
    return page.locator("[data-live]")


def saved(page: Page, status: str = "complete") -> Locator:
    """The last saved answer."""
    return page.locator(f"article[aria-label=Answer][data-status={status}][data-message]").last


def prose(answer: Locator) -> str:
    """The answer's text as it is read, tool calls left out."""
    return "\n".join(answer.locator(".prose").all_inner_texts())


def answer_text(messages: dict[str, Any]) -> str:
    """The Markdown of the last assistant message that the API gives."""
    answers = [message for message in messages["items"] if message["role"] == "assistant"]
    return "".join(part["text"] for part in answers[-1]["parts"] if part["type"] == "text")


def words(text: str) -> list[str]:
    """The bare words of rendered text, comparable with those of another page."""
    return re.findall(r"[^\W_]+", text)


def words_of(markdown: str) -> list[str]:
    """The words that Markdown shows: list numbers are drawn, not written; languages of code blocks name the block."""
    return words(re.sub(r"(?m)^\s*\d+\.\s", "", re.sub(r"(?m)^(\s*```)\w*$", r"\1", markdown)))


def expect_words(answer: Locator, at_least: int) -> None:
    """Wait until so many words of the answer itself can be read; its status does not count."""
    expect(answer.locator(".prose").first).to_contain_text(re.compile(rf"(?:\w+\W+){{{at_least}}}"))
