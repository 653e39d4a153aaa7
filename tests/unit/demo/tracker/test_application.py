"""The demo's issues tracker, as code in a sandbox meets it."""

from __future__ import annotations

import anyio
import pytest

from outlast_demo.tracker import issue_lists as listing
from outlast_demo.tracker.access import MAX_IN_WINDOW
from outlast_demo.tracker.issues import STATUSES
from outlast_demo.tracker.service import documentation
from outlast_demo.tracker.storage import open_book, open_secret
from tests.unit.demo.tracker.conftest import Desk


async def test_the_list_of_issues_is_filtered_by_every_documented_parameter(desk: Desk) -> None:
    mine = await desk.keys("state=open&assigned_to=me&sort=priority")
    assert mine[0] == "ATL-7"
    assert len(mine) == 8
    assert set(await desk.keys("assigned_to=ada&state=open")) == set(mine)
    assert await desk.keys("status=done,cancelled&project=har&sort=created") == ["HAR-8", "HAR-6"]
    assert set(await desk.keys("assigned_to=none&priority=high,medium")) == {"ATL-9", "HAR-9"}
    assert await desk.keys("label=sign-in") == ["ATL-7"]
    assert await desk.keys("text=twice deploy") == ["HAR-4"]
    assert (await desk.keys("sort=due&state=open"))[0] == "ATL-7"


async def test_pages_lead_to_the_next_one_until_there_is_none(desk: Desk) -> None:
    token, seen = "", list[str]()
    while True:
        answer = (await desk.get(f"/issues?page_size=10{token and f'&page_token={token}'}")).json()
        seen += [item["key"] for item in answer["items"]]
        token = answer["next_page_token"]
        if token is None:
            break
    assert len(seen) == len(set(seen)) == answer["total"] == 25


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("assignee=me", "unknown_parameter"),
        ("state=opened", "unknown_value"),
        ("status=closed", "unknown_value"),
        ("page_size=51", "unknown_value"),
        ("page_size=²", "unknown_value"),
        ("page_token=7", "bad_page_token"),
        ("sort=title", "unknown_value"),
    ],
)
async def test_what_the_list_does_not_know_is_refused_with_what_it_knows(desk: Desk, query: str, code: str) -> None:
    answer = await desk.get(f"/issues?{query}")
    assert answer.json()["code"] == code
    assert answer.json()["hint"]
    assert answer.headers["content-type"] == "application/problem+json"


async def test_an_issue_is_closed_opened_again_assigned_and_stays_so_after_a_restart(desk: Desk) -> None:
    closed = await desk.client.patch("/v2/issues/atl-7", json={"status": "done", "assigned_to": "noor"})
    assert closed.json()["state"] == "closed"
    assert closed.json()["closed_at"]
    assert open_book(desk.folder, desk.clock, reset=False).book.issues["ATL-7"].assignee == "noor"
    again = await desk.client.patch("/v2/issues/ATL-7", json={"status": "todo", "assigned_to": None})
    assert (again.json()["state"], again.json()["closed_at"], again.json()["assignee"]) == ("open", None, None)
    assert open_book(desk.folder, desk.clock, reset=True).book.issues["ATL-7"].assignee == "ada"


async def test_issues_and_comments_are_added(desk: Desk) -> None:
    made = await desk.client.post("/v2/issues", json={"project": "HAR", "title": " Refunds ", "labels": ["bug"]})
    assert made.status_code == 201
    assert made.json() | {"created_at": "", "updated_at": ""} == {
        "key": "HAR-10",
        "project": "HAR",
        "title": "Refunds",
        "description": "",
        "status": "todo",
        "state": "open",
        "priority": "medium",
        "assignee": None,
        "reporter": "ada",
        "labels": ["bug"],
        "due_on": None,
        "created_at": "",
        "updated_at": "",
        "closed_at": None,
        "comments": [],
    }
    said = await desk.client.post("/v2/issues/HAR-10/comments", json={"text": "Seen again."})
    assert [comment["text"] for comment in said.json()["comments"]] == ["Seen again."]


async def test_two_changes_at_once_are_both_made(desk: Desk) -> None:
    async def close(key: str) -> None:
        await desk.client.patch(f"/v2/issues/{key}", json={"status": "done"})

    async with anyio.create_task_group() as tasks:
        for key in ("ATL-1", "HAR-1", "LUM-1"):
            tasks.start_soon(close, key)
    assert {"ATL-1", "HAR-1", "LUM-1"} <= set(await desk.keys("status=done"))


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"state": "closed"},
        {"title": ""},
        {"title": 3},
        {"status": "closed"},
        {"assigned_to": "bob"},
        {"due_on": "soon"},
        {"labels": ["Not This"]},
        {"labels": "bug"},
    ],
)
async def test_a_change_that_cannot_be_made_says_why_and_changes_nothing(desk: Desk, wish: object) -> None:
    before = (await desk.get("/issues/ATL-1")).json()
    refused = await desk.client.patch("/v2/issues/ATL-1", json=wish)
    assert refused.status_code in (400, 422)
    assert (await desk.get("/issues/ATL-1")).json() == before


async def test_counts_come_in_order_and_add_up(desk: Desk) -> None:
    counts = (await desk.get("/issues/counts?by=status&state=open")).json()
    assert [group["value"] for group in counts["groups"]] == list(STATUSES)
    assert sum(group["count"] for group in counts["groups"]) == counts["total"] == 21
    projects = (await desk.get("/projects")).json()["items"]
    assert sum(project["open"] for project in projects) == 21


async def test_nobody_comes_in_without_the_token_and_the_version(desk: Desk) -> None:
    for headers, code in (
        ({"Authorization": ""}, "not_signed_in"),
        ({"Authorization": "Bearer trk_guessed"}, "wrong_token"),
        ({"Tracker-Version": "1"}, "version_needed"),
    ):
        answer = await desk.get("/me", **headers)
        assert answer.json()["code"] == code
        assert desk.secret not in answer.text
    assert (await desk.get("/me")).json()["handle"] == "ada"
    assert (await desk.get("/nothing")).status_code == 404
    assert (await desk.client.delete("/v2/issues")).status_code == 405


async def test_only_the_request_log_shows_the_token_and_only_its_user_reads_it(desk: Desk) -> None:
    await desk.get("/issues?state=open")
    file = desk.folder / "requests.log"
    line = file.read_text().splitlines()[-1]
    assert f"200 GET /v2/issues?state=open authorization='Bearer {desk.secret}'" in line
    assert file.stat().st_mode & 0o777 == 0o600
    assert (desk.folder / "secret").stat().st_mode & 0o777 == 0o600
    assert desk.secret not in (desk.folder / "issues.json").read_text()
    assert open_secret(desk.folder).reveal().decode() == desk.secret
    assert desk.secret not in repr(open_secret(desk.folder))


async def test_a_request_cannot_forge_a_line_of_the_log(desk: Desk) -> None:
    await desk.get("/issues?text=%0A2026", Authorization="Bearer a\\nb")
    assert len((desk.folder / "requests.log").read_text().splitlines()) == 1


async def test_too_many_requests_are_told_when_to_come_back(desk: Desk) -> None:
    left = [(await desk.get("/me")).headers["RateLimit-Remaining"] for _ in range(MAX_IN_WINDOW)]
    assert (left[0], left[-1]) == (str(MAX_IN_WINDOW - 1), "0")
    refused = await desk.get("/me")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    desk.clock.advance(61)
    assert (await desk.get("/me")).headers["RateLimit-Remaining"] == str(MAX_IN_WINDOW - 1)


async def test_issues_that_cannot_be_read_are_put_aside(desk: Desk) -> None:
    (desk.folder / "issues.json").write_text('{"issues": [{}]}')
    assert len(open_book(desk.folder, desk.clock, reset=False).book.issues) == 25
    assert (desk.folder / "issues.unreadable").exists()


def test_the_documentation_names_what_the_list_knows() -> None:
    text = documentation("http://127.0.0.2:1/v2")
    for name in (*listing.FILTERS, *listing.PAGING, *listing.GROUPS, *STATUSES):
        assert f"`{name}`" in text, name
    assert "ISSUES_TOKEN" in text
    assert "http://127.0.0.2:1/v2/issues?state=open&assigned_to=me" in text
    assert "{base_url}" not in text
    assert "{version}" not in text
