"""Things that tests need to exist: users, projects, threads, runs. Plain functions on an open transaction."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from outlast.apps.knowledge.search import Knowledge
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.registry import Agents
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.apps import registry
from outlast.kernel.apps.opened import Opening
from outlast.kernel.connections.account_tokens import AccountTokens
from outlast.kernel.connections.oauth_client import OAuth
from outlast.kernel.http.web_addresses import allowed_addresses
from outlast.kernel.inbox.actions import read_inbox
from outlast.kernel.library.search import SEARCH
from outlast.kernel.mcp.configured_secrets import ConfiguredSecrets
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.package_servers import PackageServers
from outlast.kernel.mcp.tools import ConnectedTools
from outlast.kernel.mentions.inbox_items import InboxItem
from outlast.kernel.presence.board import PresenceBoard
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.rules import Role
from outlast.kernel.projects.tables import members
from outlast.kernel.runs.engine import Engine
from outlast.kernel.runs.followers import Watching
from outlast.kernel.runs.tables import runs
from outlast.kernel.schedules import store as schedules
from outlast.kernel.secrets.keyring import Keyring
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.services import SandboxServices, Services
from outlast.kernel.settings import Settings, settings_class
from outlast.kernel.streams.hub import Hub
from outlast.kernel.streams.writer import Flusher
from outlast.kernel.threads import message_store
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads as thread_rows
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel


def make_services(db: Database, folder: Path, settings: Settings | None = None, **more: Any) -> Services:
    """Services over an open database, with blobs in `folder` and the shipped settings."""
    clock = more.get("clock") or SystemClock()
    chosen = settings or settings_class()()
    hub = Hub()
    db.on_notice(hub.ring)
    catalog: Any = more.get("catalog") or ScriptedCatalog(ScriptedModel([]))
    fakes = more.pop("agents", None) or [FakeAgent()]
    agents = Agents({"tests": [one.agent if isinstance(one, FakeAgent) else one for one in fakes]})
    blobs = FolderBlobs(folder / "blobs")
    vault = Vault(Keyring([b"k" * 32]))
    oauth = OAuth(allowed_addresses(chosen.mcp.allow_private), chosen.connections, os.environ.get)
    accounts = AccountTokens(db, vault, oauth, clock)
    packages = more.pop("packages", None) or PackageServers(db, more.get("manager"), chosen.mcp, clock)
    given: dict[str, Any] = {
        "db": db,
        "clock": clock,
        "settings": chosen,
        "want_packages": packages.want,
        "blobs": blobs,
        "presence": PresenceBoard(clock),
        "hub": hub,
        "catalog": catalog,
        "vault": vault,
        "accounts": accounts,
        "engine": Engine(
            db,
            hub,
            clock,
            chosen,
            catalog,
            blobs,
            agents,
            Flusher(chosen.streams.save_interval_s),
            "nod_test",
            _log,
            Workspaces(db, more.get("manager"), blobs),
            connected=ConnectedTools(
                db,
                McpConnections(db, vault, chosen.mcp, accounts, ConfiguredSecrets(chosen.sandbox)),
                clock,
                packages,
                Workspaces(db, more.get("manager"), blobs),
            ),
        ),
        "watching": Watching(db, hub, clock, chosen, "nod_test"),
        "states": registry.make_states(chosen),
        "implementations": {SEARCH: Knowledge(db, clock), **more.pop("implementations", {})},
    }
    room = SandboxServices(**{one.name: more.pop(one.name) for one in fields(SandboxServices) if one.name in more})
    return Services(**{"sandboxes": room, **given, **more})


def make_opening(db: Database, folder: Path, settings: Settings | None = None, **more: Any) -> Opening:
    """What a server would have opened for its apps, with blobs in `folder`. `implementations` by other apps come from
    them, unless given."""
    clock, chosen = SystemClock(), settings or settings_class()()
    given: dict[str, Any] = {
        "settings": chosen,
        "database": db,
        "blobs": FolderBlobs(folder / "blobs"),
        "clock": clock,
        "folder": folder,
        "environment": {},
        "vault": Vault(Keyring([b"k" * 32])),
        "supervisor": Supervisor(clock),
        "hub": Hub(),
        "templates": {},
        "states": registry.make_states(chosen),
        "closing": AsyncExitStack(),
    }
    return Opening(**{**given, **more})


def _log(message: str, **fields: Any) -> None:
    """What the engine reports; tests read it in the captured output."""
    print(message, fields)


def make_user(tx: Tx, /, name: str = "Ada", plan: str = "unlimited") -> Actor:
    return Actor(accounts.add_user(tx, name, plan), name, "token")


def make_project(tx: Tx, /, owner: Actor, name: str = "Project", **others: Actor) -> str:
    """A project of `owner`, with others by role: `editor=…, viewer=…`."""
    project_id = projects.add_project(tx, owner.user_id, name)
    for role, actor in others.items():
        join(tx, project_id, actor, role)
    return project_id


def join(tx: Tx, /, project_id: str, actor: Actor, role: str) -> None:
    row = {"project_id": project_id, "user_id": actor.user_id, "role": Role(role).value, "created_at": tx.now}
    tx.execute(sa.insert(members).values(**row))


def make_thread(tx: Tx, /, project_id: str, actor: Actor, *texts: str, **fields: Any) -> str:
    """A thread with one message of the actor's per text."""
    thread_id = threads.add_thread(tx, project_id, actor.user_id, **fields)
    for text in texts:
        say(tx, thread_id, actor, text)
    return thread_id


def thread_row(tx: Tx, /, thread_id: str) -> ThreadRow:
    """The thread's row, not held."""
    row = tx.find(ThreadRow, thread_rows, {"id": thread_id})
    assert row is not None
    return row


def say(tx: Tx, /, thread_id: str, actor: Actor | None, text: str) -> str:
    """A message of the actor's (None: of an agent's); its id."""
    role, sender = ("assistant", None) if actor is None else ("user", actor.user_id)
    return message_store.add_message(tx, thread_id, role, sender, "complete", [text_part(text)]).id


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "id": new_id("part"), "step": 0, "text": text}


def make_run(
    tx: Tx,
    /,
    thread_id: str,
    actor: Actor,
    *,
    status: str = "running",
    leg: str = "held",
    created_at: datetime | None = None,
    **fields: Any,
) -> str:
    """A run row as another room's code would have left it."""
    run_id = new_id("run")
    row: dict[str, Any] = {
        "id": run_id,
        "project_id": thread_row(tx, thread_id).project_id,
        "thread_id": thread_id,
        "profile": "chat",
        "model": "demo",
        "message_id": new_id("message"),
        "mode": "start",
        "started_by": actor.user_id,
        "status": status,
        "leg": leg,
        "problems": [],
        "credits": 0,
        "created_at": created_at or tx.now,
        **fields,
    }
    tx.execute(sa.insert(runs).values(**row))
    return run_id


def make_schedule(tx: Tx, /, project_id: str, actor: Actor, **fields: Any) -> str:
    """A schedule of the agent `chat` at 8:00 UTC, with other fields as given."""
    row: dict[str, Any] = {
        "origin": "person",
        "title": "Morning",
        "agent": "chat",
        "message": "Sum up the night.",
        "model": None,
        "cron": "0 8 * * *",
        "zone": "UTC",
        "on_missed": "skip",
        "thread": "new",
        "enabled": True,
        **fields,
    }
    return schedules.add(tx, project_id=project_id, created_by=actor.user_id, **row)


class Team:
    """A project with one member of each role and a stranger: for tests of who may do what."""

    def __init__(self, tx: Tx) -> None:
        self.owner = make_user(tx, "Olga")
        self.editor = make_user(tx, "Emil")
        self.viewer = make_user(tx, "Vera")
        self.stranger = make_user(tx, "Sten")
        self.project_id = make_project(tx, self.owner, editor=self.editor, viewer=self.viewer)
        self.thread_id = make_thread(tx, self.project_id, self.owner, "first message")

    def by_role(self) -> dict[str, Actor]:
        return {"owner": self.owner, "editor": self.editor, "viewer": self.viewer, "stranger": self.stranger}


async def list_inbox(services: Services, actor: Actor, project_id: str | None = None) -> list[InboxItem]:
    """Everything that waits for somebody."""
    return (await read_inbox(services, actor, project_id, 1_000, None)).items
