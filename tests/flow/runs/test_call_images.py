"""Images that tools return: what the model sees, what people see, and what is kept of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast import Agent, Image, ToolResult, tool
from outlast.base.errors import DiskFull, ModelCut
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.images import MAX_IMAGE_BYTES
from outlast.kernel.attachments.actions import open_attachment
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.models.protocol import ImagePiece, ModelRequest, ModelSpec, ToolResultPiece
from outlast.kernel.runs.actions import continue_run
from outlast.kernel.runs.call_images import SENT_BYTES, SENT_IMAGES, sent_images
from outlast.kernel.runs.retention import clean_up
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.runs.tables import effects
from outlast.kernel.runs.transcript import Effect
from outlast.kernel.settings import Settings
from outlast.kernel.threads.actions import fork_thread, list_messages
from outlast.testing.scripted_model import Call, Fail, ScriptedModel, Turn, turn
from tests.flow.harness import Stage, stage
from tests.photographer import png
from tests.unit.base.test_image_formats import GIF, JPEG, PNG, WEBP_LOSSY

CHART = png(8, 6)
ONCE = Settings(retry=RetrySettings(attempts=0))
DRAW = Call("draw", {}, "call_a")


@asynccontextmanager
async def seen(db: Database, folder: Path, turns: list[Turn], agent: Agent) -> AsyncIterator[Stage]:
    """A stage whose model has vision."""
    model = ScriptedModel(turns)
    async with stage(db, folder, model, agent=agent, settings=ONCE) as it:
        it.services.catalog.default = ModelSpec("scripted", "scripted", "scripted", vision=True)  # type: ignore[misc]
        yield it


def drawing(*images: Image, text: str = "") -> Agent:
    @tool(repeatable=True)
    def draw() -> Any:
        """Draw a chart."""
        return ToolResult(text, images=images) if text else list(images) if len(images) != 1 else images[0]

    return Agent("chat", tools=[draw])


def results_in(request: ModelRequest) -> list[ToolResultPiece]:
    return [piece for message in request.messages for piece in message.pieces if isinstance(piece, ToolResultPiece)]


async def stored(it: Stage) -> Sequence[Any]:
    return await it.services.db.read(lambda tx: list(tx.execute(sa.select(attachments))))


async def test_the_model_sees_the_image_and_people_see_it_with_the_call(db: Database, tmp_path: Path) -> None:
    agent = drawing(Image(CHART, alt="Prices of\ntwo orders"))
    async with seen(db, tmp_path, [turn(DRAW), turn("It rises.")], agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        (result,) = results_in(it.model.requests[1])
        assert result.images == (ImagePiece("image/png", CHART),)
        assert "Prices of" in result.content
        parts = (await it.messages())[-1].parts
        assert [part.type for part in parts] == ["tool_call", "image", "text"]
        shown = parts[1]
        assert (shown.call_id, shown.step, shown.name) == ("call_a", 1, "Prices of two orders")
        assert (shown.media_type, shown.width, shown.height) == ("image/png", 8, 6)
        names = [event["event"] for event in events]
        place = names.index("tool_call.result")
        assert names[place + 1 : place + 3] == ["part.created", "part.completed"]
        opened, file = await open_attachment(it.services, it.owner, shown.attachment_id)
        assert (opened.media_type, file.path.read_bytes()) == ("image/png", CHART)


async def test_no_row_holds_the_bytes_of_an_image(db: Database, tmp_path: Path) -> None:
    async with seen(db, tmp_path, [turn(DRAW), turn("Yes.")], drawing(Image(CHART))) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        kept = await db.read(lambda tx: tx.value(effects.c.result, {"run_id": started.run_id, "kind": "tool"}))
        (image,) = kept["images"]
        assert set(image) == {"attachment_id", "name", "size_bytes"}
        assert [row.size_bytes for row in await stored(it)] == [len(CHART)]


async def test_a_model_without_vision_reads_what_the_image_shows(db: Database, tmp_path: Path) -> None:
    agent = drawing(Image(CHART, alt="Prices"), text="Drawn.")
    async with stage(db, tmp_path, [turn(DRAW), turn("Done.")], agent=agent) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        (result,) = results_in(it.model.requests[1])
        assert (result.content, result.images) == ("Drawn.\n[image Prices: not shown to this model]", ())


@pytest.mark.parametrize("content", [PNG, JPEG, GIF, WEBP_LOSSY], ids=["png", "jpeg", "gif", "webp"])
async def test_the_type_of_an_image_is_found_in_its_content(db: Database, tmp_path: Path, content: bytes) -> None:
    async with seen(db, tmp_path, [turn(DRAW), turn("Yes.")], drawing(Image(content))) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        (result,) = results_in(it.model.requests[1])
        assert [piece.data for piece in result.images] == [content]
        assert result.images[0].media_type.removeprefix("image/") in ("png", "jpeg", "gif", "webp")


@pytest.mark.parametrize(
    ("images", "kept", "told"),
    [
        ([Image(b"<svg/>", alt="x.png")], 0, "Image 1 was left out: it is not a PNG, JPEG, GIF or WebP"),
        ([Image(CHART + bytes(MAX_IMAGE_BYTES)), Image(CHART)], 1, "at most 5,000,000 are accepted"),
        ([Image(png(8, 6, grey)) for grey in range(6)], 4, "2 more images were left out: a result may have 4"),
    ],
    ids=["not an image", "too large", "too many"],
)
async def test_an_image_that_cannot_be_sent_is_left_out_and_the_model_reads_why(
    db: Database, tmp_path: Path, images: list[Image], kept: int, told: str
) -> None:
    agent = drawing(*images, text="Drawn.")
    async with seen(db, tmp_path, [turn(DRAW), turn("Hm.")], agent) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        (result,) = results_in(it.model.requests[1])
        assert len(result.images) == len(await stored(it)) == kept
        assert result.content.startswith("Drawn.\n")
        assert told in result.content
        assert not result.is_error


async def test_a_disk_that_is_full_loses_the_image_but_not_the_result(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_blobs: FolderBlobs, _content: bytes) -> str:
        raise DiskFull("The disk is full.")

    agent = drawing(Image(CHART), text="Paid.")
    async with seen(db, tmp_path, [turn(DRAW), turn("Hm.")], agent) as it:
        monkeypatch.setattr(FolderBlobs, "put", refuse)
        assert await it.ended((await it.start()).run_id) == "completed"
        (result,) = results_in(it.model.requests[1])
        assert result.content == "Paid.\n[Image 1 was left out: The disk is full.]"


def test_data_that_are_no_bytes_are_an_error_of_the_tool() -> None:
    with pytest.raises(TypeError, match="must be bytes"):
        Image("iVBORw0KGgo=")  # type: ignore[arg-type]


async def test_a_run_that_continues_another_one_sees_the_same_image_from_the_store(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(DRAW), turn(Fail(ModelCut("cut"))), turn("It rises.")]
    async with seen(db, tmp_path, turns, drawing(Image(CHART))) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        continued = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(continued.run_id) == "completed"
        assert [results_in(request)[0].images for request in it.model.requests[1:]] == [
            (ImagePiece("image/png", CHART),)
        ] * 2
        assert len(await stored(it)) == 1, "the call was not made again"


async def test_a_later_answer_reads_what_the_image_showed_and_a_fork_and_a_cleaned_run_keep_it(
    db: Database, tmp_path: Path
) -> None:
    turns = [turn(DRAW), turn("It rises."), turn("Yes.")]
    agent = drawing(Image(CHART, alt="Prices"), text="Drawn.")
    async with seen(db, tmp_path, turns, agent) as it:
        first = await it.start()
        assert await it.ended(first.run_id) == "completed"
        assert await it.ended((await it.start("Sure?")).run_id) == "completed"
        (result,) = results_in(it.model.requests[2])
        assert (result.content, result.images) == ("Drawn.\n[image Prices: shown in this earlier answer]", ())
        made = await fork_thread(it.services, it.owner, it.thread_id)
        await clean_up(db, first.run_id)
        for thread_id in (it.thread_id, made.id):
            answers = (await list_messages(it.services, it.owner, thread_id)).items
            images = [part for answer in answers for part in answer.parts if part.type == "image"]
            assert [image.call_id for image in images] == ["call_a"]
            assert (await open_attachment(it.services, it.owner, images[0].attachment_id))[1].path.read_bytes() == CHART


def drawn(count: int, size_bytes: int) -> list[Effect]:
    return [
        Effect(
            f"eff_{number}",
            number,
            number,
            "tool",
            "finished",
            result={"images": [{"attachment_id": f"att_{number}", "name": "", "size_bytes": size_bytes}]},
        )
        for number in range(count)
    ]


def test_a_request_has_the_newest_images_of_a_run_within_its_limits() -> None:
    assert sent_images(drawn(40, 1_000)) == {f"att_{number}" for number in range(40 - SENT_IMAGES, 40)}
    most = SENT_BYTES // MAX_IMAGE_BYTES
    assert sent_images(drawn(10, MAX_IMAGE_BYTES)) == {f"att_{number}" for number in range(10 - most, 10)}
    assert sent_images([]) == set()
