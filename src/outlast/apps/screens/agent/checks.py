"""The check before a screen's run may end: the theme is in place, the types fit, the page answers without
throwing or console errors, the answer has its tags. The model gets the problems, precisely and in bounded
size.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

import anyio
import anyio.to_thread
import sqlalchemy as sa

from outlast.apps.screens.agent.project_files import FileLists
from outlast.apps.screens.agent.tags import Outcome, one_line, parse_outcome
from outlast.apps.screens.agent.type_check import COMMAND, Problem, type_problem
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.store import screen_of_thread
from outlast.apps.screens.theme_classes import dress
from outlast.apps.screens.themes import STYLE_SHEET, theme_of
from outlast.base.errors import MalformedInput, NotFound, UnknownTheme
from outlast.base.ids import new_id
from outlast.base.image_formats import recognise
from outlast.base.records import dataclass
from outlast.base.supervision.causes import leaves
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.agents.workspaces import OpenWorkspace, Workspaces
from outlast.kernel.attachments.store import add_attachment
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.runs.transcript import Run
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.tables import checkpoints, workspaces
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER
from outlast.kernel.threads.parts import ImagePart, NoticePart, Part
from outlast_sandbox.browser.interface import Look, Photographer
from outlast_sandbox.interface import Command, Sandbox

SERVER_WAIT_S: Final = 150.0  # for a dev server that is still starting
STYLE_BYTES: Final = 1_000_000
OUTPUT_BYTES: Final = 200_000
SHOWN_BYTES: Final = 2_000
MAX_PAGE_ERRORS: Final = 5
PAGE_ERROR_CHARS: Final = 1_200
_OUT_OF_REACH: Final = re.compile(
    r"net::ERR_|Failed to fetch|fetch failed|NetworkError|Load failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED"
)
NO_PICTURE: Final = "no_picture"
STUBBORN: Final = 3  # equal checks in a row on the same files: another turn would not fix it
MIN_SIDE, MAX_SIDE = 100, 4_000
MAX_PICTURE_BYTES: Final = 8_000_000  # a noisy page reaches fifty
_Types = tuple[Problem | None, dict[str, Any]]  # with the facts for the next check
_Page = tuple[Look | None, list[Problem]]


@dataclass(frozen=True, slots=True)
class Before:
    """The state when a check begins: the screen's row, the workspace's files (None if not all are saved), and of the
    thread's last check its files, its type problem, and whether the missing picture was ever explained. `found`: the
    problems of this run's own last check, its files, and the repetitions in a row."""

    screen: ScreenRow | None
    tree: str | None
    checked_tree: str | None
    checked: Mapping[str, Any] | None
    said_why: bool
    found: Mapping[str, Any]

    def times_found(self, problems: Sequence[str], *, changed: bool) -> int:
        """The number of checks of this run in a row that found just these problems in just these files, this one
        included."""
        same = [self.tree, list(problems)] == [self.found.get("tree"), self.found.get("problems")]
        return int(self.found["times"]) + 1 if same and self.tree is not None and not changed else 1


@dataclass(slots=True)
class Checker:
    """Runs the check."""

    db: Database
    workspaces: Workspaces
    blobs: Blobs
    lists: FileLists
    check_timeout_s: float
    files: CheckpointKeeper | None = None
    keeper: ServiceKeeper | None = None
    photographer: Photographer | None = None

    async def check(self, context: StageContext) -> StageResult:
        """Repeatable: it attaches to the command and repeats the rest. Raises `SandboxLost`, `SandboxUnavailable`."""
        await context.tell("check", "started")
        opened = await self.workspaces.open(context)
        themed = await self._put_theme(context.this_run, opened.sandbox)
        if self.files is not None:
            await self.files.settled(opened.workspace_id)
        before = await self.db.read(_read_before, context.this_run, opened.workspace_id)
        (types, facts), (look, page) = await self._types_and_page(context, opened, before, fresh=themed)
        outcome = parse_outcome("\n\n".join(context.said))
        problems = [*([types] if types else []), *page, *_of_tags(outcome)]
        shorts = [problem.short for problem in problems]
        if problems:
            await context.tell("check", "failed", " ".join(shorts))
        else:
            await context.tell("check", "done", "types fit, the page answers")
        times = before.times_found(shorts, changed=themed)
        mendable = times < STUBBORN and all(problem.mendable for problem in problems)
        parts: list[Part] = []
        if context.last or not problems or not mendable:
            await self._tell_preview(context, opened.sandbox, look)
            parts, picture = await self._picture(context, look, before)
            facts |= picture
        # Not before the result is recorded: another attempt would ask for the command's result.
        context.on_recorded(partial(opened.sandbox.acknowledge, context.effect_id))
        return StageResult(
            problems=tuple(problem.text for problem in problems),
            parts=tuple(parts),
            facts={
                NO_PICTURE: before.said_why,
                **facts,
                "problems": shorts,
                "found": {"tree": before.tree, "problems": shorts, "times": times},
                "gone": self._gone(before, outcome),
            },
            mendable=mendable,
            changed_files=themed,
        )

    async def _put_theme(self, run: Run, sandbox: Sandbox) -> bool:
        """Write the screen's theme, and what its classes need, into its style sheet again, whatever the agent changed
        there. Returns True if that changed the file."""
        screen = await self.db.read(screen_of_thread, run.thread_id)
        if screen is None:
            return False
        try:
            content = await sandbox.read_file(STYLE_SHEET, STYLE_BYTES + 1)
            if len(content) > STYLE_BYTES:  # it was not read completely
                return False
            css = content.decode()
            theme = theme_of(screen.theme, screen.theme_tokens)
            themed = await anyio.to_thread.run_sync(dress, css, theme)
        except (NotFound, UnicodeDecodeError, UnknownTheme, MalformedInput):
            return False  # the check of the page reports the effect
        if themed == css:
            return False
        await sandbox.write_files([(STYLE_SHEET, themed.encode())])
        return True

    async def _types_and_page(
        self, context: StageContext, opened: OpenWorkspace, before: Before, *, fresh: bool
    ) -> tuple[_Types, _Page]:
        """Both at once: the browser mostly waits. The dev server comes first, because it may be installing the
        compiler."""
        silent = await self._silent_server(opened.workspace_id)
        found: list[_Types] = []

        async def compile_it() -> None:
            found.append(await self._types(context, opened.sandbox, before, fresh=fresh))

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(compile_it)
                page = (None, [silent]) if silent is not None else await self._page(opened, before)
        except BaseExceptionGroup as group:  # one failure has ended the other
            raise next(leaves(group)) from None
        return found[0], page

    async def _types(self, context: StageContext, sandbox: Sandbox, before: Before, *, fresh: bool) -> _Types:
        """The problem that the compiler reports; if the files are those of the last check, its result is
        reused."""
        tree = None if fresh else before.tree
        if tree is not None and tree == before.checked_tree:
            kept = Problem(**before.checked) if before.checked else None
            return kept, {"checked_tree": tree, "type_problem": before.checked}
        context.on_cancel(partial(sandbox.kill_command, context.effect_id))
        limit_s = self.check_timeout_s
        command = Command(
            context.effect_id, context.attempt, COMMAND, timeout_s=limit_s, output_limit_bytes=OUTPUT_BYTES
        )
        found = type_problem(await sandbox.run(command), limit_s)
        if tree is None or (found is not None and not found.mendable):
            return found, {}
        return found, {"checked_tree": tree, "type_problem": asdict(found) if found else None}

    async def _page(self, opened: OpenWorkspace, before: Before) -> _Page:
        """The look of the page and its problems, or None if this server cannot look at it."""
        if self.photographer is None:
            return None, []
        width, height = (before.screen.width, before.screen.height) if before.screen else (1280, 800)
        sides = (min(max(side, MIN_SIDE), MAX_SIDE) for side in (width, height))
        look = await self.photographer.look(opened.sandbox, DEV_PORT, "/", *sides)
        return look, _of_page(look)

    async def _silent_server(self, workspace_id: str) -> Problem | None:
        if self.keeper is None:
            return None
        try:
            row = await self.keeper.wait_settled(workspace_id, DEV_SERVER, SERVER_WAIT_S)
        except NotFound:  # this workspace has none: the check of the page reports it
            return None
        if row.state == "healthy":
            return None
        end = self.keeper.output(workspace_id, DEV_SERVER, SHOWN_BYTES).strip() or "(it printed nothing)"
        return Problem(
            f"The dev server does not answer on port {DEV_PORT}. The end of its output:\n{end}",
            "The dev server does not answer.",
        )

    async def _tell_preview(self, context: StageContext, sandbox: Sandbox, look: Look | None) -> None:
        where = f"port {DEV_PORT} of {sandbox.sandbox_id}"
        if look is not None and look.status is None:
            await context.tell("preview_url", "failed", f"nothing answers on {where}")
        else:
            await context.tell("preview_url", "done", where)

    async def _picture(
        self, context: StageContext, look: Look | None, before: Before
    ) -> tuple[list[Part], dict[str, Any]]:
        """The parts for the answer: the picture, or once per thread the reason why there is none."""
        picture = (look.picture if look is not None else None) or b""
        image, large = recognise(picture), len(picture) > MAX_PICTURE_BYTES
        if look is None or image is None or large:
            note = (look.note if look is not None else "") or "The page could not be opened."
            note = "The picture of the page is too large to store." if large else note
            await context.tell("picture", "skipped", note)
            if look is None or before.said_why:
                return [], {}
            notice = NoticePart(id=new_id("part"), level="info", code=NO_PICTURE, text=note)
            return [notice], {NO_PICTURE: True}
        await context.tell("picture", "started")
        blob = await anyio.to_thread.run_sync(self.blobs.put, picture)
        run, size = context.this_run, len(picture)
        data = await self.db.write(add_attachment, run.project_id, run.started_by, "screen.png", image, size, blob)
        await context.tell("picture", "done", f"{image.width} x {image.height}")
        shown = data.model_dump(include={"media_type", "name", "width", "height"})
        return [ImagePart(id=new_id("part"), attachment_id=data.id, **shown)], {"picture_id": data.id}

    def _gone(self, before: Before, outcome: Outcome) -> list[str]:
        """Files that the answer mentions and that do not exist."""
        known = [file["path"] for file in before.screen.files] if before.screen else []
        with suppress(NotFound):
            if before.tree is not None:
                present = self.lists.of_tree(before.tree)
                return sorted({*known, *(file.path for file in outcome.files)}.difference(present))
        return []


def _of_page(look: Look) -> list[Problem]:
    if look.status is None:
        why = "\n".join(look.errors) or look.note
        return [Problem(f"The page does not answer. {why}".strip(), "The page does not answer.")]
    thrown: Sequence[str] = look.errors
    if look.status >= 400 and not thrown:
        thrown = [f"It answers with status {look.status}."]
    said = _said_of_its_own(look)
    found = (("The page throws", thrown), ("The page writes errors to its console", said))
    return [
        Problem(f"{what} when it is opened:\n{_listed(errors)}", f"{what}: {one_line(errors[0], 200)}")
        for what, errors in found
        if errors
    ]


def _said_of_its_own(look: Look) -> list[str]:
    """The console errors of the page that it can fix. It cannot fix that the sandbox reaches no other
    hosts, and errors that it threw are reported already."""
    thrown = [error.splitlines()[0].removeprefix("Uncaught ") for error in look.errors if error]
    return [
        text for text in look.console if not _OUT_OF_REACH.search(text) and not any(first in text for first in thrown)
    ]


def _listed(errors: Sequence[str]) -> str:
    shown = [error[:PAGE_ERROR_CHARS] for error in errors[:MAX_PAGE_ERRORS]]
    if len(errors) > len(shown):
        shown.append(f"… and {len(errors) - len(shown)} more")
    return "\n".join(f"- {error}" for error in shown)


def _of_tags(outcome: Outcome) -> list[Problem]:
    missing = [f"<{name}>" for name in ("title", "task_summary") if getattr(outcome, name) is None]
    if not missing:
        return []
    tags = " and ".join(missing)
    return [
        Problem(
            f"Your answer has no {tags}. When all is done, end with <title>, <task_summary> and <files_summary>, each "
            "on a line of its own and closed.",
            f"The answer has no {tags}.",
        )
    ]


class _Place(NamedTuple):
    changed_at: datetime | None
    tree: str


class _LastCheck(NamedTuple):
    result: Any
    run_id: str
    inherited: bool


def _read_before(tx: Tx, run: Run, workspace_id: str) -> Before:
    place = sa.select(workspaces.c.changed_at, checkpoints.c.tree).join(
        checkpoints, checkpoints.c.id == workspaces.c.checkpoint_id
    )
    now = tx.row(_Place, place.where(workspaces.c.id == workspace_id))
    tree = now.tree if now is not None and now.changed_at is None else None
    last = (
        sa.select(effects.c.result, effects.c.run_id, effects.c.inherited)
        .join(runs, runs.c.id == effects.c.run_id)
        .where(runs.c.thread_id == run.thread_id, effects.c.kind == "check", effects.c.status == "finished")
        .order_by(runs.c.created_at.desc(), effects.c.ordinal.desc())
        .limit(1)
    )
    check = tx.row(_LastCheck, last)
    facts = ((check.result if check is not None else None) or {}).get("facts", {})
    mine = check is not None and check.run_id == run.id and not check.inherited
    screen = screen_of_thread(tx, run.thread_id)
    found = facts.get("found", {}) if mine else {}
    return Before(
        screen, tree, facts.get("checked_tree"), facts.get("type_problem"), bool(facts.get(NO_PICTURE)), found
    )
