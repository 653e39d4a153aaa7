"""The pages of those who operate runs, and what everybody can set: keyboard, theme, attachments."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import THREAD_URL, saved, start_thread

pytestmark = pytest.mark.browser


def test_a_run_is_found_shown_step_by_step_and_exported(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page()
    start_thread(page, "Write a program about primes")
    expect(saved(page)).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_text("Prompts read from cache")).to_be_visible()
    page.get_by_role("button", name="Completed").click()
    page.get_by_label("Search runs").fill("primes")
    page.get_by_role("main").get_by_role("link", name="Write a program about primes").click()
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()
    kinds = page.locator("[data-step]").evaluate_all("rows => rows.map(row => row.dataset.step)")
    assert kinds[0] == "start"
    assert kinds[-1] == "settle"
    assert kinds.count("tool") == 3
    expect(page.locator("dl").get_by_text("Prompts from cache")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    download.value.save_as(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_bytes())


def test_the_keyboard_opens_searches_and_starts_threads(open_page: OpenPage) -> None:
    page = open_page()
    thread = start_thread(page, "Hello zeppelin")
    expect(saved(page)).to_be_visible()
    page.goto("/runs")  # where nothing is written, letters are shortcuts
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.keyboard.press("n")
    page.wait_for_url("**/projects/*")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("zeppelin")
    page.get_by_role("option", name="Hello zeppelin").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{thread}")
    page.goto("/runs")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Search threads and messages")).to_be_focused()


def test_the_theme_follows_the_system_until_one_is_chosen(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="dark")
    root = page.locator("html")
    expect(root).to_have_class("dark")
    page.emulate_media(color_scheme="light")
    expect(root).not_to_have_class("dark")
    page.get_by_role("button", name="Owner").click()
    page.get_by_role("menuitem", name="Dark").click()
    expect(root).to_have_class("dark")
    page.reload()
    expect(root).to_have_class("dark")


def test_an_image_is_refused_before_it_is_sent_to_a_model_that_cannot_see(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page()
    picture = tmp_path / "picture.png"
    page.screenshot(path=picture)
    page.set_input_files("input[type=file]", picture)
    expect(page.get_by_alt_text("picture.png")).to_be_visible()
    expect(page.get_by_text("cannot see images")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("What is this?")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    page.get_by_role("button", name="Remove picture.png").click()
    page.get_by_role("button", name="Send").click()
    page.wait_for_url(THREAD_URL)
