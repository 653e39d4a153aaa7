"""Documents: 500 blocks with 200 open edits in Chromium. How long from navigation until the document is shown, and from
a key until the frame that shows what it does, while typing in a block and while stepping through the review. Beside it
a bare page that does the least possible work: it shows the same texts as plain paragraphs, and types into a plain box.
Needs Chromium and the built page."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio
import sqlalchemy as sa
from playwright.async_api import BrowserContext, Page

from bench.client import percentile
from bench.figures import Figure, Results
from bench.servers import CORES, Server, server
from bench.workloads.canvas import busy_ms, chromium, request
from outlast.apps.documents.tables import edits, proposals
from outlast.base.ids import new_id

SECTIONS: Final = 25
BLOCKS: Final = 500
EDITS: Final = 200
OPEN_GOAL_MS: Final = 1000
KEY_GOAL_MS: Final = 50
PATIENCE_MS: Final = 120_000
SENTENCE: Final = (
    "Paragraph {number} of the handbook says, in a rather lengthy way, what **everybody** in the harbour basically has "
    "to know about boats, weather and fees, and it says so again in other words."
)
# Runs before any script of the page: records the time at which the first view is complete and painted. The clock starts
# with the navigation.
SHOWN: Final = """(() => {
  const there = () => document.querySelectorAll('[data-block-id]').length >= BLOCKS
    && document.querySelector('[data-review-row], [data-review-hint], [data-bare-edit]') !== null
  const look = () => {
    if (!there()) return requestAnimationFrame(look)
    requestAnimationFrame(() => setTimeout(() => { window.shownAfter = performance.now() }))
  }
  requestAnimationFrame(look)
})()"""
# From the key press (by the browser's timestamp) until the next frame is painted.
KEYS: Final = """() => {
  window.keys = []
  addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => window.keys.push(performance.now() - timeStamp)
    channel.port2.postMessage(0)
  }), true)
}"""
BARE: Final = """<!doctype html><meta charset="utf-8"><body style="overflow:auto"><main></main><script>
(async () => {
  const [one, edits] = await Promise.all(['', '/proposals?state=open'].map(
    (path) => fetch('/v1/documents/DOCUMENT' + path).then((answer) => answer.json())))
  const texts = new Map(edits.items.flatMap((item) => item.edits).map((edit) => [edit.block_id, edit.new_text]))
  document.querySelector('main').append(...one.sections.flatMap(({ heading, blocks }) => [
    Object.assign(document.createElement('h2'), { textContent: heading }),
    ...blocks.flatMap(({ id, markdown }) => {
      const block = Object.assign(document.createElement('p'), { textContent: markdown, tabIndex: 0 })
      block.dataset.blockId = id
      if (!texts.has(id)) return [block]
      const edit = Object.assign(document.createElement('p'), { textContent: texts.get(id) })
      edit.dataset.bareEdit = ''
      return [block, edit]
    }),
  ]))
  const box = document.querySelector('main').appendChild(document.createElement('textarea'))
  const marks = [...document.querySelectorAll('[data-bare-edit]')]
  let at = -1
  addEventListener('keydown', ({ key, target }) => {
    if (key !== 'j' || target === box) return
    if (at >= 0) marks[at].style.outline = ''
    at = (at + 1) % marks.length
    marks[at].style.outline = '1px solid'
    marks[at].scrollIntoView({ block: 'center' })
  })
})()
</script>"""


@dataclass(frozen=True, slots=True)
class Taken:
    """The time of each measurement, and the main thread's average CPU time."""

    times_ms: list[float]
    work_ms: float


Measured = tuple[Taken, Taken, Taken, Taken]  # opened, opened with the review, typed, stepped


async def measure(quick: bool) -> Results:
    """Outlast and the bare page, by the same clocks in the same browser."""
    os.sched_setaffinity(0, set(CORES))  # the browser is what is measured: it has all cores
    opens, keys = (4, 40) if quick else (12, 150)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with server("outlast", 9, Path(name)) as running, chromium() as browser:
            context = await browser.new_context(
                base_url=f"http://localhost:{running.port}", viewport={"width": 1600, "height": 1000}
            )
            document = await _prepared(context, running)
            own = await _own(context, document, opens, keys)
            bare = await _bare(context, document, opens, keys)
    return {"outlast": _figures(own), "raw": _figures(bare)}


def _figures(measured: Measured) -> list[Figure]:
    """Work is the CPU time of the page's main thread, without the delays of a busy machine."""
    opened, reviewed, typed, stepped = measured
    figures = [
        Figure("open: p50", percentile(opened.times_ms, 0.5), "ms", OPEN_GOAL_MS),
        Figure("open: p95", percentile(opened.times_ms, 0.95), "ms", OPEN_GOAL_MS),
        Figure("open with the review: p50", percentile(reviewed.times_ms, 0.5), "ms", OPEN_GOAL_MS),
    ]
    for name, taken in (("typing", typed), ("next edit", stepped)):
        figures += [
            Figure(f"{name}, key → paint: p50", percentile(taken.times_ms, 0.5), "ms"),
            Figure(f"{name}, key → paint: p95", percentile(taken.times_ms, 0.95), "ms", KEY_GOAL_MS),
        ]
    named = (("open", opened), ("open with the review", reviewed), ("typing, a key", typed), ("next edit", stepped))
    return [*figures, *(Figure(f"{name}: work", taken.work_ms, "ms") for name, taken in named)]


async def _prepared(context: BrowserContext, running: Server) -> dict[str, Any]:
    """A document of 25 sections with 20 paragraphs each, and 200 edits that an agent proposes."""
    project = (await request(context, "GET", "/v1/me"))["default_project_id"]
    each = BLOCKS // SECTIONS
    text = "\n\n".join(
        "\n\n".join([f"# Chapter {one + 1}", *(SENTENCE.format(number=one * each + n + 1) for n in range(each))])
        for one in range(SECTIONS)
    )
    wish = {"title": "Handbook", "markdown": text}
    document: dict[str, Any] = await request(context, "POST", f"/v1/projects/{project}/documents", wish)
    _propose(running.directory / "data" / "outlast.db", document)
    return document


def _propose(file: Path, document: dict[str, Any]) -> None:
    """The proposals of forty runs."""
    blocks = [(section["id"], block) for section in document["sections"] for block in section["blocks"]]
    every = len(blocks) / EDITS
    about = {"document_id": document["id"], "project_id": document["project_id"]}
    engine = sa.create_engine(f"sqlite:///{file}", connect_args={"timeout": 30})
    with engine.begin() as conn:
        for group in range(EDITS // 5):
            proposal_id = new_id("proposal")
            state = {"summary": f"Shorten the text ({group + 1})", "state": "open", "created_at": datetime.now(UTC)}
            row = {"id": proposal_id, **about, "thread_id": document["thread_id"], **state}
            conn.execute(sa.insert(proposals), row)
            chosen = [blocks[int((group * 5 + number) * every)] for number in range(5)]
            conn.execute(sa.insert(edits), [_edit(proposal_id, about, *one) for one in enumerate(chosen, 1)])
    engine.dispose()


def _edit(proposal_id: str, about: dict[str, Any], ordinal: int, place: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    section_id, block = place
    old = block["markdown"]
    return {
        "id": new_id("edit"),
        "proposal_id": proposal_id,
        **about,
        "ordinal": ordinal,
        "op": "replace",
        "block_id": block["id"],
        "section_id": section_id,
        "old_text": old,
        "new_text": old.replace("in a rather lengthy way, ", "").replace(" basically", ""),
        "state": "open",
    }


async def _own(context: BrowserContext, document: dict[str, Any], opens: int, keys: int) -> Measured:
    path = f"/documents/{document['id']}"
    page = await _page(context)
    await _opened(page, path)  # once, so that scripts are in the browser's cache
    opened = await _opens(page, f"{path}?panel=comments", opens)
    typed = await _typed(page, document["sections"][1]["blocks"][5]["id"], keys)
    reviewed = await _opens(page, f"{path}?panel=review", opens)
    await page.locator("[data-review-progress]").wait_for()
    await page.evaluate(KEYS)
    stepped = await _pressed(page, ["j"] * keys)
    await page.close()
    return opened, reviewed, typed, stepped


async def _bare(context: BrowserContext, document: dict[str, Any], opens: int, keys: int) -> Measured:
    page = await _page(context)
    body = BARE.replace("DOCUMENT", document["id"])
    await page.route("**/bare", lambda route: route.fulfill(body=body, content_type="text/html"))
    opened = await _opens(page, "/bare", opens)
    await page.locator("textarea").click()
    await page.evaluate(KEYS)
    typed = await _pressed(page, _letters(keys))
    await page.locator("[data-block-id]").first.focus()
    await page.evaluate("() => { window.keys = [] }")
    stepped = await _pressed(page, ["j"] * keys)
    await page.close()
    return opened, opened, typed, stepped


async def _page(context: BrowserContext) -> Page:
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.add_init_script(SHOWN.replace("BLOCKS", str(BLOCKS)))
    return page


async def _opens(page: Page, path: str, times: int) -> Taken:
    meter = await page.context.new_cdp_session(page)
    await meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    taken, worked = [], 0.0
    for _ in range(times):
        await page.goto("about:blank")  # the counters begin again with a page
        taken.append(await _opened(page, path))
        worked += await busy_ms(meter)
        await anyio.sleep(0.5)
    await meter.detach()
    return Taken(taken, worked / times)


async def _opened(page: Page, path: str) -> float:
    await page.goto(path, wait_until="commit")
    await page.wait_for_function("() => window.shownAfter !== undefined")
    return float(await page.evaluate("() => window.shownAfter"))


async def _typed(page: Page, block_id: str, keys: int) -> Taken:
    """Opens the editor of a block next to open edits."""
    block = page.locator(f'[data-block-id="{block_id}"]')
    await block.scroll_into_view_if_needed()
    await block.locator("[data-block-text]").click()
    await block.locator("textarea").wait_for()
    await page.evaluate(KEYS)
    return await _pressed(page, _letters(keys))


def _letters(count: int) -> list[str]:
    return [" " if number % 6 == 5 else "abcde"[number % 6] for number in range(count)]


async def _pressed(page: Page, keys: Sequence[str]) -> Taken:
    """Types quickly: one key every 80 ms."""
    meter = await page.context.new_cdp_session(page)
    await meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = await busy_ms(meter)
    for key in keys:
        await page.keyboard.press(key)
        await anyio.sleep(0.08)
    await page.wait_for_function("count => window.keys.length >= count", arg=len(keys))
    worked = await busy_ms(meter) - before
    await meter.detach()
    return Taken(await page.evaluate("() => window.keys"), worked / len(keys))
