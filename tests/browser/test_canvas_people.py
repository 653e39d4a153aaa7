"""Several people on one canvas: who moves what is seen at once, and a viewer moves nothing."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.canvas import drag, is_move, make_row, node, open_canvas, screen, select
from tests.browser.conftest import WEB, OpenPage, Server
from tests.browser.test_sharing import invite, join

pytestmark = pytest.mark.browser

STILL: Any = {"reduced_motion": "reduce"}


class Shared(Server):
    """Others could reach it, so everybody signs in; its screens were made before."""

    project = ""
    screens: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    running = Shared(tmp_path_factory.mktemp("together"))
    running.start()
    running.token = running.post("/v1/tokens", {"name": "owner"})["token"]
    running.project = running.get("/v1/me")["default_project_id"]
    running.screens = tuple(make_row(running, running.project, 3))
    running.stop()
    running.start("--host", "0.0.0.0")
    yield running
    running.stop()


def sign_in(page: Page, server: Shared) -> None:
    page.get_by_label("Token").fill(server.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="My project")).to_be_visible()


def test_what_somebody_moves_and_makes_is_seen_with_their_name(open_page: OpenPage, server: Shared) -> None:
    owner = open_page(**STILL)
    sign_in(owner, server)
    bob = open_page(invite(owner), **STILL)
    join(bob, "Bob")
    one = server.screens[0]
    for page in (owner, bob):
        open_canvas(page, server.project)
        expect(screen(page, one)).to_be_visible()
    expect(owner.get_by_label("Bob is here")).to_be_visible()
    with bob.expect_response(is_move) as moved:
        drag(bob, one, 20, 150)
    (data,) = moved.value.json()["items"]
    expect(node(owner, one).locator("[data-mover]")).to_have_text("Bob")
    for page in (owner, bob):
        expect(node(page, one)).to_have_attribute("style", at(data["x"], data["y"]))
    expect(node(owner, one).locator("[data-mover]")).to_have_count(0)

    select(bob, one)
    bob.keyboard.press("Control+d")
    expect(owner.locator("[data-screen]")).to_have_count(4)
    expect(bob.get_by_role("button", name="Delete", exact=True)).to_have_count(0)  # deleting is for owners


def at(x: int, y: int) -> re.Pattern[str]:
    """The style of what is drawn there."""
    return re.compile(rf"translate\({x}px, ?{y}px\)")


def test_a_viewer_looks_and_moves_nothing(open_page: OpenPage, server: Shared) -> None:
    owner = open_page(**STILL)
    sign_in(owner, server)
    eve = open_page(invite(owner, "viewer"), **STILL)
    join(eve, "Eve")
    open_canvas(eve, server.project)
    two = server.screens[2]
    expect(screen(eve, two)).to_be_visible()
    sent: list[str] = []
    eve.on("request", lambda request: sent.append(request.method) if request.method == "PATCH" else None)
    drag(eve, two, 40, 160)
    select(eve, two)
    expect(eve.get_by_role("complementary", name="Screen")).to_be_visible()
    eve.keyboard.press("ArrowRight")
    eve.keyboard.press("Control+d")
    eve.keyboard.press("Delete")
    expect(eve.get_by_role("button", name="New screen")).to_have_count(0)
    expect(eve.get_by_role("button", name="Duplicate")).to_have_count(0)
    expect(node(eve, two)).to_have_attribute("style", at(1040, 0))
    assert sent == []
