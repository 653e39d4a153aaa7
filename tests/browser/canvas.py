"""What a person does and sees on the canvas."""

import re
from typing import Any, NamedTuple

from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.conftest import Server

SCREEN_URL = re.compile(r"/screens/scr_\w+$")


class Place(NamedTuple):
    x: int
    y: int
    width: int
    height: int


def make_project(server: Server, name: str) -> str:
    """A canvas of one's own; its project's id."""
    made: dict[str, Any] = server.post("/v1/projects", {"name": name})
    return str(made["id"])


def make_screen(server: Server, project: str, title: str, **more: Any) -> str:
    made: dict[str, Any] = server.post(f"/v1/projects/{project}/screens", {"title": title, **more})
    return str(made["id"])


def make_row(server: Server, project: str, count: int) -> list[str]:
    """So many small screens side by side."""
    return [
        make_screen(server, project, f"Screen {one}", x=one * 520, y=0, width=400, height=400) for one in range(count)
    ]


def place_of(server: Server, screen: str) -> Place:
    data = server.get(f"/v1/screens/{screen}")
    return Place(data["x"], data["y"], data["width"], data["height"])


def open_canvas(page: Page, project: str, *, sidebar: bool = True) -> None:
    """The project's canvas; without `sidebar` a screen that is opened takes no room of the others."""
    if not sidebar:
        page.evaluate("localStorage.setItem('outlast.canvas.sidebar', 'closed')")
    page.goto(f"/projects/{project}/canvas")
    expect(page.locator("[data-canvas]")).to_be_visible()


def screen(page: Page, screen_id: str) -> Locator:
    return page.locator(f'[data-screen="{screen_id}"]')


def node(page: Page, screen_id: str) -> Locator:
    """What lies on the canvas, with its title."""
    return page.locator(f'.react-flow__node[data-id="{screen_id}"]')


def expect_at(page: Page, screen_id: str, place: Place) -> None:
    """Drawn where it lies."""
    at = re.compile(rf"translate\({place.x}px, ?{place.y}px\)")
    expect(node(page, screen_id)).to_have_attribute("style", at)


def select(page: Page, screen_id: str, *more: str) -> None:
    """Select screens by a click, further ones with Shift."""
    screen(page, screen_id).click()
    for one in more:
        screen(page, one).click(modifiers=["Shift"])


def drag(page: Page, screen_id: str, dx: int, dy: int) -> None:
    """Drag by so many pixels of the window, in steps as a hand does."""
    box = screen(page, screen_id).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2, steps=4)
    page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up()


def is_move(response: Response) -> bool:
    return response.request.method == "PATCH" and response.url.endswith("/screens") and response.ok


def zoom_of(page: Page) -> float:
    return float(page.locator("[data-canvas]").evaluate("one => one.style.getPropertyValue('--zoom')"))
