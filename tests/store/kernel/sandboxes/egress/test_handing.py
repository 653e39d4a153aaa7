"""Hosts and secrets that are handed to a provider which watches over the way out itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.egress.delegated import HandedOver
from outlast.kernel.sandboxes.egress.store import user_of
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.sandboxes.store import SandboxRecord, add
from outlast.kernel.sandboxes.tables import workspaces
from outlast.kernel.secrets import store
from outlast.kernel.secrets.keyring import load_keyring
from outlast.kernel.secrets.saved_secrets import SavedSecrets
from outlast.kernel.secrets.vault import Vault
from outlast_sandbox.interface import SandboxSpec, WireSecret
from tests.factories import Team

SETTINGS = SandboxSettings(
    allow_hosts=("plain.example.com",),
    dependencies=(
        DependencySettings("npm:a", secret_env="API_KEY", hosts=("api.example.com", "api2.example.com")),
        DependencySettings("npm:b", secret_env="API_KEY", hosts=("api.example.com", "more.example.com")),
        DependencySettings("npm:c", secret_env="UNSET_KEY", hosts=("other.example.com",)),
        DependencySettings("npm:d", hosts=("open.example.com",)),
    ),
)
asked: list[tuple[str | None, str, str]] = []


async def lookup(user_id: str | None, project_id: str, name: str) -> str | None:
    asked.append((user_id, project_id, name))
    return "a secret value" if name == "API_KEY" else None


@pytest.fixture
async def row(db: Database) -> SandboxRecord:
    """The sandbox of a thread that the owner made."""

    def make(tx: Tx) -> SandboxRecord:
        team, workspace_id = Team(tx), new_id("workspace")
        owner = {"owner_type": "thread", "owner_id": team.thread_id, "project_id": team.project_id}
        moments = {"created_at": tx.now, "last_used_at": tx.now}
        tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **moments))
        return add(tx, workspace_id, team.project_id, "deno", "local")

    return await db.write(make)


async def test_hosts_are_named_and_secrets_go_to_theirs_only(db: Database, row: SandboxRecord, tmp_path: Path) -> None:
    asked.clear()
    spec = await HandedOver(db, SETTINGS, lookup=lookup).prepare(row, SandboxSpec("sbx_1", tmp_path))
    assert spec.allow_hosts == (
        "plain.example.com",
        "api.example.com",
        "api2.example.com",
        "more.example.com",
        "other.example.com",
        "open.example.com",
    )
    hosts = ("api.example.com", "api2.example.com", "more.example.com")
    assert spec.secrets == {"API_KEY": WireSecret(hosts, "a secret value")}
    assert {name for _, _, name in asked} == {"API_KEY", "UNSET_KEY"}
    assert {(user is not None, project) for user, project, _ in asked} == {(True, row.project_id)}


async def test_the_value_is_in_no_text_of_the_spec(db: Database, row: SandboxRecord, tmp_path: Path) -> None:
    spec = await HandedOver(db, SETTINGS, lookup=lookup).prepare(row, SandboxSpec("sbx_1", tmp_path))
    assert "a secret value" not in repr(spec)
    assert not spec.egress


async def test_the_operators_variables_are_asked_where_nobody_else_is(
    db: Database, row: SandboxRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "the operator's")
    spec = await HandedOver(db, SETTINGS).prepare(row, SandboxSpec("sbx_1", tmp_path))
    assert spec.secrets["API_KEY"].value == "the operator's"


async def test_what_people_saved_for_their_own_runs_is_not_handed_over(
    db: Database, row: SandboxRecord, tmp_path: Path
) -> None:
    vault = Vault(load_keyring(tmp_path, {}))

    def save(tx: Tx) -> None:
        user_id = user_of(tx, row.workspace_id)
        assert user_id is not None
        mine = store.add(tx, None, "MINE", ["mine.example.com"], user_id, user_id)
        taken = store.add(tx, None, "SHARED", ["evil.example.com"], user_id, user_id)
        shared = store.add(tx, row.project_id, "SHARED", ["api.example.com"], user_id)
        each = store.add(tx, row.project_id, "EACH", ["each.example.com"], user_id)
        for secret_id in (mine, taken, shared):
            store.put_value(tx, vault, secret_id or "", f"value of {secret_id == shared}")
        store.put_own_value(tx, vault, shared or "", user_id, "my own value")
        store.put_own_value(tx, vault, each or "", user_id, "my own value")

    await db.write(save)
    values = SavedSecrets(db, vault, lookup, ["API_KEY", "UNSET_KEY"])
    spec = await HandedOver(db, SETTINGS, lookup=values).prepare(row, SandboxSpec("sbx_1", tmp_path))
    assert {name: (one.hosts, one.value) for name, one in spec.secrets.items() if name != "API_KEY"} == {
        "SHARED": (("api.example.com",), "value of True")
    }
    assert not {"mine.example.com", "evil.example.com"} & set(spec.allow_hosts)
