"""The page of schedules: one is made, runs now and at its due time, is paused, edited and deleted."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
BERLIN: dict[str, Any] = {"timezone_id": "Europe/Berlin", "locale": "en-GB"}


@pytest.fixture
def project_id(server: Server) -> str:
    """A new project."""
    found: str = server.post("/v1/projects", {"name": "Lamps"})["id"]
    return found


def make(server: Server, project_id: str, **fields: Any) -> dict[str, Any]:
    body = {"title": "Morning summary", "agent": "chat", "message": "Say hello", "cron": "0 8 * * 1-5", **fields}
    made: dict[str, Any] = server.post(f"/v1/projects/{project_id}/schedules", body)
    return made


def rows(page: Page) -> Locator:
    return page.locator("[data-schedule]")


def come_due(server: Server, schedule_id: str) -> None:
    """The server was off when the schedule came due, a few seconds ago."""
    server.kill()
    moment = int(time.time() * 1_000_000) - 5_000_000
    with sqlite3.connect(server.folder / "data" / "outlast.db") as database:
        database.execute("UPDATE schedules SET next_at = ? WHERE id = ?", (moment, schedule_id))
        database.execute(
            "UPDATE timers SET due_at = ? WHERE kind = 'schedule' AND subject_id = ?", (moment, schedule_id)
        )
    database.close()
    server.start()


def test_a_schedule_is_made_runs_is_paused_edited_and_deleted_while_another_window_watches(
    project_id: str, server: Server, open_page: OpenPage
) -> None:
    path = f"/projects/{project_id}/schedules"
    page, other = open_page(path, **BERLIN), open_page(path, **BERLIN)
    expect(other.get_by_role("heading", name="No schedules yet")).to_be_visible()
    page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog", name="New schedule")
    dialog.get_by_label("Title").fill("Morning summary")
    dialog.get_by_label("Message").fill("Say hello")
    times = dialog.locator("[data-next-times] time")
    expect(dialog.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    expect(times).to_have_count(5)
    expect(times.first).to_contain_text("08:00")
    dialog.get_by_role("combobox", name="When").select_option("week")
    dialog.get_by_role("combobox", name="Day").select_option(label="Friday")
    dialog.get_by_label("Time", exact=True).fill("16:30")
    expect(times.first).to_contain_text("Fri")
    expect(times.first).to_contain_text("16:30")
    dialog.get_by_role("combobox", name="When").select_option("cron")
    cron = dialog.get_by_role("textbox", name="Cron expression")
    expect(cron).to_have_value("30 16 * * 5")
    cron.fill("61 * * * *")
    expect(dialog.get_by_text("The minute of the cron expression cannot be read.")).to_be_visible()
    cron.fill("30 16 * * 5")
    dialog.get_by_role("button", name="Create schedule").click()
    for window in (page, other):
        expect(rows(window)).to_contain_text("Every Friday at 16:30")
        expect(rows(window)).to_contain_text("No runs yet")

    page.get_by_role("button", name="Actions for Morning summary").click()
    page.get_by_role("menuitem", name="Run now").click()
    for window in (page, other):
        expect(rows(window)).to_contain_text("Completed")
    page.get_by_role("button", name="Open").last.click()  # in the message about the start
    expect(page.locator("[data-scheduled]")).to_have_text("Started by schedule Morning summary")
    expect(page.get_by_role("article", name="Your message")).to_contain_text("Say hello")
    page.goto("/runs")
    expect(page.get_by_text("Started by schedule Morning summary").first).to_be_visible()

    page.goto(path)
    switch = page.get_by_role("switch", name="Morning summary is on")
    switch.focus()
    page.keyboard.press("Space")
    for window in (page, other):
        expect(rows(window)).to_contain_text("Paused")
        expect(window.get_by_role("switch")).not_to_be_checked()

    page.get_by_role("button", name="Morning summary", exact=True).click()
    dialog = page.get_by_role("dialog", name="Edit schedule")
    expect(dialog.get_by_role("combobox", name="When")).to_have_value("week")
    dialog.get_by_label("Title").fill("Weekly report")
    dialog.get_by_role("combobox", name="Each run").select_option("same")
    dialog.get_by_role("button", name="Save").click()
    for window in (page, other):
        expect(rows(window)).to_contain_text("Weekly report")

    page.get_by_role("button", name="Actions for Weekly report").click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    for window in (page, other):
        expect(window.get_by_role("heading", name="No schedules yet")).to_be_visible()


def test_a_due_time_just_before_a_restart_starts_its_run(project_id: str, server: Server, open_page: OpenPage) -> None:
    schedule = make(server, project_id)
    page = open_page(f"/projects/{project_id}/schedules", **BERLIN)
    expect(rows(page)).to_contain_text("No runs yet")
    come_due(server, schedule["id"])
    expect(rows(page)).to_contain_text("Completed")
    assert len(server.get(f"/v1/runs?project={project_id}")["items"]) == 1


def test_a_schedule_with_a_problem_is_in_the_inbox_and_fits_a_phone(
    project_id: str, server: Server, open_page: OpenPage
) -> None:
    schedule = make(server, project_id, thread="same", title="A summary of everything that has changed overnight")
    started = server.post(f"/v1/schedules/{schedule['id']}/run", {})
    server.call("POST", f"/v1/runs/{started['run_id']}/cancel", {})
    page = open_page(f"/projects/{project_id}/schedules", **PHONE, **BERLIN)
    expect(rows(page)).to_have_count(1)
    archived = server.post(f"/v1/threads/{started['thread_id']}/archive", {})
    assert archived["status"] == "archived"
    come_due(server, schedule["id"])
    expect(page.get_by_role("alert")).to_contain_text("archived")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/inbox")
    item = page.locator("[data-inbox-item=schedule]").first
    expect(item).to_contain_text("Your schedule did not start a run")
    item.get_by_role("button", name="Dismiss").click()
    expect(page.locator("[data-inbox-item=schedule]")).to_have_count(0)
    page.goto(f"/projects/{project_id}/schedules")
    page.get_by_role("button", name="New schedule").click()
    expect(page.locator("[data-next-times] time")).to_have_count(5)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
