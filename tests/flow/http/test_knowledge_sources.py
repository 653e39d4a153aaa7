"""Documentation through the API: handed in, named, looked into, read again, removed; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from outlast.apps.knowledge import source_store
from outlast.apps.knowledge.source_store import NewSource
from tests.asgi import Answer, Browser
from tests.factories import Team
from tests.flow.http.conftest import Site

GUIDE = "# Tracker\n\nTalks to it.\n\n## Create\n\nCall `create`.\n"


class Scene:
    def __init__(self, team: Team, browser: Browser) -> None:
        self.team, self.browser = team, browser

    async def add(self, **body: Any) -> Answer:
        given = {"package": "tracker", "project_id": self.team.project_id, **body}
        return await self.browser.post("/v1/knowledge/sources", given)


@pytest.fixture
async def scene(site: Site) -> Scene:
    team = await site.services.db.write(Team)
    return Scene(team, await site.signed_in(team.editor))


async def test_a_text_is_there_at_once_and_is_found(scene: Scene) -> None:
    answer = await scene.add(text=GUIDE, name="guide.md")
    assert answer.status == 201
    source = answer.json()
    assert (source["state"], source["kind"], source["passages"]) == ("ready", "text", 2)
    listed = (await scene.browser.get(f"/v1/knowledge/sources?project_id={scene.team.project_id}")).json()
    assert source["id"] in {one["id"] for one in listed["items"]}
    found = await scene.browser.get(f"/v1/knowledge/search?q=create&project_id={scene.team.project_id}")
    assert found.json()["items"][0]["heading"] == "Tracker › Create"


async def test_the_same_text_again_keeps_its_passages(scene: Scene) -> None:
    source = (await scene.add(text=GUIDE, name="guide.md")).json()
    path = f"/v1/knowledge/sources/{source['id']}/passages"
    before = (await scene.browser.get(path)).json()["items"]
    again = (await scene.add(text=GUIDE + "\n## More\n\nText.\n", name="guide.md")).json()
    after = (await scene.browser.get(path)).json()["items"]
    assert again["id"] == source["id"]
    assert [one["id"] for one in after[:2]] == [one["id"] for one in before]
    assert [one["heading"] for one in after] == ["Tracker", "Tracker › Create", "Tracker › More"]


async def test_passages_come_page_by_page(scene: Scene) -> None:
    text = "\n\n".join(f"## Part {n}\n\ntext" for n in range(7))
    source = (await scene.add(text=text, name="a.md")).json()
    headings: list[str] = []
    after: str | None = "-1"
    while after is not None:
        path = f"/v1/knowledge/sources/{source['id']}/passages?limit=3&after={after}"
        page = (await scene.browser.get(path)).json()
        headings += [one["heading"] for one in page["items"]]
        after = page["next"]
    assert headings == [f"a › Part {n}" for n in range(7)]


async def test_an_address_waits_to_be_read(scene: Scene) -> None:
    answer = await scene.add(package="@acme/tracker@1", location="https://docs.example/llms.txt")
    source = answer.json()
    assert (source["state"], source["kind"], source["package"]) == ("waiting", "llms_txt", "npm:@acme/tracker")
    package = (await scene.add(package="npm:@acme/tracker", location="package")).json()
    assert (package["kind"], package["location"]) == ("package", "npm:@acme/tracker")


async def test_a_text_larger_than_other_requests_is_taken(scene: Scene) -> None:
    text = "# Big\n\n" + "".join(f"## Part {n}\n\n{'word ' * 200}\n\n" for n in range(1500))
    assert len(text) > 1_400_000
    assert (await scene.add(text=text, name="big.md")).json()["passages"] == 1500


@pytest.mark.parametrize(
    "body",
    [
        {"location": "/etc/passwd"},
        {"location": "file:///etc/passwd"},
        {"location": "../secret.md"},
        {"location": "http://127.0.0.1:8400/v1/me"},
        {"location": "http://169.254.169.254/latest/meta-data"},
        {"location": "http://user:secret@docs.example/x.md"},
        {"location": "/etc", "kind": "folder"},
        {"location": "", "kind": "markdown"},
        {"location": "npm:Not A Package"},
        {"location": "https://docs.example/a.md", "text": "both"},
        {"text": "   ", "name": "a.md"},
        {"text": "<!-- nothing -->", "name": "a.md"},
        {"package": "npm:", "text": "x"},
        {"package": " ", "text": "x"},
        {},
    ],
)
async def test_what_cannot_be_a_source_is_refused_and_says_what_to_do(scene: Scene, body: dict[str, Any]) -> None:
    answer = await scene.add(**body)
    assert (answer.status, answer.code) == (400, "malformed_input"), answer.body
    assert "secret" not in answer.json()["detail"].replace("../secret", "")


async def test_what_the_configuration_names_is_everybodys_and_nobody_removes_it(site: Site, scene: Scene) -> None:
    new = NewSource("tracker", "markdown", "https://docs.example/all.md")
    source_id = await site.services.db.write(lambda tx: source_store.add(tx, new, None))
    stranger = await site.signed_in(scene.team.stranger)
    assert (await stranger.get(f"/v1/knowledge/sources/{source_id}")).status == 200
    assert source_id in {one["id"] for one in (await stranger.get("/v1/knowledge/sources")).json()["items"]}
    answer = await scene.browser.call("DELETE", f"/v1/knowledge/sources/{source_id}")
    assert (answer.status, answer.code) == (409, "conflict")
    again = await stranger.post(f"/v1/knowledge/sources/{source_id}/refresh")
    assert (again.status, again.json()["state"]) == (202, "waiting")


async def test_a_removed_source_is_found_no_more(scene: Scene) -> None:
    source = (await scene.add(text=GUIDE, name="guide.md")).json()
    path = f"/v1/knowledge/sources/{source['id']}"
    assert (await scene.browser.call("DELETE", path)).status == 204
    assert (await scene.browser.get(path)).status == 404
    found = await scene.browser.get(f"/v1/knowledge/search?q=create&project_id={scene.team.project_id}")
    assert found.json()["items"] == []


async def test_a_text_cannot_be_read_again(scene: Scene) -> None:
    source = (await scene.add(text=GUIDE, name="guide.md")).json()
    answer = await scene.browser.post(f"/v1/knowledge/sources/{source['id']}/refresh")
    assert (answer.status, answer.code) == (409, "conflict")
