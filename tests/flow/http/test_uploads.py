"""Files of any kind through the API: uploaded in pieces, resumed, and never given as something that a browser would
run."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from outlast.kernel.attachments.rules import MIN_PIECE_BYTES
from tests.asgi import Answer, Browser
from tests.factories import Team
from tests.flow.http.conftest import Site
from tests.office_files import xlsx

BYTES = {"content-type": "application/octet-stream"}
CONTENT = b"a,b\n" * 40_000
FIRST = 100_000


class Scene:
    def __init__(self, team: Team, browser: Browser) -> None:
        self.team, self.browser = team, browser

    async def begin(self, name: str = "sales.csv", size: int = len(CONTENT)) -> Answer:
        asked = {"name": name, "size_bytes": size, "project_id": self.team.project_id}
        return await self.browser.post("/v1/uploads", asked)

    async def send(self, upload: str, content: bytes, offset: int, browser: Browser | None = None) -> Answer:
        path = f"/v1/uploads/{upload}?offset={offset}"
        return await (browser or self.browser).call("PATCH", path, content, headers=BYTES)

    async def complete(self, upload: str) -> Answer:
        return await self.browser.post(f"/v1/uploads/{upload}/complete")

    async def whole(self, name: str, content: bytes) -> Any:
        upload = (await self.begin(name, len(content))).json()["id"]
        assert (await self.send(upload, content, 0)).status == 200
        return (await self.complete(upload)).json()


@pytest.fixture
async def scene(site: Site) -> Scene:
    team = await site.services.db.write(Team)
    return Scene(team, await site.signed_in(team.editor))


async def test_a_file_is_sent_in_pieces_and_continues_where_it_broke_off(site: Site, scene: Scene) -> None:
    begun = (await scene.begin()).json()
    assert (begun["size_bytes"], begun["offset"]) == (len(CONTENT), 0)
    upload = begun["id"]
    assert (await scene.send(upload, CONTENT[:FIRST], 0)).json()["offset"] == FIRST
    early = await scene.complete(upload)
    assert (early.status, early.json()["fields"]["offset"]) == (409, FIRST)

    again = await scene.send(upload, CONTENT[:FIRST], 0)  # its answer was lost
    assert (again.status, again.json()["fields"]["offset"]) == (409, FIRST)
    where = (await scene.browser.get(f"/v1/uploads/{upload}")).json()["offset"]
    assert (await scene.send(upload, CONTENT[where:], where)).json()["offset"] == len(CONTENT)

    made = await scene.complete(upload)
    assert (made.status, made.json()["id"], made.json()["media_type"]) == (201, upload, "text/csv")
    assert (await scene.complete(upload)).json() == made.json()
    viewer = await site.signed_in(scene.team.viewer)
    assert (await viewer.get(f"/v1/attachments/{upload}")).body == CONTENT
    part = await viewer.get(f"/v1/attachments/{upload}", range="bytes=0-3")
    assert (part.status, part.body) == (206, b"a,b\n")


async def test_a_file_is_given_as_bytes_and_runs_nowhere(scene: Scene) -> None:
    for name, content in (("x.html", b"<script>alert(1)</script>"), ("x.xlsx", xlsx({"A": [["b"]]}))):
        made = await scene.whole(name, content)
        answer = await scene.browser.get(f"/v1/attachments/{made['id']}")
        assert (answer.body, answer.header("content-type")) == (content, "application/octet-stream")
        assert answer.header("content-disposition") == f"attachment; filename*=UTF-8''{name}"
        assert answer.header("content-security-policy").startswith("default-src 'none'; sandbox")
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("cache-control").startswith("private")


async def test_a_drawing_is_shown_and_runs_nothing(scene: Scene) -> None:
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    made = await scene.whole("chart.svg", drawing)
    shown = await scene.browser.get(f"/v1/attachments/{made['id']}")
    assert (shown.body, shown.header("content-type")) == (drawing, "image/svg+xml")
    policy = shown.header("content-security-policy")
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "script" not in policy
    assert shown.header("content-disposition").startswith("inline")
    saved = await scene.browser.get(f"/v1/attachments/{made['id']}?download=true")
    assert saved.header("content-disposition").startswith("attachment")


async def test_uploads_have_bounds(site: Site, scene: Scene) -> None:
    limit = site.services.settings.limits.attachment_bytes
    assert (await scene.begin(size=limit + 1)).code == "input_too_large"
    assert (await scene.begin(size=0)).code == "malformed_input"
    upload = (await scene.begin()).json()["id"]
    assert (await scene.send(upload, b"x" * (MIN_PIECE_BYTES - 1), 0)).code == "malformed_input"
    assert (await scene.send(upload, b"x" * (len(CONTENT) + 1), 0)).code == "input_too_large"
    assert (await scene.send(upload, b"x" * 8_000_001, 0)).code == "input_too_large"
    json = await scene.browser.call("PATCH", f"/v1/uploads/{upload}?offset=0", {"a": 1})
    assert json.code == "malformed_input"
    assert (await scene.browser.get(f"/v1/uploads/{upload}")).json()["offset"] == 0


async def test_two_requests_that_complete_an_upload_get_one_file(scene: Scene) -> None:
    upload = (await scene.begin(size=3)).json()["id"]
    await scene.send(upload, b"abc", 0)
    made: list[Answer] = []

    async def complete() -> None:
        made.append(await scene.complete(upload))

    async with anyio.create_task_group() as group:
        group.start_soon(complete)
        group.start_soon(complete)
    assert [answer.status for answer in made] == [201, 201]
    assert made[0].json() == made[1].json()


async def test_an_upload_can_be_cancelled(scene: Scene) -> None:
    upload = (await scene.begin()).json()["id"]
    await scene.send(upload, CONTENT[:FIRST], 0)
    assert (await scene.browser.call("DELETE", f"/v1/uploads/{upload}")).status == 204
    assert (await scene.send(upload, CONTENT[FIRST:], FIRST)).status == 404


async def test_a_name_with_a_path_is_only_a_name(scene: Scene) -> None:
    made = await scene.whole("../../etc/passwd", b"root")
    assert made["name"] == "passwd"
