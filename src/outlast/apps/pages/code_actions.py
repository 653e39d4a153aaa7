"""The code of a page's agent: what ran, from its conversation, and its saved modules."""

from collections.abc import Mapping
from typing import Any, Final

from outlast.apps.pages.shapes import CodeAnswer
from outlast.apps.pages.store import require_page
from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.modules import USABLE_MODULES
from outlast.kernel.library.shapes import ModuleData
from outlast.kernel.lists import Listed
from outlast.kernel.models.turn_calls import parse_arguments
from outlast.kernel.projects.rules import Right
from outlast.kernel.runs import views
from outlast.kernel.runs.store import run_of
from outlast.kernel.services import Services, in_read
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.message_store import list_messages
from outlast.kernel.threads.shapes import MessageData

SHOWN: Final[Mapping[str, str]] = {  # the argument with the code, by tool
    "run_code": "code",
    "terminal": "command",
    "search_docs": "query",
    "create_or_update_files": "files",
    "publish_module": "path",
}
LANGUAGES: Final[Mapping[str, str]] = {"run_code": "typescript", "terminal": "shell"}
MAX_MESSAGES: Final = 200


@in_read
def list_code(
    tx: Tx, actor: Actor, page_id: str, before: int | None = None, limit: int = 50
) -> Listed[CodeAnswer, int]:
    """The code that ran for a page, newest first: about `limit` calls, those of one answer together. `before` is a
    message position, as returned in `next`."""
    thread_id = require_page(tx, actor, page_id, Right.READ).thread_id
    run_id = threads.thread_data(tx, thread_id).active_run_id
    items = _of_run(tx, run_id) if before is None and run_id is not None else []
    return _of_messages(tx, thread_id, items, before, limit)


async def list_page_modules(services: Services, actor: Actor, page_id: str) -> list[ModuleData]:
    """The saved modules of a page's agent, by path; modules whose files have vanished are forgotten. Empty
    on a server without sandboxes."""
    page = await services.db.read(require_page, actor, page_id, Right.READ)
    modules = services.implementation(USABLE_MODULES)
    return [module.data(modules.dependencies) for module in await modules.usable(page.workspace_id, None)]


def _of_run(tx: Tx, run_id: str) -> list[CodeAnswer]:
    row = run_of(tx, run_id)
    return _calls(views.fold_of(tx, run_id).parts, run_id, None, iso(row.started_at or row.created_at))


def _of_messages(
    tx: Tx, thread_id: str, items: list[CodeAnswer], before: int | None, limit: int
) -> Listed[CodeAnswer, int]:
    seen = 0
    while len(items) < limit and seen < MAX_MESSAGES:
        messages, before = list_messages(tx, thread_id, before)
        seen += len(messages)
        for message in reversed(messages):
            items += _of_message(message)
            if len(items) >= limit:
                return Listed(items, message.position if message.position > 1 else None)
        if before is None:
            break
    return Listed(items, before)


def _of_message(message: MessageData) -> list[CodeAnswer]:
    if message.run_id is None:
        return []
    parts = [part.model_dump() for part in message.parts if part.type == "tool_call"]
    return _calls(parts, message.run_id, message.id, message.created_at)


def _calls(parts: list[dict[str, Any]], run_id: str, message_id: str | None, at: str) -> list[CodeAnswer]:
    calls = [part for part in parts if part["type"] == "tool_call" and part["tool"] in SHOWN]
    return [_code(part, run_id, message_id, at) for part in reversed(calls)]


def _code(part: Mapping[str, Any], run_id: str, message_id: str | None, at: str) -> CodeAnswer:
    arguments = parse_arguments(part["arguments"]) or {}
    tool = part["tool"]
    code = arguments.get(SHOWN[tool], part["arguments"] if not arguments else "")
    return CodeAnswer(
        run_id=run_id,
        message_id=message_id,
        part_id=part["id"],
        tool=tool,
        description=str(arguments.get("description", "")),
        code=_files(code) if isinstance(code, list) else str(code),
        language=str(arguments.get("language", LANGUAGES.get(tool, "text"))),
        status=part["status"],
        result=part["result"],
        duration_s=part["duration_s"],
        at=at,
    )


def _files(files: list[Any]) -> str:
    paths = (one.get("path") for one in files if isinstance(one, dict))
    return "\n".join(path for path in paths if isinstance(path, str))
