"""The page of connections: a secret saved, given a value of one's own, changed and deleted."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server

pytestmark = pytest.mark.browser
VALUE = "lin_api_0123456789"


def open_connections(open_page: OpenPage, server: Server, **options: object) -> Page:
    project = server.get("/v1/me")["default_project_id"]
    return open_page(f"/projects/{project}/connections", **options)


def choose(page: Page, name: str, action: str) -> None:
    page.get_by_role("button", name=f"Actions for {name}").click()
    page.get_by_role("menuitem", name=action).click()


def test_a_secret_is_saved_used_by_name_and_deleted_and_its_value_never_comes_back(
    open_page: OpenPage, server: Server
) -> None:
    page = open_page("/")
    page.get_by_role("button", name="My project").click()
    page.get_by_role("menuitem", name="Connections").click()
    expect(page.get_by_text("No secrets")).to_be_visible()
    page.get_by_role("button", name="New secret").click()
    page.get_by_label("Name").fill("linear api-key")
    page.get_by_role("textbox", name="Hosts").fill("https://api.linear.app/graphql, *.linear.app")
    page.locator("input[type=password]").fill(VALUE)
    page.get_by_role("button", name="Save secret").click()
    row = page.locator("[data-secret=LINEAR_API_KEY]")
    expect(row).to_contain_text("api.linear.app, *.linear.app")
    expect(row).to_contain_text("Value for everybody")
    assert VALUE not in page.content()

    choose(page, "LINEAR_API_KEY", "Enter your own value")
    page.locator("input[type=password]").fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Your own value")
    choose(page, "LINEAR_API_KEY", "Forget your own value")
    expect(row).to_contain_text("Value for everybody")

    choose(page, "LINEAR_API_KEY", "Change hosts")
    page.get_by_role("textbox", name="Hosts").fill("*")
    page.locator("input[type=password]").fill(VALUE)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("A secret is for some hosts, not for all.")
    page.get_by_role("textbox", name="Hosts").fill("linear.app")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("linear.app")

    choose(page, "LINEAR_API_KEY", "Delete")
    page.get_by_role("button", name="Delete secret").click()
    expect(page.get_by_text("No secrets")).to_be_visible()
    assert VALUE not in (server.folder / "server.log").read_text()


def test_who_has_no_value_is_asked_for_one_also_on_a_phone(open_page: OpenPage, server: Server) -> None:
    project = server.get("/v1/me")["default_project_id"]
    server.post(f"/v1/projects/{project}/secrets", {"name": "SLACK_TOKEN", "hosts": ["slack.com"]})
    page = open_connections(open_page, server, viewport={"width": 390, "height": 844})
    page.get_by_role("button", name="Enter your value").click()
    page.locator("input[type=password]").fill("xoxb-mine")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Enter your value")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    secrets = server.get(f"/v1/projects/{project}/secrets")["items"]
    assert [(one["name"], one["has_own_value"]) for one in secrets] == [("SLACK_TOKEN", True)]
