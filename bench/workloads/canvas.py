"""Canvas: thirty screens, one of them live and the rest showing their last picture, dragged, zoomed and panned in
Chromium; measures the time of each frame. Needs Chromium, the built page and a sandbox that runs the Vite template."""

import json
import math
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from playwright.async_api import Browser, BrowserContext, CDPSession, FilePayload, Page, Route, async_playwright

from bench.client import percentile
from bench.figures import Figure
from bench.servers import CORES, Server, server

SCREENS: Final = 30
PER_ROW: Final = 6
GOAL_MS: Final = 33.4  # two refreshes of a display at 60 Hz: 30 frames a second
PATIENCE_MS: Final = 600_000  # the template is installed once
RECORD: Final = """() => {
    const frames = []
    let last = performance.now(), on = true
    const next = now => { frames.push(now - last); last = now; if (on) requestAnimationFrame(next) }
    requestAnimationFrame(next)
    window.recorded = () => { on = false; return frames.slice(2) }
}"""


async def measure(quick: bool) -> list[Figure]:
    """p50 and p95 of the time between two frames while the canvas moves."""
    os.sched_setaffinity(0, set(CORES))  # the browser is what is measured: it has all cores
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with server("outlast", 9, Path(name)) as running, chromium() as browser:
            context = await browser.new_context(
                base_url=f"http://localhost:{running.port}", viewport={"width": 1600, "height": 1000}
            )
            page = await _prepared(context, running)
            steps = 120 if quick else 400
            return [
                *await _figures(page, "stand still", _rest, steps),
                *await _figures(page, "drag a screen", _drag, steps),
                *await _figures(page, "drag ten screens", _drag_many, steps),
                *await _figures(page, "zoom", _zoom, steps),
                *await _figures(page, "pan", _pan, steps),
            ]


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=program)
        try:
            yield launched
        finally:
            await launched.close()


async def _prepared(context: BrowserContext, running: Server) -> Page:
    """The canvas with its thirty screens, one live."""
    project = (await request(context, "GET", "/v1/me"))["default_project_id"]
    ids = []
    for number in range(SCREENS):
        place = {"x": number % PER_ROW * 1400, "y": number // PER_ROW * 920, "template": "vite"}
        made = await request(context, "POST", f"/v1/projects/{project}/screens", {"title": f"Screen {number}", **place})
        ids.append(made["id"])
    await request(context, "POST", f"/v1/screens/{ids[0]}/open")
    pictures = await _pictures(context, project, ids[0])
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.route("**/screens?*", lambda route: _with_pictures(route, dict(zip(ids[1:], pictures, strict=True))))
    await page.goto(f"/screens/{ids[0]}")
    await page.locator("iframe[data-loaded]").wait_for(state="attached")
    await page.get_by_role("button", name="Close the sidebar").click()
    await page.keyboard.press("1")
    await page.wait_for_function("() => [...document.images].every(one => one.complete)")
    await anyio.sleep(2)
    return page


async def _pictures(context: BrowserContext, project: str, screen: str) -> list[str]:
    """Twenty-nine pictures of the app, each in other colours, stored as attachments."""
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.set_viewport_size({"width": 1280, "height": 800})
    preview = await context.request.post(f"/v1/screens/{screen}/preview", data={"path": "/"}, timeout=PATIENCE_MS)
    await page.goto((await preview.json())["ticket_url"], wait_until="load")
    await page.locator("[data-loc]").first.wait_for(state="attached")  # the app itself, not what stands in for it
    kept = []
    for number in range(SCREENS - 1):
        await page.evaluate(f"document.documentElement.style.filter = 'hue-rotate({number * 12}deg)'")
        shot = await page.screenshot()
        file = FilePayload(name=f"{number}.png", mimeType="image/png", buffer=shot)
        answer = await context.request.post("/v1/attachments", params={"project_id": project}, multipart={"file": file})
        kept.append((await answer.json())["id"])
    await page.close()
    return kept


async def _with_pictures(route: Route, pictures: dict[str, str]) -> None:
    """The list of screens, with a picture for each."""
    answer = await route.fetch()
    listed = await answer.json()
    for screen in listed["items"]:
        screen["picture_id"] = pictures.get(screen["id"], screen["picture_id"])
    await route.fulfill(response=answer, body=json.dumps(listed))


async def _figures(page: Page, name: str, act: Any, steps: int) -> list[Figure]:
    """Work is the CPU time of the page's main thread per frame. The time between two frames also depends on the
    machine: compare it with the time while nothing moves."""
    meter = await page.context.new_cdp_session(page)
    await meter.send("Performance.enable", {"timeDomain": "threadTicks"})
    await page.evaluate(RECORD)
    before = await busy_ms(meter)
    await act(page, steps)
    worked = await busy_ms(meter) - before
    frames = await page.evaluate("() => window.recorded()")
    await meter.detach()
    await anyio.sleep(1)
    return [
        Figure(f"{name}: work a frame", worked / max(1, len(frames)), "ms"),
        Figure(f"{name}: frame p50", percentile(frames, 0.5), "ms"),
        Figure(f"{name}: frame p95", percentile(frames, 0.95), "ms", GOAL_MS),
    ]


async def busy_ms(meter: CDPSession) -> float:
    """CPU time of the page's main thread so far."""
    metrics = (await meter.send("Performance.getMetrics"))["metrics"]
    return sum(1000 * float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


async def _rest(_page: Page, steps: int) -> None:
    await anyio.sleep(steps * 0.01)


async def _drag(page: Page, steps: int) -> None:
    box = await page.locator("[data-screen]").nth(8).bounding_box()
    assert box is not None
    await _circle(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps)


async def _drag_many(page: Page, steps: int) -> None:
    for number in range(10, 20):
        await page.locator("[data-screen]").nth(number).click(modifiers=["Shift"])
    box = await page.locator("[data-screen]").nth(14).bounding_box()
    assert box is not None
    await _circle(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps)
    await page.keyboard.press("Escape")


async def _circle(page: Page, x: float, y: float, steps: int) -> None:
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in range(steps):
        turn = step / 30
        await page.mouse.move(x + 140 * math.sin(turn), y + 90 * (1 - math.cos(turn)))
        await anyio.sleep(0.008)
    await page.mouse.up()


async def _zoom(page: Page, steps: int) -> None:
    await page.mouse.move(800, 500)
    await page.keyboard.down("Control")
    for step in range(steps // 2):
        await page.mouse.wheel(0, -24 if step // 40 % 2 == 0 else 24)
        await anyio.sleep(0.016)
    await page.keyboard.up("Control")


async def _pan(page: Page, steps: int) -> None:
    for step in range(steps // 2):
        await page.mouse.wheel(30 if step // 30 % 2 == 0 else -30, 18 if step // 30 % 2 == 0 else -18)
        await anyio.sleep(0.016)


async def request(context: BrowserContext, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    answer = await context.request.fetch(path, method=method, data=body, timeout=PATIENCE_MS)
    if not answer.ok:
        raise RuntimeError(f"{method} {path}: {answer.status} {await answer.text()}")
    return await answer.json()
