"""A long answer while it streams: what is shown keeps up with what was sent, and the page stays free."""

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import saved, say
from tests.browser.studio import Studio, open_studio

pytestmark = pytest.mark.browser

WORDS = int(os.environ.get("LONG_ANSWER_WORDS", "20000"))  # they take some two minutes
FEW = 1_500
# Words were shown up to 106 s late, and single tasks took 7 s: the whole text was parsed and drawn for each delta.
BEHIND_S = 1.0
TASK_MS = 200
LOADED = 5  # the machine of a test has other work: what fails here is five times worse than what is promised

# Every 100 ms: how many words have arrived, and how many are drawn; and every task that took long.
WATCH = """
() => {
  const seen = (window.__seen = { arrived: [], shown: [], tasks: [] })
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) seen.tasks.push([task.startTime, task.duration])
  }).observe({ type: 'longtask' })
  const last = (text) => Number([...text.matchAll(/w(\\d+)/g)].at(-1)?.[1] ?? 0)
  const text = new TextDecoder()
  const read = ReadableStreamDefaultReader.prototype.read
  ReadableStreamDefaultReader.prototype.read = async function () {
    const result = await read.call(this)
    if (result.value instanceof Uint8Array) {
      const n = last(text.decode(result.value))
      if (n > 0) seen.arrived.push([performance.now(), n])
    }
    return result
  }
  setInterval(() => {
    const blocks = document.querySelectorAll('article[aria-label=Answer] .prose > *')
    const n = last([...blocks].slice(-3).map((block) => block.textContent).join(' ').slice(-2000))
    seen.shown.push([performance.now(), n])
  }, 100)
}
"""

# People write for longer than the page needs to load what shows the answer.
READY = """
() => new Promise((ready) => {
  new PerformanceObserver((list) => {
    if (list.getEntries().some(({ name }) => name.includes('markdown'))) ready()
  }).observe({ type: 'resource', buffered: true })
})
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with open_studio(tmp_path_factory.mktemp("long")) as studio:
        yield studio


def long_answer(words: int) -> str:
    """Prose, lists, tables and code, every word numbered; each fifth section ends with some 800 words of code."""
    numbers = iter(range(1, words * 2))

    def some(count: int, between: str = " ") -> str:
        return between.join(f"w{next(numbers)}" for _ in range(count))

    def code(lines: int) -> str:
        said = (f'export const {some(1)} = {some(1)}("{some(2)}") // {some(4)}' for _ in range(lines))
        return "```ts\n" + "\n".join(said) + "\n```"

    parts: list[str] = []
    written = 0
    while written < words:
        lines = 100 if len(parts) % 30 == 24 else 5
        parts += [
            f"## {some(4)}",
            some(60),
            "\n".join(f"- {some(8)}" for _ in range(4)),
            code(lines),
            "| a | b |\n|---|---|\n" + "\n".join(f"| {some(1)} | {some(1)} |" for _ in range(5)),
            f"**{some(10)}**",
        ]
        written += 116 + 8 * lines
    return "\n\n".join(parts)


def long_code(words: int) -> str:
    """One code block, eight words a line."""
    lines = (" ".join(f"w{line * 8 + at + 1}" for at in range(8)) for line in range(words // 8))
    return "Here it is.\n\n```ts\n" + "\n".join(lines) + "\n```"


def most_behind_s(seen: dict[str, Any]) -> tuple[float, int]:
    """The longest time between the arrival of a word and its drawing, or that of a later one; and that word."""
    shown: list[tuple[float, int]] = seen["shown"]
    latest = (0.0, 0)
    at = 0
    for moment, word in seen["arrived"]:
        while at < len(shown) and (shown[at][0] < moment or shown[at][1] < word):
            at += 1
        latest = max(latest, ((shown[min(at, len(shown) - 1)][0] - moment) / 1000, word))
    return latest


def slow_down(page: Page, factor: int) -> None:
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": factor})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(long_answer(FEW), id="short"),
        pytest.param(long_answer(WORDS), id="long", marks=pytest.mark.deep),
        pytest.param(long_code(WORDS // 3), id="code", marks=pytest.mark.deep),
    ],
)
def test_a_long_answer_is_shown_as_it_arrives_on_a_slow_machine(open_page: OpenPage, server: Studio, text: str) -> None:
    server.script({"text": text, "delay_s": 0.003})
    page = open_page()
    page.evaluate(WATCH)
    page.evaluate(READY)
    slow_down(page, 4)
    say(page, "Write a long one")
    began = time.monotonic()
    expect(saved(page)).to_be_visible(timeout=400_000)
    took = time.monotonic() - began
    expect(page.locator("[data-token]").first).to_be_attached()  # what colours cost is counted too
    seen = page.evaluate("window.__seen")
    begin = seen["arrived"][0][0]
    tasks = sorted((lasted for start, lasted in seen["tasks"] if start > begin), reverse=True)
    behind, word = most_behind_s(seen)
    figures = {"took_s": round(took), "behind_s": round(behind, 2), "at_word": word}
    print(json.dumps({**figures, "longest_tasks_ms": tasks[:8]}))
    assert behind <= BEHIND_S * LOADED
    assert max(tasks, default=0) <= TASK_MS * LOADED
