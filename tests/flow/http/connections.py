"""Secrets, webhooks, MCP servers and skills of a project, for the table of permissions."""

from __future__ import annotations

from typing import Any

from outlast.apps.skills import store as skills
from outlast.apps.skills.rules import Bounds, checked_skill
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.hooks import store as hooks
from outlast.kernel.mcp import store as mcp
from outlast.kernel.mcp.definitions import Definition
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.secrets import store as secrets
from outlast.kernel.services import Services
from outlast.kernel.webhooks import store as webhooks
from tests.factories import Team

WEBHOOK = {"url": "https://example.com/hooks", "events": ["run.completed"]}


def make_secret(tx: Tx, team: Team) -> str:
    made = secrets.add(tx, team.project_id, "LINEAR_API_KEY", ["linear.example"], team.owner.user_id)
    assert made is not None
    return made


def make_webhook(tx: Tx, team: Team) -> dict[str, str]:
    """A webhook, and an event on its way to it."""
    values = {"title": "", "url": WEBHOOK["url"], "events": WEBHOOK["events"], "enabled": True, "secret": ""}
    webhook_id = new_id("webhook")
    webhooks.add(tx, id=webhook_id, project_id=team.project_id, created_by=team.owner.user_id, **values)
    return {"webhook_id": webhook_id, "delivery_id": webhooks.add_test(tx, webhook_id, "webhook.test", "{}").id}


def make_hook(tx: Tx, services: Services, team: Team) -> str:
    hook_id = new_id("hook")
    values = {"title": "Tickets", "enabled": True, "profile": "chat", "thread": "new", "template": "A ticket came."}
    secret = services.vault.seal(tx, "whsec_c2VjcmV0", f"hooks.secret {hook_id}")
    hooks.add(tx, id=hook_id, project_id=team.project_id, created_by=team.owner.user_id, secret=secret, **values)
    return hook_id


def make_mcp_server(tx: Tx, team: Team) -> str:
    """A server with one tool, at an address that nothing answers."""
    server_id = new_id("mcp_server")
    nowhere = "http://127.0.0.1:9/mcp"
    by = team.owner.user_id
    unset: dict[str, Any] = dict.fromkeys(McpServerRow._fields) | {"tries": 0}
    named = {"id": server_id, "project_id": team.project_id, "name": "idle", "url": nowhere}
    mcp.add(tx, McpServerRow(**unset | named | {"created_by": by, "created_at": tx.now, "listed_at": tx.now}))
    mcp.put_listing(tx, server_id, [Definition("find", "", "Find issues.", {"type": "object"}, {})])
    return server_id


def make_skill(tx: Tx, team: Team, blob: str) -> str:
    """A skill, whose stored file is another one."""
    text = b"---\nname: greet\ndescription: Greets people.\n---\n"
    skill = checked_skill({"SKILL.md": text}, Bounds(1, 1_000))
    return skills.put(tx, team.project_id, skill, {"SKILL.md": blob}, team.owner.user_id).name
