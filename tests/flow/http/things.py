"""What a project has that a route can name, made in one transaction."""

from __future__ import annotations

import sqlalchemy as sa

from outlast.apps.documents.comments import store as comments
from outlast.apps.knowledge.module_store import save as save_modules
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.pages import store as pages
from outlast.apps.pages import user_action_store
from outlast.apps.pages.link_store import add_link
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Rules as PageRules
from outlast.apps.pages.versions import begin
from outlast.apps.screens import image_hosts
from outlast.apps.screens import store as screens
from outlast.apps.screens.placement import Box
from outlast.base.ids import new_id
from outlast.base.supervision.item_guard import SetAside
from outlast.db.database import Tx
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.compactions.store import add_compaction, compaction_in_use
from outlast.kernel.files import store as artifacts
from outlast.kernel.files.kinds import Kind
from outlast.kernel.library.modules import ModuleOrigin, NewModule
from outlast.kernel.runs.tables import approvals, effects
from outlast.kernel.sandboxes.seeds import new_workspace
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.services.store import declare
from outlast.kernel.sandboxes.tables import checkpoints, sandboxes, workspaces
from outlast.kernel.set_aside import store as set_aside
from outlast.kernel.set_aside.kinds import TIMER
from outlast.kernel.subjects.subject import NewSubject
from tests.factories import Team, make_thread


def make_compaction(tx: Tx, thread_id: str, run_id: str) -> str:
    add_compaction(tx, thread_id, {"to_position": 1, "last_position": 2}, "So far.", run_id=run_id, model="m", usage={})
    made = compaction_in_use(tx, thread_id)
    assert made is not None
    return made.id


def make_waiting(tx: Tx, run_id: str, thread_id: str, kind: str, arguments: str) -> str:
    item_id = new_id(kind)
    effect = {
        "id": new_id("effect"),
        "ordinal": 1 if kind == "approval" else 2,
        "step": 1,
        "kind": "tool",
        "status": "waiting",
        "call_id": item_id,
        "part_id": new_id("part"),
    }
    common = {"run_id": run_id, "tool": "terminal", "arguments": arguments, "created_at": tx.now}
    tx.execute(sa.insert(effects).values(**effect, **common))
    own = {"id": item_id, "thread_id": thread_id, "effect_id": effect["id"], "kind": kind, "status": "open"}
    tx.execute(sa.insert(approvals).values(**own, **common))
    return item_id


def make_attachment(tx: Tx, team: Team, blob: str) -> str:
    attachment_id = new_id("attachment")
    row = {"id": attachment_id, "project_id": team.project_id, "name": "a.png", "media_type": "image/png", "blob": blob}
    tx.execute(sa.insert(attachments).values(**row, size_bytes=3, created_by=team.owner.user_id, created_at=tx.now))
    return attachment_id


def make_set_aside(tx: Tx) -> dict[str, str]:
    item = SetAside(TIMER, f"fold:{new_id('run')}", tx.now, 5, "internal_error", "It failed.")
    set_aside.add(tx, item)
    return {"kind": item.kind, "item_id": item.id}


def make_artifact(tx: Tx, team: Team, blob: str) -> str:
    kind = Kind("text/plain")
    return artifacts.add(tx, team.project_id, team.owner.user_id, "notes.txt", kind, 3, blob, 0)[0]


def make_sandbox(tx: Tx, team: Team) -> str:
    workspace_id, sandbox_id = new_id("workspace"), new_id("sandbox")
    common = {"project_id": team.project_id, "created_at": tx.now, "last_used_at": tx.now}
    owner = {"owner_type": "thread", "owner_id": team.thread_id}
    tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **common))
    own = {"id": sandbox_id, "workspace_id": workspace_id, "provider": "local", "state": "killed"}
    tx.execute(sa.insert(sandboxes).values(**own, **common))
    declare(tx, workspace_id, Declared("web", "true", 3000))
    return sandbox_id


def make_checkpoint(tx: Tx, team: Team, sandbox_id: str) -> str:
    found = sa.select(sandboxes.c.workspace_id).where(sandboxes.c.id == sandbox_id)
    own = {"id": new_id("checkpoint"), "workspace_id": tx.execute(found).scalar_one(), "tree": "0" * 64}
    tx.execute(
        sa.insert(checkpoints).values(
            **own, project_id=team.project_id, reason="tool", files=0, size_bytes=0, created_at=tx.now
        )
    )
    return str(own["id"])


def make_comment(tx: Tx, team: Team, document_id: str) -> str:
    """The editor's."""
    by = team.editor.user_id
    return comments.add(tx, document_id=document_id, project_id=team.project_id, by=by, body="Why?")


def _source(team: Team) -> NewSource:
    return NewSource("tracker", "markdown", "https://docs.example/sdk.md", team.project_id)


def _subject(team: Team, subject_id: str, thread_id: str, workspace_id: str, title: str) -> NewSubject:
    """The owner's, with a title that they chose."""
    return NewSubject(
        id=subject_id,
        project_id=team.project_id,
        thread_id=thread_id,
        workspace_id=workspace_id,
        title=title,
        named=True,
        created_by=team.owner.user_id,
    )


def make_screen(tx: Tx, team: Team) -> str:
    thread_id, screen_id = make_thread(tx, team.project_id, team.owner), new_id("screen")
    workspace_id = new_id("workspace")
    owner = {"owner_type": "screen", "owner_id": screen_id, "project_id": team.project_id}
    moments = {"created_at": tx.now, "last_used_at": tx.now}
    tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **moments))
    new = _subject(team, screen_id, thread_id, workspace_id, "Shop")
    screens.add(tx, new, template="next", theme="default", place=Box(0, 0))
    return screen_id


def make_image_host(tx: Tx, screen_id: str) -> str:
    image_hosts.ask(tx, screen_id, ["images.example.org"])
    return "images.example.org"


def make_page(tx: Tx, team: Team) -> dict[str, str]:
    """A page with a version, something that the editor did on it, and a link."""
    thread_id, page_id = make_thread(tx, team.project_id, team.owner), new_id("page")
    workspace_id = new_workspace(tx, None, ("page", page_id), project_id=team.project_id, thread_id=thread_id)
    pages.add(tx, _subject(team, page_id, thread_id, workspace_id, "Issues"))
    begin(tx, page_id, PageRules(LiveTrees()), "<p>Hello</p>", by=team.owner.user_id)
    page = pages.page_of(tx, page_id)

    action_id = user_action_store.add(
        tx, page, "refresh", {}, user_id=team.editor.user_id, run_id="run_1", state="taken"
    )
    link = add_link(tx, page, team.owner.user_id, "", None)
    said = NewModule("lib/issues.ts", "Fetches issues.", ("issues",), "import { issues } from './lib/issues.ts'")
    origin = ModuleOrigin(team.project_id, page_id, team.editor.user_id, None)
    (module,) = save_modules(tx, [said], origin, workspace_id, "")
    link_id = link.link.id
    ids = {"page_id": page_id, "action_id": action_id, "link_id": link_id, "module_id": module.id}
    return {**ids, "version": "1"}
