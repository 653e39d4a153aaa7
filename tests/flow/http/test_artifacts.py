"""Files of projects through the API: uploaded as forms, and never given as something that a browser would run."""

from __future__ import annotations

import pytest

from outlast.kernel.files.settings import FileSettings
from tests.asgi import Answer, Browser
from tests.factories import Team
from tests.flow.http.conftest import Site
from tests.pdfs import pdf


class Scene:
    def __init__(self, team: Team, browser: Browser) -> None:
        self.team, self.browser = team, browser

    async def upload(self, name: str, content: bytes) -> Answer:
        head = f'--x\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        return await self.browser.call(
            "POST",
            f"/v1/projects/{self.team.project_id}/artifacts",
            head.encode() + content + b"\r\n--x--\r\n",
            headers={"content-type": "multipart/form-data; boundary=x"},
        )


@pytest.fixture
async def scene(site: Site) -> Scene:
    team = await site.services.db.write(Team)
    return Scene(team, await site.signed_in(team.editor))


@pytest.mark.parametrize(
    ("name", "content", "media_type", "disposition"),
    [
        ("x.html", b"<script>alert(1)</script>", "text/plain; charset=utf-8", "attachment"),
        ("x.svg", b"<svg onload='alert(1)'/>", "text/plain; charset=utf-8", "attachment"),
        ("x.md", b"# Title", "text/plain; charset=utf-8", "attachment"),
        ("x.pdf", pdf("Hello"), "application/pdf", "inline"),
    ],
)
async def test_a_file_comes_back_as_it_was_and_runs_nowhere(
    scene: Scene, name: str, content: bytes, media_type: str, disposition: str
) -> None:
    made = await scene.upload(name, content)
    assert made.status == 201
    answer = await scene.browser.get(f"/v1/artifacts/{made.json()['id']}/content")
    assert (answer.body, answer.header("content-type")) == (content, media_type)
    assert answer.header("content-disposition").startswith(disposition)
    assert answer.header("content-security-policy").startswith("default-src 'none'")
    assert answer.header("x-content-type-options") == "nosniff"
    saved = await scene.browser.get(f"/v1/artifacts/{made.json()['id']}/content?download=1")
    assert saved.header("content-disposition") == f"attachment; filename*=UTF-8''{name}"


async def test_files_are_listed_newest_first_and_in_parts(scene: Scene) -> None:
    ids = [(await scene.upload(f"{n}.txt", b"%d" % n)).json()["id"] for n in range(3)]
    path = f"/v1/projects/{scene.team.project_id}/artifacts?limit=2"
    first = (await scene.browser.get(path)).json()
    rest = (await scene.browser.get(f"{path}&before={first['next']}")).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None


async def test_what_is_no_file_that_can_be_used_is_refused(scene: Scene) -> None:
    answer = await scene.upload("x.exe", b"MZ\x90\x00\x03")
    assert (answer.status, answer.json()["code"]) == (400, "malformed_input")
    assert "PDF" in answer.json()["hint"]


async def test_a_larger_file_than_is_taken_is_refused_before_it_is_read(scene: Scene, site: Site) -> None:
    most = site.services.settings.of(FileSettings).artifact_bytes
    answer = await scene.browser.call(
        "POST",
        f"/v1/projects/{scene.team.project_id}/artifacts",
        b"--x",
        headers={"content-type": "multipart/form-data; boundary=x", "content-length": str(most * 2)},
    )
    assert (answer.status, answer.json()["code"]) == (413, "input_too_large")
