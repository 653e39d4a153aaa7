"""Every route and stream as stranger, viewer, editor and owner. A route missing in the table fails the last test."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from outlast.apps.knowledge.memories.store import insert as insert_memory
from outlast.apps.knowledge.source_store import add as add_source
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.store import change_user
from outlast.kernel.attachments.store import add_upload
from outlast.kernel.projects import invitations
from outlast.kernel.projects.rules import Role
from outlast.kernel.services import Services
from outlast.surfaces.http.api import create_api
from outlast.surfaces.http.descriptions import texts
from tests.asgi import Answer, Browser
from tests.documents import make_documents
from tests.factories import Team, join, make_run, make_schedule, make_user
from tests.flow.http.conftest import Site
from tests.flow.http.connections import WEBHOOK, make_hook, make_mcp_server, make_secret, make_skill, make_webhook
from tests.flow.http.things import (
    _source,
    make_artifact,
    make_attachment,
    make_checkpoint,
    make_comment,
    make_compaction,
    make_image_host,
    make_page,
    make_sandbox,
    make_screen,
    make_set_aside,
    make_waiting,
)

ROLES = ("stranger", "viewer", "colleague", "editor", "owner", "administrator")
FORM = (
    b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\nnot an image\r\n--x--\r\n',
    {"content-type": "multipart/form-data; boundary=x"},
)


PIECE = (b"x", {"content-type": "application/octet-stream"})
EDITS = {"edits": [{"loc": "app/page.tsx:1:0", "kind": "text", "seen": "Hello", "value": "Good day"}]}
CHANGES = [{"op": "insert_block", "section_id": None, "after": None, "markdown": "Hello"}]
MOVES = {"items": [{"id": "{screen_id}", "x": 1, "y": 2}]}


class Scene:
    """A project with everything in it that a route can name. The editor started the run; the colleague, an editor too,
    did not."""

    def __init__(self, tx: Tx, services: Services, blob: str) -> None:
        team = Team(tx)
        colleague = make_user(tx, "Cora")
        administrator = make_user(tx, "Adam")
        change_user(tx, administrator.user_id, is_admin=True)
        join(tx, team.project_id, colleague, "editor")
        self.actors: dict[str, Actor] = {**team.by_role(), "colleague": colleague, "administrator": administrator}
        run_id = make_run(tx, team.thread_id, team.editor, status="awaiting_approval", leg="parked")
        invitation, secret = invitations.add_invitation(
            tx, team.project_id, team.owner.user_id, Role.VIEWER, "", tx.now.replace(year=tx.now.year + 1)
        )
        self.ids = {
            "project_id": team.project_id,
            "thread_id": team.thread_id,
            "user_id": team.viewer.user_id,
            "run_id": run_id,
            "approval_id": make_waiting(tx, run_id, team.thread_id, "approval", "{}"),
            "question_id": make_waiting(tx, run_id, team.thread_id, "question", '{"questions":[{"id":"a"}]}'),
            "attachment_id": make_attachment(tx, team, blob),
            "upload_id": add_upload(tx, team.project_id, team.editor.user_id, "a.txt", 1).id,
            "artifact_id": make_artifact(tx, team, blob),
            "sandbox_id": (sandbox_id := make_sandbox(tx, team)),
            "checkpoint_id": make_checkpoint(tx, team, sandbox_id),
            "screen_id": (screen_id := make_screen(tx, team)),
            "host": make_image_host(tx, screen_id),
            **make_page(tx, team),
            **(there := make_documents(tx, team)),
            "comment_id": make_comment(tx, team, there["document_id"]),
            "compaction_id": make_compaction(tx, team.thread_id, run_id),
            "mention_id": new_id("mention"),
            "memory_id": insert_memory(tx, team.project_id, "project", "We deploy on Fridays."),
            "schedule_id": make_schedule(tx, team.project_id, team.editor),
            "source_id": add_source(tx, _source(team), tx.now),
            "secret_id": make_secret(tx, team),
            **make_webhook(tx, team),
            "hook_id": make_hook(tx, services, team),
            "mcp_server_id": make_mcp_server(tx, team),
            "skill_name": make_skill(tx, team, blob),
            "name": "web",
            **make_set_aside(tx),
            "invitation_id": invitation.id,
            "secret": secret,
            "token_id": new_id("token"),
        }

    def fill(self, value: Any) -> Any:
        """`{project_id}` and its like, in paths and bodies."""
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda match: self.ids[match[1]], value)
        if isinstance(value, dict):
            return {name: self.fill(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value


# Who may, as the first of these that gets further than the permission:
ANYBODY = "anybody"  # also without signing in
SIGNED_IN = "user"  # whoever is signed in, about themselves
VIEWER, EDITOR, OWNER = "viewer", "editor", "owner"
ADMINISTRATOR = "administrator"  # of the server: a stranger in every project
STEERER = "driver"  # owners, and the editor who started the run, drives the thread or wrote the comment
NOBODY_ELSE = "self"  # only whose it is: everybody here gets 404


@dataclass(frozen=True)
class Row:
    who: str
    body: Any = None


TABLE: dict[str, Row] = {
    "GET /healthz": Row(ANYBODY),
    "GET /readyz": Row(ANYBODY),
    "POST /v1/session": Row(ANYBODY, {"token": "ol_wrong"}),
    "DELETE /v1/session": Row(ANYBODY),
    "POST /v1/invitations/accept": Row(ANYBODY, {"token": "{secret}", "name": "New"}),
    "GET /v1/me": Row(SIGNED_IN),
    "GET /v1/tokens": Row(SIGNED_IN),
    "POST /v1/tokens": Row(SIGNED_IN, {"name": "laptop"}),
    "DELETE /v1/tokens/{token_id}": Row(NOBODY_ELSE),
    "GET /v1/admin/users": Row(ADMINISTRATOR),
    "PATCH /v1/admin/users/{user_id}": Row(ADMINISTRATOR, {"plan": "pro"}),
    "POST /v1/admin/users/{user_id}/grants": Row(ADMINISTRATOR, {"credits": 5}),
    "GET /v1/admin/set-aside": Row(ADMINISTRATOR),
    "POST /v1/admin/set-aside/{kind}/{item_id}/retry": Row(ADMINISTRATOR),
    "DELETE /v1/admin/set-aside/{kind}/{item_id}": Row(ADMINISTRATOR),
    "GET /v1/models": Row(SIGNED_IN),
    "GET /v1/agents": Row(SIGNED_IN),
    "GET /v1/credits": Row(SIGNED_IN),
    "GET /v1/inbox": Row(SIGNED_IN),
    "GET /v1/projects": Row(SIGNED_IN),
    "POST /v1/projects": Row(SIGNED_IN, {"name": "Mine"}),
    "GET /v1/projects/{project_id}": Row(VIEWER),
    "PATCH /v1/projects/{project_id}": Row(EDITOR, {"name": "Other"}),
    "DELETE /v1/projects/{project_id}": Row(OWNER),
    "GET /v1/projects/{project_id}/events": Row(VIEWER),
    "GET /v1/projects/{project_id}/members": Row(VIEWER),
    "PATCH /v1/projects/{project_id}/members/{user_id}": Row(OWNER, {"role": "editor"}),
    "DELETE /v1/projects/{project_id}/members/{user_id}": Row("owner or self"),
    "GET /v1/projects/{project_id}/invitations": Row(OWNER),
    "POST /v1/projects/{project_id}/invitations": Row(OWNER, {"role": "viewer"}),
    "DELETE /v1/invitations/{invitation_id}": Row(OWNER),
    "GET /v1/webhooks/events": Row(SIGNED_IN),
    "GET /v1/projects/{project_id}/webhooks": Row(OWNER),
    "POST /v1/projects/{project_id}/webhooks": Row(OWNER, WEBHOOK),
    "GET /v1/webhooks/{webhook_id}": Row(OWNER),
    "PATCH /v1/webhooks/{webhook_id}": Row(OWNER, {"enabled": True}),
    "DELETE /v1/webhooks/{webhook_id}": Row(OWNER),
    "POST /v1/webhooks/{webhook_id}/rotate": Row(OWNER),
    "POST /v1/webhooks/{webhook_id}/test": Row(OWNER),
    "GET /v1/webhooks/{webhook_id}/deliveries": Row(OWNER),
    "POST /v1/webhooks/{webhook_id}/replay": Row(OWNER),
    "POST /v1/webhook-deliveries/{delivery_id}/replay": Row(OWNER),
    "POST /v1/hooks/{hook_id}": Row(ANYBODY, {}),
    "GET /v1/projects/{project_id}/hooks": Row(OWNER),
    "POST /v1/projects/{project_id}/hooks": Row(OWNER, {"title": "Tickets", "template": "A ticket came."}),
    "PATCH /v1/hooks/{hook_id}": Row(OWNER, {"enabled": True}),
    "DELETE /v1/hooks/{hook_id}": Row(OWNER),
    "POST /v1/hooks/{hook_id}/rotate": Row(OWNER),
    "GET /v1/hooks/{hook_id}/calls": Row(OWNER),
    "GET /v1/projects/{project_id}/mcp-servers": Row(VIEWER),
    "POST /v1/projects/{project_id}/mcp-servers": Row(OWNER, {"name": "tracker", "url": "http://127.0.0.1:9/mcp"}),
    "GET /v1/mcp-servers/{mcp_server_id}/tools": Row(VIEWER),
    "POST /v1/mcp-servers/{mcp_server_id}/refresh": Row(OWNER),
    "POST /v1/mcp-servers/{mcp_server_id}/allow": Row(OWNER, {"tools": {"find": "other"}}),
    "POST /v1/mcp-servers/{mcp_server_id}/forbid": Row(OWNER, {"tools": ["find"]}),
    "DELETE /v1/mcp-servers/{mcp_server_id}": Row(OWNER),
    "GET /v1/me/secrets": Row(SIGNED_IN),
    "POST /v1/me/secrets": Row(SIGNED_IN, {"name": "MY_KEY", "hosts": ["api.example"], "value": "x"}),
    "GET /v1/projects/{project_id}/connections": Row(VIEWER),
    "POST /v1/mcp-servers/{mcp_server_id}/connection": Row(EDITOR),
    "POST /v1/mcp-servers/{mcp_server_id}/connection/test": Row(EDITOR),
    "DELETE /v1/mcp-servers/{mcp_server_id}/connection": Row(VIEWER),
    "POST /v1/connections/callback": Row(SIGNED_IN, {"state": "other"}),
    "GET /v1/projects/{project_id}/sandboxes": Row(VIEWER),
    "GET /v1/themes": Row(SIGNED_IN),
    "GET /v1/projects/{project_id}/screens": Row(VIEWER),
    "POST /v1/projects/{project_id}/screens": Row(EDITOR, {"title": "Shop"}),
    "PATCH /v1/projects/{project_id}/screens": Row(EDITOR, MOVES),
    "GET /v1/screens/{screen_id}": Row(VIEWER),
    "PATCH /v1/screens/{screen_id}": Row(EDITOR, {"title": "Other"}),
    "DELETE /v1/screens/{screen_id}": Row(OWNER),
    "POST /v1/screens/{screen_id}/duplicate": Row(EDITOR, {}),
    "POST /v1/screens/{screen_id}/open": Row(VIEWER),
    "POST /v1/screens/{screen_id}/preview": Row(VIEWER, {}),
    "GET /v1/screens/{screen_id}/image-hosts": Row(VIEWER),
    "PUT /v1/screens/{screen_id}/image-hosts/{host}": Row(EDITOR),
    "DELETE /v1/screens/{screen_id}/image-hosts/{host}": Row(EDITOR),
    "GET /v1/screens/{screen_id}/files": Row(VIEWER),
    "GET /v1/screens/{screen_id}/files/content": Row(VIEWER),
    "GET /v1/screens/{screen_id}/search": Row(VIEWER),
    "GET /v1/screens/{screen_id}/archive": Row(VIEWER),
    "GET /v1/screens/{screen_id}/checkpoints": Row(VIEWER),
    "GET /v1/screens/{screen_id}/changes": Row(VIEWER),
    "POST /v1/screens/{screen_id}/edits": Row(EDITOR, EDITS),
    "POST /v1/screens/{screen_id}/edits/undo": Row(EDITOR, {"checkpoint_id": "{checkpoint_id}"}),
    "POST /v1/screens/{screen_id}/edits/pictures": Row(EDITOR, {"attachment_id": "{attachment_id}"}),
    "POST /v1/screens/{screen_id}/edits/inspect": Row(VIEWER, {"locs": ["app/page.tsx:1:0"]}),
    "POST /v1/screens/{screen_id}/edits/classes": Row(EDITOR, {"styles": {"color": "red"}}),
    "GET /v1/projects/{project_id}/pages": Row(VIEWER),
    "POST /v1/projects/{project_id}/pages": Row(EDITOR, {"title": "Issues"}),
    "GET /v1/pages/{page_id}": Row(VIEWER),
    "PATCH /v1/pages/{page_id}": Row(EDITOR, {"title": "Other"}),
    "DELETE /v1/pages/{page_id}": Row(OWNER),
    "POST /v1/pages/{page_id}/duplicate": Row(EDITOR),
    "GET /v1/pages/{page_id}/actions": Row(VIEWER),
    "POST /v1/pages/{page_id}/actions": Row(EDITOR, {"name": "refresh"}),
    "DELETE /v1/pages/{page_id}/actions/{action_id}": Row(STEERER),
    "GET /v1/pages/{page_id}/versions": Row(VIEWER),
    "GET /v1/pages/{page_id}/versions/{version}": Row(VIEWER),
    "POST /v1/pages/{page_id}/undo": Row(EDITOR),
    "POST /v1/pages/{page_id}/restore": Row(EDITOR, {"version": 1}),
    "GET /v1/pages/{page_id}/code": Row(VIEWER),
    "GET /v1/pages/{page_id}/links": Row(EDITOR),
    "POST /v1/pages/{page_id}/links": Row(EDITOR, {}),
    "DELETE /v1/pages/{page_id}/links/{link_id}": Row(EDITOR),
    "GET /v1/pages/{page_id}/modules": Row(VIEWER),
    "GET /v1/projects/{project_id}/memories": Row(VIEWER),
    "POST /v1/projects/{project_id}/memories": Row(EDITOR, {"text": "We deploy on Fridays.", "scope": "project"}),
    "PATCH /v1/memories/{memory_id}": Row(EDITOR, {"text": "We deploy on Mondays."}),
    "DELETE /v1/memories/{memory_id}": Row(EDITOR),
    "GET /v1/projects/{project_id}/memory-switches": Row(VIEWER),
    "PATCH /v1/projects/{project_id}/memory-switches": Row(OWNER, {"project": True}),
    "GET /v1/modules": Row(SIGNED_IN),
    "POST /v1/modules/{module_id}/publish": Row(EDITOR),
    "DELETE /v1/modules/{module_id}": Row(EDITOR),
    "GET /v1/documents/{document_id}/comments": Row(VIEWER),
    "POST /v1/documents/{document_id}/comments": Row(EDITOR, {"body": "Why?", "block_id": "{block_id}"}),
    "GET /v1/comments/{comment_id}": Row(VIEWER),
    "PATCH /v1/comments/{comment_id}": Row(EDITOR, {"status": "resolved"}),
    "DELETE /v1/comments/{comment_id}": Row(STEERER),
    "POST /v1/comments/{comment_id}/assign": Row(EDITOR, {"to": None}),
    "POST /v1/mentions/{mention_id}/read": Row(NOBODY_ELSE),
    "GET /v1/documents/{document_id}/presence": Row(VIEWER),
    "PUT /v1/documents/{document_id}/presence": Row(VIEWER, {"block_id": "{block_id}"}),
    "DELETE /v1/documents/{document_id}/presence": Row(VIEWER),
    "GET /v1/projects/{project_id}/documents": Row(VIEWER),
    "POST /v1/projects/{project_id}/documents": Row(EDITOR, {"title": "Report"}),
    "GET /v1/documents/{document_id}": Row(VIEWER),
    "PATCH /v1/documents/{document_id}": Row(EDITOR, {"title": "Other"}),
    "DELETE /v1/documents/{document_id}": Row(OWNER),
    "GET /v1/documents/{document_id}/markdown": Row(VIEWER),
    "POST /v1/documents/{document_id}/import": Row(EDITOR, {"markdown": "# More"}),
    "GET /v1/documents/{document_id}/changes": Row(VIEWER),
    "POST /v1/documents/{document_id}/changes": Row(EDITOR, {"changes": CHANGES}),
    "GET /v1/documents/{document_id}/versions": Row(VIEWER),
    "GET /v1/documents/{document_id}/versions/{version}": Row(VIEWER),
    "GET /v1/documents/{document_id}/diff": Row(VIEWER),
    "POST /v1/documents/{document_id}/restore": Row(EDITOR, {"version": 1}),
    "GET /v1/documents/{document_id}/threads": Row(VIEWER),
    "GET /v1/sections/{section_id}/lock": Row(VIEWER),
    "PUT /v1/sections/{section_id}/lock": Row(EDITOR),
    "DELETE /v1/sections/{section_id}/lock": Row(EDITOR),
    "POST /v1/sections/{section_id}/lock/request": Row(EDITOR),
    "POST /v1/sections/{section_id}/lock/handover": Row(EDITOR, {"user_id": "{editor}"}),
    "GET /v1/documents/{document_id}/proposals": Row(VIEWER),
    "GET /v1/threads/{thread_id}/proposals": Row(VIEWER),
    "GET /v1/proposals/{proposal_id}": Row(VIEWER),
    "POST /v1/proposals/{proposal_id}/accept": Row(EDITOR),
    "POST /v1/proposals/{proposal_id}/reject": Row(EDITOR),
    "POST /v1/proposals/{proposal_id}/decide": Row(
        EDITOR, {"decisions": [{"edit_id": "{edit_id}", "decision": "accept"}]}
    ),
    "POST /v1/edits/{edit_id}": Row(EDITOR, {"decision": "reject"}),
    "GET /v1/edits/{edit_id}/merge": Row(VIEWER),
    "GET /v1/knowledge/search": Row(VIEWER),
    "GET /v1/knowledge/packages": Row(VIEWER),
    "GET /v1/knowledge/sources": Row(VIEWER),
    "POST /v1/knowledge/sources": Row(
        EDITOR, {"package": "tracker", "text": "A text", "name": "a.md", "project_id": "{project_id}"}
    ),
    "GET /v1/knowledge/sources/{source_id}": Row(VIEWER),
    "DELETE /v1/knowledge/sources/{source_id}": Row(EDITOR),
    "POST /v1/knowledge/sources/{source_id}/refresh": Row(EDITOR),
    "GET /v1/knowledge/sources/{source_id}/passages": Row(VIEWER),
    "GET /v1/projects/{project_id}/secret-uses": Row(EDITOR),
    "GET /v1/projects/{project_id}/secrets": Row(EDITOR),
    "POST /v1/projects/{project_id}/secrets": Row(OWNER, {"name": "SLACK_TOKEN", "hosts": ["slack.example"]}),
    "GET /v1/admin/mcp-servers": Row(ADMINISTRATOR),
    "POST /v1/admin/mcp-servers": Row(ADMINISTRATOR, {"name": "tracker", "url": "http://127.0.0.1:9/mcp"}),
    "GET /v1/admin/secrets": Row(ADMINISTRATOR),
    "POST /v1/admin/secrets": Row(ADMINISTRATOR, {"name": "SLACK_TOKEN", "hosts": ["slack.example"]}),
    "PATCH /v1/secrets/{secret_id}": Row(OWNER, {"value": "hush"}),
    "DELETE /v1/secrets/{secret_id}": Row(OWNER),
    "PUT /v1/secrets/{secret_id}/value": Row(EDITOR, {"value": "hush"}),
    "DELETE /v1/secrets/{secret_id}/value": Row(EDITOR),
    "GET /v1/projects/{project_id}/skills": Row(VIEWER),
    "POST /v1/projects/{project_id}/skills": Row(OWNER, FORM),
    "GET /v1/projects/{project_id}/skills/{skill_name}": Row(VIEWER),
    "GET /v1/projects/{project_id}/skills/{skill_name}/file": Row(VIEWER),
    "PATCH /v1/projects/{project_id}/skills/{skill_name}": Row(OWNER, {"enabled": False}),
    "DELETE /v1/projects/{project_id}/skills/{skill_name}": Row(OWNER),
    "GET /v1/projects/{project_id}/threads": Row(VIEWER),
    "POST /v1/projects/{project_id}/threads": Row(EDITOR, {"title": "New"}),
    "GET /v1/threads/{thread_id}": Row(VIEWER),
    "GET /v1/threads/{thread_id}/state": Row(VIEWER),
    "PATCH /v1/threads/{thread_id}": Row(EDITOR, {"title": "Other"}),
    "PUT /v1/threads/{thread_id}/agent": Row(EDITOR, {"profile": "chat"}),
    "GET /v1/projects/{project_id}/agents": Row(VIEWER),
    "PUT /v1/projects/{project_id}/agents": Row(OWNER, {"allowed": None, "instructions": "Be brief."}),
    "DELETE /v1/threads/{thread_id}": Row(OWNER),
    "GET /v1/threads/{thread_id}/events": Row(VIEWER),
    "GET /v1/threads/{thread_id}/messages": Row(VIEWER),
    "POST /v1/threads/{thread_id}/messages": Row(EDITOR, {"content": "Hello"}),
    "POST /v1/threads/{thread_id}/runs": Row(EDITOR, {"content": "Hello"}),
    "GET /v1/threads/{thread_id}/family": Row(VIEWER),
    "POST /v1/threads/{thread_id}/fork": Row(EDITOR, {}),
    "POST /v1/threads/{thread_id}/archive": Row(EDITOR),
    "POST /v1/threads/{thread_id}/unarchive": Row(EDITOR),
    "DELETE /v1/threads/{thread_id}/compactions/{compaction_id}": Row(EDITOR),
    "PUT /v1/threads/{thread_id}/lock": Row(EDITOR, {}),
    "DELETE /v1/threads/{thread_id}/lock": Row(EDITOR),
    "POST /v1/threads/{thread_id}/lock/request": Row(EDITOR),
    "POST /v1/threads/{thread_id}/lock/handover": Row(EDITOR, {"user_id": "{editor}"}),
    "POST /v1/threads/{thread_id}/typing": Row(EDITOR, {"typing": True}),
    "GET /v1/runs": Row(SIGNED_IN),
    "POST /v1/runs": Row(EDITOR, {"content": "Hello", "project_id": "{project_id}"}),
    "POST /v1/agent/run": Row(EDITOR, {"context": {"threadId": "{thread_id}"}, "userMessage": "Hello"}),
    "GET /v1/runs/cached": Row(SIGNED_IN),
    "GET /v1/runs/{run_id}": Row(VIEWER),
    "GET /v1/runs/{run_id}/events": Row(VIEWER),
    "GET /v1/runs/{run_id}/export": Row(VIEWER),
    "POST /v1/runs/{run_id}/cancel": Row(STEERER),
    "POST /v1/runs/{run_id}/retry": Row(EDITOR),
    "POST /v1/runs/{run_id}/continue": Row(EDITOR),
    "POST /v1/runs/{run_id}/steer": Row(EDITOR, {"content": "Hello"}),
    "POST /v1/runs/{run_id}/resume": Row(STEERER),
    "GET /v1/approvals/{approval_id}": Row(VIEWER),
    "POST /v1/approvals/{approval_id}": Row(STEERER, {"decision": "approve"}),
    "POST /v1/questions/{question_id}": Row(STEERER, {"answers": {"a": "b"}}),
    "POST /v1/attachments": Row(EDITOR, FORM),
    "GET /v1/attachments/{attachment_id}": Row(VIEWER),
    "POST /v1/uploads": Row(EDITOR, {"name": "a.txt", "size_bytes": 1, "project_id": "{project_id}"}),
    "GET /v1/uploads/{upload_id}": Row(EDITOR),
    "PATCH /v1/uploads/{upload_id}": Row(EDITOR, PIECE),
    "POST /v1/uploads/{upload_id}/complete": Row(EDITOR),
    "DELETE /v1/uploads/{upload_id}": Row(EDITOR),
    "GET /v1/projects/{project_id}/artifacts": Row(VIEWER),
    "POST /v1/projects/{project_id}/artifacts": Row(EDITOR, FORM),
    "GET /v1/projects/{project_id}/artifacts/search": Row(VIEWER),
    "GET /v1/artifacts/{artifact_id}": Row(VIEWER),
    "GET /v1/artifacts/{artifact_id}/content": Row(VIEWER),
    "GET /v1/artifacts/{artifact_id}/text": Row(VIEWER),
    "DELETE /v1/artifacts/{artifact_id}": Row(OWNER),
    "GET /v1/projects/{project_id}/schedules": Row(VIEWER),
    "POST /v1/projects/{project_id}/schedules": Row(
        EDITOR, {"title": "Morning", "agent": "chat", "message": "Hello", "cron": "0 8 * * *"}
    ),
    "GET /v1/schedules/times": Row(SIGNED_IN),
    "GET /v1/schedules/{schedule_id}": Row(VIEWER),
    "PATCH /v1/schedules/{schedule_id}": Row(EDITOR, {"enabled": False}),
    "DELETE /v1/schedules/{schedule_id}": Row(EDITOR),
    "POST /v1/schedules/{schedule_id}/run": Row(EDITOR),
    "POST /v1/schedules/{schedule_id}/seen": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}/files": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}/files/content": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}/logs": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}/services": Row(VIEWER),
    "GET /v1/sandboxes/{sandbox_id}/services/{name}": Row(VIEWER),
    "PUT /v1/sandboxes/{sandbox_id}/services/{name}": Row(EDITOR, {"command": "true", "port": 3000}),
    "DELETE /v1/sandboxes/{sandbox_id}/services/{name}": Row(EDITOR),
    "GET /v1/sandboxes/{sandbox_id}/ports": Row(VIEWER),
    "POST /v1/sandboxes/{sandbox_id}/preview": Row(VIEWER, {"port": 3000}),
    "POST /v1/sandboxes/{sandbox_id}/pause": Row(EDITOR),
    "POST /v1/sandboxes/{sandbox_id}/resume": Row(EDITOR),
    "POST /v1/sandboxes/{sandbox_id}/kill": Row(EDITOR),
    "GET /v1/sandboxes/{sandbox_id}/checkpoints": Row(VIEWER),
    "GET /v1/threads/{thread_id}/checkpoints": Row(VIEWER),
    "GET /v1/checkpoints/{checkpoint_id}": Row(VIEWER),
    "GET /v1/checkpoints/{checkpoint_id}/diff": Row(VIEWER),
    "GET /v1/checkpoints/{checkpoint_id}/files/content": Row(VIEWER),
    "POST /v1/checkpoints/{checkpoint_id}/restore": Row(EDITOR),
    "POST /v1/threads/{thread_id}/workspace/reset": Row(EDITOR),
}
QUERY = {
    "GET /v1/projects/{project_id}/skills/{skill_name}/file": "?path=SKILL.md",
    "GET /v1/documents/{document_id}/changes": "?since=0",
    "GET /v1/documents/{document_id}/diff": "?from=0&to=1",
    "POST /v1/attachments": "?project_id={project_id}",
    "PATCH /v1/uploads/{upload_id}": "?offset=0",
    "GET /v1/sandboxes/{sandbox_id}/files/content": "?path=a.txt",
    "GET /v1/checkpoints/{checkpoint_id}/files/content": "?path=a.txt",
    "GET /v1/screens/{screen_id}/files/content": "?path=a.txt",
    "GET /v1/screens/{screen_id}/search": "?q=a",
    "GET /v1/projects/{project_id}/artifacts/search": "?q=a",
    "GET /v1/schedules/times": "?cron=0+8+*+*+*",
    "GET /v1/knowledge/search": "?q=a&project_id={project_id}",
    "GET /v1/knowledge/packages": "?project_id={project_id}",
    "GET /v1/knowledge/sources": "?project_id={project_id}",
}
MAY: dict[str, Callable[[str], bool]] = {
    ANYBODY: lambda role: True,
    SIGNED_IN: lambda role: True,
    NOBODY_ELSE: lambda role: False,
    ADMINISTRATOR: lambda role: role == "administrator",
    VIEWER: lambda role: role not in ("stranger", "administrator"),
    EDITOR: lambda role: role in ("colleague", "editor", "owner"),
    STEERER: lambda role: role in ("editor", "owner"),
    OWNER: lambda role: role == "owner",
    "owner or self": lambda role: role in ("owner", "viewer"),
}


async def knock(site: Site, scene: Scene, browser: Browser, route: str) -> Answer:
    method, path = scene.fill(route + QUERY.get(route, "")).split(" ", 1)
    body = TABLE[route].body
    if body in (FORM, PIECE):
        return await browser.call(method, path, body[0], headers=body[1])
    return await browser.call(method, path, scene.fill(body))


async def new_scene(site: Site) -> Scene:
    blob = site.services.blobs.put(b"png")
    scene: Scene = await site.services.db.write(Scene, site.services, blob)
    scene.ids["editor"] = scene.actors["editor"].user_id
    return scene


@pytest.mark.parametrize("route", TABLE)
async def test_a_route_lets_in_whom_it_should(site: Site, route: str):
    row = TABLE[route]
    for role in ROLES:
        scene = await new_scene(site)
        answer = await knock(site, scene, await site.signed_in(scene.actors[role]), route)
        if MAY[row.who](role):
            assert answer.code not in ("not_found", "forbidden", "internal_error"), (role, answer.status, answer.body)
        elif row.who == NOBODY_ELSE or (role in ("stranger", "administrator") and row.who != ADMINISTRATOR):
            assert (answer.status, answer.code) == (404, "not_found"), (role, answer.body)
        else:
            assert (answer.status, answer.code) == (403, "forbidden"), (role, answer.body)


@pytest.mark.parametrize("route", [route for route, row in TABLE.items() if row.who != ANYBODY])
async def test_a_route_asks_who_is_there(site: Site, route: str):
    scene = await new_scene(site)
    for headers in (
        {},
        {"authorization": "Bearer ol_wrong"},
        {"authorization": "Basic eDp5"},
        {"cookie": "outlast_session=x"},
    ):
        answer = await knock(site, scene, Browser(site.remote.app, headers), route)
        assert (answer.status, answer.code) == (401, "not_signed_in")


@pytest.mark.parametrize("route", [route for route in TABLE if " /v1/" in route])
async def test_a_route_is_closed_to_other_sites(site: Site, route: str):
    scene = await new_scene(site)
    owner = await site.signed_in(scene.actors["owner"])
    for header in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"host": "evil.example:8400"}):
        answer = await knock(site, scene, Browser(owner.app, owner.headers | header), route)
        assert (answer.status, answer.code) == (403, "origin_refused")


def test_the_reference_says_of_every_route_who_may_call_it():
    paths = create_api().openapi()["paths"]
    names = {
        f"{method.upper()} {path}": route["operationId"]
        for path, methods in paths.items()
        for method, route in methods.items()
    }
    assert {name: TABLE[route].who for route, name in names.items()} == texts()["roles"]
    assert set(names) == set(TABLE)
