"""The page of connections: a secret saved, given a value of one's own, changed and deleted; an account connected."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Server
from tests.browser.pages import saved, say, wait_until
from tests.browser.studio import Studio, calling, open_studio
from tests.flow.connections.auth_server import AuthServer, auth_server
from tests.flow.connections.guarded_server import guarded_server
from tests.flow.connections.service_servers import CLIENT, SECRET, ServiceServer, service_server
from tests.flow.mcp.tool_server import ToolServer

pytestmark = pytest.mark.browser
VALUE = "lin_api_0123456789"
SERVICE = f"""
[[connections]]
kind = "github"
client_id = "{CLIENT}"
secret_env = "SERVICE_SECRET"
agents = ["chat"]
authorization_url = "FORGE/login/oauth/authorize"
token_url = "FORGE/login/oauth/access_token"
revocation_url = "FORGE/applications/{CLIENT}/grant"
test_url = "FORGE/user"
"""


@pytest.fixture(scope="module")
def signs_in() -> Iterator[AuthServer]:
    with auth_server() as one:
        yield one


@pytest.fixture(scope="module")
def tracker(signs_in: AuthServer) -> Iterator[ToolServer]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(guarded_server(signs_in)) as one:
        yield one


@pytest.fixture(scope="module")
def forge() -> Iterator[ServiceServer]:
    with service_server("github") as one:
        yield one


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, tracker: ToolServer, signs_in: AuthServer, forge: ServiceServer
) -> Iterator[Studio]:
    places = [tracker.place, f"127.0.0.1:{signs_in.port}", f"127.0.0.1:{forge.port}"]
    more = f"\n[mcp]\nallow_private = {json.dumps(places)}\n{SERVICE.replace('FORGE', forge.url)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVICE_SECRET", SECRET)
        with open_studio(tmp_path_factory.mktemp("connections"), more=more) as studio:
            yield studio


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


def connect(page: Page, name: str = "tracker") -> None:
    """Press Connect and allow it at the other server, in the tab that opens."""
    with page.expect_popup() as opened:
        page.get_by_role("button", name=f"Connect {name}").or_(
            page.get_by_role("button", name="Connect", exact=True)
        ).click()
    tab = opened.value
    tab.get_by_role("button", name="Allow").click()
    expect(tab.get_by_role("heading", name=f"{name} is connected")).to_be_visible()
    expect(tab.get_by_text("You can close this tab.")).to_be_visible()
    assert "code=" not in tab.url
    tab.close()


def test_a_run_waits_until_its_person_has_connected_their_account_after_they_approved_the_call(
    open_page: OpenPage, server: Studio, tracker: ToolServer, signs_in: AuthServer
) -> None:
    page = open_connections(open_page, server)
    page.get_by_role("button", name="Add server").click()
    page.get_by_label("Address").fill(tracker.url)
    page.get_by_label("Name").fill("tracker")
    page.get_by_label("Access").select_option("Each person signs in")
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()
    row = page.locator("[data-mcp-server=tracker]")
    expect(row).to_contain_text("Runs that you start use your own account.")
    connect(page)
    expect(row).to_contain_text("You connected your account")
    expect(row).to_contain_text("7 to look at")
    row.get_by_role("button", name="Look at tools").click()
    page.get_by_role("button", name="Allow tracker.create_issue").click()
    page.get_by_role("button", name="Done").click()
    row.get_by_role("button", name="Disconnect tracker").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Disconnect").click()
    expect(row.get_by_role("button", name="Connect tracker")).to_be_visible()
    wait_until(page, lambda: not signs_in.tokens)

    page.goto("/")
    server.script(calling("tracker__create_issue", title="No bell"), {"text": "I filed ENG-1."})
    say(page, "File the broken bell.")
    page.get_by_role("button", name="Approve").click()
    card = page.get_by_role("region", name="Connect tracker")
    expect(card).to_contain_text("The agent needs your account on 127.0.0.1.")
    connect(page)
    expect(saved(page)).to_contain_text("I filed ENG-1.")
    assert tracker.calls == [("create_issue", {"title": "No bell"})]
    use = open_connections(open_page, server).get_by_role("region", name="Recent uses").get_by_role("listitem").first
    expect(use).to_contain_text("Account on tracker")
    expect(use).to_contain_text(f"POST {tracker.place}/mcp")
    expect(use).to_contain_text("200")
    (token,) = signs_in.tokens
    assert token.refresh_token not in (server.folder / "server.log").read_text()


def test_an_account_on_a_service_is_connected_tested_used_by_a_run_that_waited_and_disconnected(
    open_page: OpenPage, server: Studio, forge: ServiceServer
) -> None:
    page = open_page("/")
    server.script(calling("github__connect"), {"text": "I can use your account."})
    say(page, "Push it.")
    expect(page.get_by_role("region", name="Connect GitHub")).to_contain_text("The agent needs your account")
    connect(page, "GitHub")
    expect(saved(page)).to_contain_text("I can use your account.")

    page = open_connections(open_page, server)
    row = page.locator("[data-service=github]")
    expect(row).to_contain_text("GITHUB_TOKEN for api.github.com, github.com, uploads.github.com")
    expect(row).to_contain_text("Not yet tried against the real service.")
    expect(row).to_contain_text(f"{server.url}/connections/callback/github")
    expect(row).to_contain_text("You connected your account ana")
    row.get_by_role("button", name="Test GitHub").click()
    expect(row.get_by_role("button", name="Test GitHub")).to_have_text("Works")
    forge.end_all()
    row.get_by_role("button", name="Test GitHub").click()
    expect(row).to_contain_text("ended your connection. Connect again.")
    connect(page, "GitHub")
    row.get_by_role("button", name="Disconnect GitHub").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Disconnect").click()
    expect(row.get_by_role("button", name="Connect GitHub")).to_be_visible()
    wait_until(page, lambda: not forge.live)


def test_a_server_for_every_project_says_so(open_page: OpenPage, server: Studio, tracker: ToolServer) -> None:
    page = open_connections(open_page, server)
    page.get_by_role("button", name="Add server").click()
    page.get_by_label("Address").fill(tracker.url)
    page.get_by_label("Name").fill("everywhere")
    page.get_by_label("For every project of this server").check()
    page.get_by_label("Access").select_option("Each person signs in")
    page.get_by_role("dialog").get_by_role("button", name="Add server").click()
    row = page.locator("[data-mcp-server=everywhere]")
    expect(row).to_contain_text("everywhere · for every project")
    choose(page, "everywhere", "Remove")
    page.get_by_role("button", name="Remove server").click()
    expect(row).to_have_count(0)


def test_a_secret_only_for_me_says_so(open_page: OpenPage, server: Server) -> None:
    page = open_connections(open_page, server)
    page.get_by_role("button", name="New secret").click()
    page.get_by_label("Name").fill("MY_KEY")
    page.get_by_role("textbox", name="Hosts").fill("api.example.com")
    page.get_by_label("Only for me").check()
    page.locator("input[type=password]").fill(VALUE)
    page.get_by_role("button", name="Save secret").click()
    row = page.locator("[data-secret=MY_KEY]")
    expect(row).to_contain_text("api.example.com · only for you")
    choose(page, "MY_KEY", "Delete")
    page.get_by_role("button", name="Delete secret").click()
    expect(row).to_have_count(0)
