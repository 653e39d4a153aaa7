"""Visual edits: from a click on an element in a screen's frame until a style chosen in the panel is visible in the
frame; and until it is saved in the source. Needs Chromium, the built page and a sandbox that runs the Vite
template."""

import os
import tempfile
from pathlib import Path
from typing import Final

from playwright.async_api import BrowserContext, Frame, Page

from bench.client import percentile
from bench.figures import Figure
from bench.servers import CORES, server
from bench.workloads.canvas import chromium, request

GOAL_MS: Final = 300
PATIENCE_MS: Final = 600_000  # the template is installed once
# In the page around the frame: types the upper padding as soon as the panel shows the element.
TYPE: Final = """(value) => new Promise((done) => {
  const look = () => {
    const field = document.querySelector('input[data-property="padding-top"]')
    if (field === null) return requestAnimationFrame(look)
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, value)
    field.dispatchEvent(new Event("input", { bubbles: true }))
    done()
  }
  look()
})"""
# In the frame: one clock from the click to the frame that shows the style.
CLICK: Final = """([selector, value]) => new Promise((done, fail) => {
  const element = document.querySelector(selector)
  const began = performance.now()
  element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true }))
  const look = () => {
    const took = performance.now() - began
    if (getComputedStyle(element).paddingTop === `${value}px`) done(took)
    else if (took > 20_000) fail(new Error("the style was not seen"))
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
})"""

# In the page: from the click on Save to the frame that reports it. Playwright polls only every tenth of a second.
SAVE: Final = """() => new Promise((done, fail) => {
  const began = performance.now()
  ;[...document.querySelectorAll("button")].find((button) => button.textContent.trim() === "Save").click()
  const look = () => {
    const took = performance.now() - began
    if (document.body.textContent.includes("Saved to the source code")) done(took)
    else if (took > 20_000) fail(new Error(`it was not saved: ${document.body.innerText.slice(-800)}`))
    else requestAnimationFrame(look)
  }
  look()
})"""


async def measure(quick: bool) -> list[Figure]:
    """p50 and p95 of selecting until the style is visible, and of saving."""
    os.sched_setaffinity(0, set(CORES))  # the browser is what is measured: it has all cores
    rounds = 8 if quick else 30
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with server("outlast", 9, Path(name)) as running, chromium() as browser:
            context = await browser.new_context(
                base_url=f"http://localhost:{running.port}", viewport={"width": 1600, "height": 1000}
            )
            page, frame = await _editing(context)
            seen = [await _seen(page, frame, number) for number in range(rounds)]
            saved = [await _saved(page, frame, number) for number in range(max(4, rounds // 4))]
    return [
        Figure("select → style seen: p50", percentile(seen, 0.5), "ms", GOAL_MS),
        Figure("select → style seen: p95", percentile(seen, 0.95), "ms"),
        Figure("save → in the source: p50", percentile(saved, 0.5), "ms"),
    ]


async def _editing(context: BrowserContext) -> tuple[Page, Frame]:
    """A screen's Edit tab in edit mode, and the page in its frame."""
    project = (await request(context, "GET", "/v1/me"))["default_project_id"]
    wish = {"title": "Edited", "template": "vite"}
    screen = await request(context, "POST", f"/v1/projects/{project}/screens", wish)
    await request(context, "POST", f"/v1/screens/{screen['id']}/open")
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto("/")
    await page.evaluate("localStorage.setItem('outlast.screen.tab', 'edit')")
    await page.goto(f"/screens/{screen['id']}")
    await page.frame_locator("iframe[data-live-frame]").locator("h1").wait_for()
    await page.get_by_role("button", name="Choose an element").click()
    await page.get_by_text("Click an element in the frame").wait_for()
    frame = next(one for one in page.frames if ".preview.localhost" in one.url)
    await frame.wait_for_load_state()
    await _seen(page, frame, -1)  # the design system is asked for the first time, and modules are loaded
    return page, frame


async def _seen(page: Page, frame: Frame, number: int) -> float:
    """Selects and styles one of the page's elements, then discards the change."""
    value = 40 + number
    selector = ("h1", "ul > li", "main > p")[number % 3]
    typed = await page.evaluate_handle(f"(value) => {{ window.typed = ({TYPE})(value) }}", str(value))
    took = float(await frame.evaluate(CLICK, [selector, value]))
    await typed.dispose()
    await page.get_by_role("button", name="Discard", exact=True).click()
    await page.get_by_role("button", name="Clear selection").click()
    await page.get_by_text("Click an element in the frame").wait_for()
    return took


async def _saved(page: Page, frame: Frame, number: int) -> float:
    """Saves a new padding; measures from the click on the button until the panel reports it."""
    await frame.locator("h1").dispatch_event("click")
    await page.locator('input[data-property="padding-top"]').fill(str(100 + number))
    await page.get_by_text(f"pt-[{100 + number}px]").or_(page.get_by_text("1 element changed")).first.wait_for()
    return float(await page.evaluate(SAVE))
