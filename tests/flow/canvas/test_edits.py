"""Edits made by hand over HTTP, while nothing of the screen is awake: saved, refused, taken back, kept out."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from outlast.kernel.locks import thread_locks
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from tests.asgi import Answer, Browser
from tests.factories import Team, join, make_run, make_user
from tests.flow.canvas.conftest import make_screen
from tests.flow.http.conftest import Site

PAGE = """import { cn } from "@/lib/utils";

export default function Page({ open }: { open: boolean }) {
  return (
    <main className="p-4">
      <h1>Hello, it's me</h1>
      <p className={open ? "a" : "b"}>Words</p>
      <img src="/a.png" />
    </main>
  );
}
"""
CARD = 'export function Card() {\n  return <section className="rounded-lg">Card</section>;\n}\n'
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MAIN, TITLE, CHOSEN, PICTURE = (f"app/page.tsx:{place}" for place in ("5:4", "6:6", "7:6", "8:6"))
SECTION = "components/card.tsx:2:9"


class Bench:
    """A screen with two files, and somebody who edits it."""

    def __init__(self, site: Site, browser: Browser, screen: dict[str, Any]) -> None:
        self.site, self.browser, self.screen = site, browser, screen
        self.address = f"/v1/screens/{screen['id']}/edits"
        self.keeper: CheckpointKeeper = site.services.sandboxes.checkpoints  # type: ignore[assignment]

    async def write(self, path: str, text: str) -> None:
        await self.keeper.bring_back(self.screen["workspace_id"])
        target = self.keeper._folder(self.screen["workspace_id"]) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    async def read(self, path: str) -> str:
        answer = await self.browser.get(f"/v1/screens/{self.screen['id']}/files/content?path={path}")
        assert answer.status == 200, answer.body
        return answer.body.decode()

    async def save(self, *edits: dict[str, Any], browser: Browser | None = None) -> Answer:
        return await (browser or self.browser).post(self.address, {"edits": list(edits)})

    async def undo(self, checkpoint_id: str) -> Answer:
        return await self.browser.post(f"{self.address}/undo", {"checkpoint_id": checkpoint_id})


@pytest.fixture
async def bench(site: Site, team: Team) -> Bench:
    browser = await site.signed_in(team.editor)
    made = Bench(site, browser, await make_screen(browser, team.project_id))
    await made.write("app/page.tsx", PAGE)
    await made.write("components/card.tsx", CARD)
    await made.keeper.take(made.screen["workspace_id"], "tool")
    return made


def classes(loc: str, seen: str | None, value: str, **more: Any) -> dict[str, Any]:
    return {"loc": loc, "kind": "classes", "seen": seen, "value": value, **more}


async def test_edits_of_several_files_are_saved_as_one_checkpoint_and_told(bench: Bench, team: Team):
    answer = await bench.save(
        classes(MAIN, "p-4", "p-4 bg-[#3b82f6]", tag="main"),
        {"loc": TITLE, "kind": "text", "seen": "Hello, it's me", "value": "Good day"},
        {"loc": PICTURE, "kind": "attribute", "attribute": "alt", "seen": None, "value": "A cat"},
        classes(CHOSEN, None, "c"),
        classes(SECTION, "rounded-lg", "rounded-xl"),
    )
    assert answer.status == 200, answer.body
    told = answer.json()
    assert [one["status"] for one in told["results"]] == ["applied", "applied", "applied", "refused", "applied"]
    assert told["results"][3]["code"] == "dynamic_class"
    assert "condition" in told["results"][3]["reason"]
    wanted = PAGE.replace('"p-4"', '"p-4 bg-[#3b82f6]"').replace("Hello, it's me", "Good day")
    assert await bench.read("app/page.tsx") == wanted.replace("<img src", '<img alt="A cat" src')
    assert await bench.read("components/card.tsx") == CARD.replace("rounded-lg", "rounded-xl")
    kept = (await bench.browser.get(f"/v1/screens/{bench.screen['id']}/checkpoints")).json()["items"]
    assert (kept[0]["id"], kept[0]["reason"]) == (told["checkpoint_id"], "person")
    compared = (await bench.browser.get(f"/v1/checkpoints/{told['checkpoint_id']}/diff")).json()
    assert [one["path"] for one in compared["changes"]] == ["app/page.tsx", "components/card.tsx"]


async def test_what_was_saved_is_taken_back_as_a_whole_and_only_once(bench: Bench):
    told = (await bench.save(classes(MAIN, "p-4", "p-8"), classes(SECTION, "rounded-lg", "x"))).json()
    undone = await bench.undo(told["checkpoint_id"])
    assert undone.status == 200, undone.body
    assert undone.json()["paths"] == ["app/page.tsx", "components/card.tsx"]
    assert undone.json()["checkpoint_id"] is not None
    assert (await bench.read("app/page.tsx"), await bench.read("components/card.tsx")) == (PAGE, CARD)
    again = await bench.undo(told["checkpoint_id"])
    assert (again.status, again.json()["checkpoint_id"]) == (200, None)


async def test_nothing_is_taken_back_when_a_file_has_been_changed_since(bench: Bench):
    told = (await bench.save(classes(MAIN, "p-4", "p-8"), classes(SECTION, "rounded-lg", "x"))).json()
    await bench.write("components/card.tsx", CARD.replace("Card<", "New<"))
    refused = await bench.undo(told["checkpoint_id"])
    assert (refused.status, refused.code) == (409, "files_changed")
    assert 'className="p-8"' in await bench.read("app/page.tsx")


async def test_only_edits_made_by_hand_are_taken_back(bench: Bench, site: Site, team: Team):
    kept = (await bench.browser.get(f"/v1/screens/{bench.screen['id']}/checkpoints")).json()["items"]
    assert (await bench.undo(kept[0]["id"])).code == "malformed_input"
    other = await make_screen(bench.browser, team.project_id)
    saved = (await bench.save(classes(MAIN, "p-4", "p-8"))).json()
    elsewhere = await bench.browser.post(
        f"/v1/screens/{other['id']}/edits/undo", {"checkpoint_id": saved["checkpoint_id"]}
    )
    assert elsewhere.code == "malformed_input"


async def test_a_repeated_request_changes_nothing_more(bench: Bench):
    edit = classes(MAIN, "p-4", "p-8")
    first, second = await bench.save(edit), await bench.save(edit)
    assert first.json()["results"] == second.json()["results"]
    assert second.json()["checkpoint_id"] is None


async def test_an_edit_of_what_somebody_else_has_changed_is_stale(bench: Bench):
    await bench.write("app/page.tsx", PAGE.replace('"p-4"', '"p-6"'))
    result = (await bench.save(classes(MAIN, "p-4", "p-8"))).json()["results"][0]
    assert (result["status"], result["code"], result["found"]) == ("stale", "stale", "p-6")
    assert 'className="p-6"' in await bench.read("app/page.tsx")


async def test_what_was_not_saved_before_is_no_part_of_an_edit(bench: Bench):
    await bench.write("components/card.tsx", CARD.replace("Card<", "New<"))
    told = (await bench.save(classes(MAIN, "p-4", "p-8"))).json()
    await bench.undo(told["checkpoint_id"])
    assert await bench.read("app/page.tsx") == PAGE
    assert await bench.read("components/card.tsx") == CARD.replace("Card<", "New<")


@pytest.mark.parametrize(("status", "leg"), [("running", "held"), ("awaiting_approval", "parked")])
async def test_while_a_run_is_active_edits_are_refused_clearly(
    bench: Bench, site: Site, team: Team, status: str, leg: str
):
    run_id = await site.services.db.write(make_run, bench.screen["thread_id"], team.editor, status=status, leg=leg)
    refused = await bench.save(classes(MAIN, "p-4", "p-8"))
    assert (refused.status, refused.code) == (409, "thread_busy")
    problem = refused.json()
    assert problem["fields"]["active_run_id"] == run_id
    assert "cancel" in problem["hint"].lower()
    assert await bench.read("app/page.tsx") == PAGE


async def test_who_is_kept_out_by_anothers_lock_cannot_edit(bench: Bench, site: Site, team: Team):
    def drive(tx: Any) -> Any:
        colleague = make_user(tx, "Cora")
        join(tx, team.project_id, colleague, "editor")
        thread_locks.drive(tx, bench.screen["thread_id"], team.project_id, team.editor, 3600)
        return colleague

    colleague = await site.services.db.write(drive)
    other = await site.signed_in(colleague)
    refused = await bench.save(classes(MAIN, "p-4", "p-8"), browser=other)
    assert (refused.status, refused.code) == (409, "thread_locked")
    assert refused.json()["fields"]["holder_name"] == "Emil"
    mine = await bench.save(classes(MAIN, "p-4", "p-8"))
    assert mine.json()["results"][0]["status"] == "applied"
    undo = await other.post(f"{bench.address}/undo", {"checkpoint_id": mine.json()["checkpoint_id"]})
    assert undo.code == "thread_locked"
    screen = f"/v1/screens/{bench.screen['id']}"
    themed = await other.call("PATCH", screen, {"theme": "ocean"})
    assert (themed.status, themed.code) == (409, "thread_locked")
    moved = await other.call("PATCH", screen, {"x": 40})
    assert (moved.status, moved.json()["theme"]) == (200, "default")


async def test_viewers_look_and_do_not_edit(bench: Bench, site: Site, team: Team):
    viewer = await site.signed_in(team.viewer)
    looked = await viewer.post(f"{bench.address}/inspect", {"locs": [MAIN]})
    assert looked.json()["items"][0]["classes"]["value"] == "p-4"
    assert (await bench.save(classes(MAIN, "p-4", "p-8"), browser=viewer)).code == "forbidden"


async def test_the_source_says_what_can_be_edited_and_why_not(bench: Bench):
    locs = [MAIN, TITLE, CHOSEN, PICTURE, "app/page.tsx:1:0", "app/none.tsx:1:0", "../x"]
    items = (await bench.browser.post(f"{bench.address}/inspect", {"locs": locs})).json()["items"]
    main, title, chosen, picture, *missing = items
    assert (main["tag"], main["classes"]["value"], main["text"]["refusal"]["code"]) == ("main", "p-4", "no_text")
    assert (title["classes"]["value"], title["text"]["value"]) == (None, "Hello, it's me")
    assert chosen["classes"]["refusal"]["code"] == "dynamic_class"
    assert picture["attributes"]["src"] == {"value": "/a.png", "partly": False, "refusal": None}
    assert picture["attributes"]["alt"]["value"] is None
    assert [one["refusal"]["code"] for one in missing] == ["no_element", "no_file", "not_source"]


async def test_styles_become_classes_without_a_sandbox(bench: Bench):
    asked = {"styles": {"background-color": "#3b82f6", "color": "var(--primary)", "x y": "1"}, "classes": ["p-4"]}
    answer = await bench.browser.post(f"{bench.address}/classes", asked)
    assert answer.json() == {
        "classes": {"background-color": "bg-[#3b82f6]", "color": "text-primary"},
        "refused": {"x y": "there is no such property"},
        "known": {},
        "design": False,
    }


@pytest.mark.parametrize(("size", "answer"), [(600_000, 200), (10_100_000, 413)])
async def test_a_file_too_long_to_be_read_whole_is_left_as_it_is(bench: Bench, size: int, answer: int):
    long = PAGE + "// " + "x" * size + "\n"
    await bench.write("app/page.tsx", long)
    edit = {"loc": MAIN, "kind": "classes", "seen": "p-4", "value": "p-8"}
    saved = await bench.save(edit)
    assert saved.status == answer
    if answer == 200:
        assert [one["code"] for one in saved.json()["results"]] == ["source_too_large"]
    else:
        assert saved.json()["code"] == "input_too_large"
    kept = bench.keeper._folder(bench.screen["workspace_id"]) / "app/page.tsx"
    assert kept.stat().st_size == len(long)


async def test_too_much_at_once_is_refused(bench: Bench):
    assert (await bench.save(*[classes(MAIN, "p-4", "p-8")] * 201)).status == 400
    assert (await bench.save()).status == 400
    long = await bench.save(classes(MAIN, "p-4", "x" * 5_000))
    assert long.json()["results"][0]["code"] == "value_invalid"


async def test_an_uploaded_picture_is_put_among_the_apps_files_once(bench: Bench, site: Site, team: Team):
    form = b'--x\r\ncontent-disposition: form-data; name="file"; filename="My Cat.PNG"\r\n\r\n' + PNG + b"\r\n--x--\r\n"
    kind = {"content-type": "multipart/form-data; boundary=x"}
    uploaded = await bench.browser.call("POST", f"/v1/attachments?project_id={team.project_id}", form, headers=kind)
    assert uploaded.status == 201, uploaded.body
    wish = {"attachment_id": uploaded.json()["id"]}
    placed = (await bench.browser.post(f"{bench.address}/pictures", wish)).json()
    assert placed["src"].startswith("/images/my-cat-")
    assert placed["path"] == f"public{placed['src']}"
    answer = await bench.browser.get(f"/v1/screens/{bench.screen['id']}/files/content?path={placed['path']}")
    assert answer.body == PNG
    again = (await bench.browser.post(f"{bench.address}/pictures", wish)).json()
    assert (again["src"], again["checkpoint_id"]) == (placed["src"], None)
    missing = await bench.browser.post(f"{bench.address}/pictures", {"attachment_id": "att_none"})
    assert missing.code == "not_found"
