"""The canvas: screens are made, moved, sized, selected, copied, deleted and used, alone and beside others."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.canvas import (
    SCREEN_URL,
    Place,
    drag,
    expect_at,
    is_move,
    make_project,
    make_row,
    make_screen,
    node,
    open_canvas,
    place_of,
    screen,
    select,
    zoom_of,
)
from tests.browser.conftest import QUICK, WEB, OpenPage, Server

pytestmark = pytest.mark.browser

STILL: Any = {"reduced_motion": "reduce"}  # the view is where it goes at once
PHONE: Any = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not WEB.is_file():
        pytest.skip("the web app is not built; `make setup` builds it")
    configuration = f"{QUICK}\n[limits]\nscreens_per_minute_per_user = 1000\n"
    running = Server(tmp_path_factory.mktemp("canvas"), configuration=configuration)
    running.start()
    yield running
    running.end()


def test_an_empty_canvas_says_what_to_do_and_makes_the_first_screen(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "First")
    page = open_page(f"/projects/{project}/canvas")
    expect(page.get_by_role("heading", name="What do you want to build?")).to_be_visible()
    page.get_by_role("button", name="Template", exact=True).click()
    page.get_by_role("menuitem", name="Vite + React").click()
    page.get_by_role("button", name="Start empty").click()
    page.wait_for_url(SCREEN_URL)
    made = page.url.rsplit("/", 1)[1]
    expect(screen(page, made)).to_be_visible()
    sidebar = page.get_by_role("complementary", name="Screen")
    for tab in ("Chat", "Edit", "Code"):
        expect(sidebar.get_by_role("tab", name=tab)).to_be_visible()
    assert server.get(f"/v1/screens/{made}")["template"] == "vite"


def test_saying_what_to_build_starts_the_work_at_once(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Said")
    make_screen(server, project, "There already")
    page = open_page(f"/projects/{project}/canvas")
    expect(page.get_by_role("button", name="New screen")).to_be_visible()
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog", name="New screen")
    box = dialog.get_by_label("Message", exact=True)
    expect(box).to_be_focused()
    with page.expect_response(lambda one: one.request.method == "POST" and one.url.endswith("/runs")) as started:
        box.fill("A sign-in form")
        box.press("Enter")
    assert started.value.ok
    page.wait_for_url(SCREEN_URL)
    expect(dialog).to_have_count(0)
    made = page.url.rsplit("/", 1)[1]
    expect(node(page, made)).to_be_visible()
    server.post(f"/v1/runs/{started.value.json()['run_id']}/cancel", {})


def test_a_move_is_kept_and_seen_in_another_browser(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Moves")
    one, other = make_row(server, project, 2)
    mine, theirs = open_page(**STILL), open_page(**STILL)
    for page in (mine, theirs):
        open_canvas(page, project)
        expect(screen(page, one)).to_be_visible()
    before, zoom = place_of(server, one), zoom_of(mine)
    with mine.expect_response(is_move):
        drag(mine, one, -60, 90)
    after = place_of(server, one)
    assert (after.x - before.x, after.y - before.y) == pytest.approx(
        (-60 / zoom, 90 / zoom), abs=16 / zoom
    )  # it is taken up a few pixels after the press
    for page in (mine, theirs):
        expect_at(page, one, after)
        expect_at(page, other, place_of(server, other))
    mine.reload()
    expect_at(mine, one, after)


def test_several_selected_screens_move_together_in_one_request(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Together")
    ids = make_row(server, project, 3)
    page = open_page(**STILL)
    open_canvas(page, project)
    select(page, ids[0], ids[1])
    expect(page.get_by_role("status").filter(has_text="2 screens selected")).to_be_visible()
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "PATCH" else None)
    before = [place_of(server, one) for one in ids]
    with page.expect_response(is_move):
        drag(page, ids[1], 40, 70)
    after = [place_of(server, one) for one in ids]
    assert after[2] == before[2]
    assert {(new.x - old.x, new.y - old.y) for old, new in zip(before[:2], after[:2], strict=True)} == {
        (after[0].x - before[0].x, after[0].y - before[0].y)
    }
    assert after[0] != before[0]
    assert len(sent) == 1


def test_a_rectangle_selects_what_it_touches(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Rectangle")
    ids = make_row(server, project, 3)
    page = open_page(**STILL)
    open_canvas(page, project)
    first, second = (screen(page, one).bounding_box() for one in ids[:2])
    assert first is not None
    assert second is not None
    page.mouse.move(first["x"] - 30, first["y"] - 60)
    page.mouse.down()
    page.mouse.move(second["x"] + 20, second["y"] + 40, steps=6)
    page.mouse.up()
    expect(page.get_by_role("status").filter(has_text="2 screens selected")).to_be_visible()
    select(page, ids[1])
    page.wait_for_url(re.compile(rf"/screens/{ids[1]}$"))


def test_a_screen_takes_a_devices_size_or_one_by_hand(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Sizes")
    one = make_screen(server, project, "Sized", x=0, y=0, width=600, height=500)
    page = open_page(**STILL)
    open_canvas(page, project)
    select(page, one)
    with page.expect_response(is_move):
        page.get_by_role("button", name="Size", exact=True).click()
        page.get_by_role("menuitem", name="Phone").click()
    assert place_of(server, one)[2:] == (390, 844)
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(screen(page, one)).to_have_js_property("offsetHeight", 844)
    page.keyboard.press("2")
    expect(node(page, one).locator(".react-flow__resize-control.handle.bottom.right")).to_be_in_viewport()
    corner = node(page, one).locator(".react-flow__resize-control.handle.bottom.right").bounding_box()
    assert corner is not None
    x, y = corner["x"] + corner["width"] / 2, corner["y"] + corner["height"] / 2
    page.mouse.move(x, y)
    with page.expect_response(is_move):
        page.mouse.down()
        page.mouse.move(x + 30, y + 10, steps=4)
        page.mouse.move(x + 60, y + 20, steps=4)
        page.mouse.up()
    width, height = place_of(server, one)[2:]
    zoom = zoom_of(page)
    assert (width - 390, height - 844) == pytest.approx((60 / zoom, 20 / zoom), abs=4 / zoom)


def test_a_screen_is_renamed_where_its_title_stands(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Titles")
    one = make_screen(server, project, "Before", x=0, y=0)
    page, other = open_page(**STILL), open_page(**STILL)
    open_canvas(page, project)
    open_canvas(other, project)
    node(page, one).get_by_text("Before", exact=True).dblclick()
    box = page.get_by_label("Title of the screen")
    box.fill("After")
    box.press("Enter")
    expect(node(other, one)).to_contain_text("After")
    assert server.get(f"/v1/screens/{one}")["title"] == "After"


def test_screens_are_duplicated_and_deleted_after_a_question(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Copies")
    one = make_screen(server, project, "Original", x=0, y=0, theme="ocean")
    page, other = open_page(**STILL), open_page(**STILL)
    open_canvas(page, project)
    open_canvas(other, project)
    select(page, one)
    page.keyboard.press("Control+d")
    for seen in (page, other):
        expect(seen.locator("[data-screen]")).to_have_count(2)
    page.wait_for_url(lambda url: SCREEN_URL.search(url) is not None and not url.endswith(one))
    copy = page.url.rsplit("/", 1)[1]
    assert server.get(f"/v1/screens/{copy}")["theme"] == "ocean"
    page.locator("[data-canvas]").press("Delete")
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-screen]")).to_have_count(2)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete screen").click()
    for seen in (page, other):
        expect(seen.locator("[data-screen]")).to_have_count(1)
    expect(page).to_have_url(re.compile(rf"/projects/{project}/canvas$"))


def test_keys_zoom_select_and_move(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Keys")
    ids = make_row(server, project, 4)
    page = open_page(**STILL)
    open_canvas(page, project)
    expect(screen(page, ids[0])).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator("[data-zoom='100']")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("[data-zoom='100']")).to_have_count(0)
    for one in ids:
        expect(screen(page, one)).to_be_in_viewport(ratio=0.99)
    node(page, ids[2]).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/screens/{ids[2]}$"))
    before = place_of(server, ids[2])
    node(page, ids[2]).focus()
    with page.expect_response(is_move):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    assert place_of(server, ids[2]) == before._replace(x=before.x + 16, y=before.y + 8)
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile(rf"/projects/{project}/canvas$"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_a_theme_is_tried_on_and_chosen_with_the_keyboard(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Themes")
    one = make_screen(server, project, "Themed", x=0, y=0)
    page = open_page(f"/screens/{one}")
    select(page, one)  # before, keys are for the chat
    expect(page.get_by_role("button", name="Theme").first).to_be_visible()
    page.keyboard.press("t")
    chosen = page.get_by_role("radio", name="Default")
    expect(chosen).to_be_focused()
    page.keyboard.press("ArrowRight")
    shown = page.get_by_role("radio", checked=False).and_(page.locator(":focus"))
    theme = shown.get_attribute("data-theme")
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok):
        page.keyboard.press("Enter")
    expect(page.locator(f"[data-theme='{theme}'][aria-checked=true]")).to_be_visible()
    assert server.get(f"/v1/screens/{one}")["theme"] == theme
    page.keyboard.press("Escape")
    expect(node(page, one).locator(f"[data-theme-chip='{theme}']")).to_be_visible()


def test_thirty_screens_are_drawn_and_fit_into_view(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Many")
    for one in range(30):
        make_screen(server, project, f"Screen {one}", x=one % 6 * 1400, y=one // 6 * 920)
    page = open_page(**STILL)
    open_canvas(page, project)
    expect(page.locator("[data-screen]")).to_have_count(30)
    for drawn in (page.locator("[data-screen]").first, page.locator("[data-screen]").last):
        expect(drawn).to_be_in_viewport(ratio=0.99)
    expect(page.get_by_role("img", name="Map of the canvas")).to_be_visible()


def test_on_a_phone_the_screens_are_a_list_and_an_open_one_fills_the_page(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Phone")
    one = make_screen(server, project, "On the way", x=0, y=0)
    page = open_page(f"/projects/{project}/canvas", **PHONE)
    page.get_by_role("link", name="On the way").click()
    page.wait_for_url(re.compile(rf"/screens/{one}$"))
    for tab in ("App", "Chat", "Edit", "Code"):
        expect(page.get_by_role("tab", name=tab)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Back to the screens").click()
    expect(page.get_by_role("heading", name="Screens")).to_be_visible()


def test_an_address_of_a_screen_that_is_gone_says_so(open_page: OpenPage) -> None:
    page: Page = open_page("/screens/scr_00000000000000000000000000")
    expect(page.get_by_role("heading", name="Screen not found")).to_be_visible()


def test_a_place_is_the_same_after_coming_back(open_page: OpenPage, server: Server) -> None:
    project = make_project(server, "Back")
    one = make_screen(server, project, "Here", x=700, y=300, width=500, height=400)
    page = open_page(f"/screens/{one}")
    expect_at(page, one, Place(700, 300, 500, 400))
    expect(screen(page, one)).to_be_in_viewport()
