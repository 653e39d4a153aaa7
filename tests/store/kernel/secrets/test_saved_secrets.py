"""Saved secrets in the database: whose value applies, and what is never shown."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.secret_errors import SecretUnreadable
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.store import add_user
from outlast.kernel.projects.store import add_project
from outlast.kernel.secrets import store
from outlast.kernel.secrets.keyring import Keyring
from outlast.kernel.secrets.prompt import secrets_addition, secrets_text
from outlast.kernel.secrets.saved_secrets import SavedSecrets, for_its_hosts
from outlast.kernel.secrets.tables import secret_values, secrets
from outlast.kernel.secrets.vault import Vault
from outlast_sandbox.egress.rules import Policy, SecretRule
from outlast_sandbox.egress.secrets import OperatorSecrets
from outlast_sandbox.host_patterns import parse_pattern

VAULT = Vault(Keyring([b"k" * 32]))


@dataclass
class Desk:
    db: Database
    ada: str
    grace: str
    project_id: str
    other_project_id: str

    async def add(self, project_id: str | None, value: str | None, name: str = "KEY") -> str:
        def change(tx: Tx) -> str:
            secret_id = store.add(tx, project_id, name, ["api.example"], self.ada)
            assert secret_id is not None
            if value is not None:
                store.put_value(tx, VAULT, secret_id, value)
            return secret_id

        return await self.db.write(change)

    async def value(self, user_id: str | None, name: str = "KEY", project_id: str = "") -> str | None:
        async def configured(user_id: str | None, project_id: str, name: str) -> str | None:
            return f"the operator's {name}"

        look_up = SavedSecrets(self.db, VAULT, configured, ["CONFIGURED"])
        return await look_up(user_id, project_id or self.project_id, name)


@pytest.fixture
async def desk(db: Database) -> Desk:
    def fill(tx: Tx) -> Desk:
        ada, grace = add_user(tx, "Ada", "unlimited"), add_user(tx, "Grace", "unlimited")
        return Desk(db, ada, grace, add_project(tx, ada, "One"), add_project(tx, grace, "Two"))

    return await db.write(fill)


async def test_a_persons_own_value_goes_before_that_for_everybody(desk: Desk) -> None:
    secret_id = await desk.add(desk.project_id, "everybody's")
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "first")
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "Ada's")
    assert [await desk.value(user) for user in (desk.ada, desk.grace, None)] == ["Ada's", "everybody's", "everybody's"]
    await desk.db.write(store.remove_own_value, secret_id, desk.ada)
    assert await desk.value(desk.ada) == "everybody's"


async def test_a_secret_without_a_value_for_everybody_is_nobody_elses(desk: Desk) -> None:
    secret_id = await desk.add(desk.project_id, None)
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "Ada's")
    assert [await desk.value(user) for user in (desk.ada, desk.grace, None)] == ["Ada's", None, None]


async def test_a_projects_secret_goes_before_the_servers_and_no_further(desk: Desk) -> None:
    await desk.add(None, "the server's")
    await desk.add(desk.project_id, "the project's")
    assert await desk.value(desk.ada) == "the project's"
    assert await desk.value(desk.ada, project_id=desk.other_project_id) == "the server's"
    assert [one.name for one in await desk.db.read(store.hosts_of, desk.project_id, None)] == ["KEY"]


async def test_a_name_that_is_neither_saved_nor_configured_has_no_value(desk: Desk) -> None:
    """Above all not that of the server's environment variable of this name."""
    secret_id = await desk.add(desk.project_id, "mine", "HOME_KEY")
    await desk.db.write(store.remove, secret_id)
    assert await desk.value(desk.ada, "HOME_KEY") is None
    assert await desk.value(desk.ada, "CONFIGURED") == "the operator's CONFIGURED"


async def test_a_name_is_taken_once_for_a_project_and_once_for_the_server(desk: Desk) -> None:
    for project_id in (desk.project_id, None):
        await desk.add(project_id, None)
        assert await desk.db.write(store.add, project_id, "KEY", ["api.example"], desk.ada) is None


async def test_other_hosts_forget_what_people_entered_for_the_earlier_ones(desk: Desk) -> None:
    secret_id = await desk.add(desk.project_id, None)
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "Ada's")
    await desk.db.write(store.change_hosts, secret_id, ["other.example"])
    assert await desk.value(desk.ada) is None


async def test_a_value_that_is_moved_to_another_person_does_not_open(desk: Desk) -> None:
    secret_id = await desk.add(desk.project_id, None)
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "Ada's")
    await desk.db.write(lambda tx: tx.update(secret_values, {"user_id": desk.ada}, user_id=desk.grace))
    with pytest.raises(SecretUnreadable):
        await desk.value(desk.grace)


async def test_no_value_is_in_the_database(desk: Desk) -> None:
    secret_id = await desk.add(desk.project_id, "hush-hush")
    await desk.db.write(store.put_own_value, VAULT, secret_id, desk.ada, "hush-hush")

    def sealed(tx: Tx) -> str:
        found = [tx.execute(sa.select(column)).scalar() for column in (secrets.c.sealed, secret_values.c.sealed)]
        return str(found)

    assert "hush" not in await desk.db.read(sealed)


async def test_agents_with_a_sandbox_are_told_names_and_hosts_and_no_values(desk: Desk) -> None:
    assert await desk.db.read(secrets_text, desk.project_id, desk.ada) is None
    await desk.add(desk.project_id, "hush-hush", "LINEAR_API_KEY")
    told = await desk.db.read(secrets_text, desk.project_id, desk.ada)
    assert told is not None
    assert "\n- LINEAR_API_KEY: api.example" in told
    assert "hush" not in told
    addition = secrets_addition(lambda name: name == "chat")
    run = SimpleNamespace(project_id=desk.project_id, profile="chat", started_by=desk.ada)
    context: Any = SimpleNamespace(run=run)

    def text(tx: Tx) -> str | None:
        context.tx = tx
        return addition.text(context)

    assert await desk.db.read(text) == told
    run.profile = "digest"  # it has no sandbox
    assert await desk.db.read(text) is None


async def test_a_persons_own_secret_is_used_in_their_runs_of_every_project_and_by_no_one_else(desk: Desk) -> None:
    await desk.add(desk.project_id, "the project's")

    def own(tx: Tx) -> None:
        secret_id = store.add(tx, None, "KEY", ["ada.example"], desk.ada, desk.ada)
        assert secret_id is not None
        store.put_value(tx, VAULT, secret_id, "Ada's")
        assert store.add(tx, None, "KEY", ["ada.example"], desk.ada, desk.ada) is None

    await desk.db.write(own)
    assert [await desk.value(user) for user in (desk.ada, desk.grace, None)] == [
        "Ada's",
        "the project's",
        "the project's",
    ]
    assert await desk.value(desk.ada, project_id=desk.other_project_id) == "Ada's"
    hosts = [await desk.db.read(store.hosts_of, desk.project_id, user) for user in (desk.ada, desk.grace)]
    assert [one.hosts for (one,) in hosts] == [["ada.example"], ["api.example"]]
    listed = [await desk.db.read(store.list_secrets, user, desk.project_id) for user in (desk.ada, desk.grace)]
    assert [[one.is_own for one in found] for found in listed] == [[True, False], [False]]
    assert [await desk.db.read(store.names_in, *key) for key in ((None,), (None, desk.ada))] == [[], ["KEY"]]


async def test_a_value_never_goes_to_the_hosts_of_another_secret_of_its_name(desk: Desk) -> None:
    """A sandbox that started in a run of Ada's has the rule of her own secret; a run of Grace's in it would send the
    project's value to Ada's host."""
    await desk.add(desk.project_id, "the project's")
    rules = {
        host: Policy(secrets=(SecretRule("KEY", (parse_pattern(host),)),)) for host in ("ada.example", "api.example")
    }

    async def value(host: str, user_id: str) -> str | None:
        saved = SavedSecrets(desk.db, VAULT, OperatorSecrets({}), [])
        return await for_its_hosts(desk.db, saved, rules[host], [])(user_id, desk.project_id, "KEY")

    def own(tx: Tx) -> None:
        store.put_value(tx, VAULT, store.add(tx, None, "KEY", ["ada.example"], desk.ada, desk.ada) or "", "Ada's")

    await desk.db.write(own)
    assert (await value("ada.example", desk.ada), await value("ada.example", desk.grace)) == ("Ada's", None)
    assert (await value("api.example", desk.ada), await value("api.example", desk.grace)) == (None, "the project's")
