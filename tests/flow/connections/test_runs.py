"""Runs that need a person's account: whose is used, renewal of tokens, and runs that wait until it is connected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.connection_errors import ConnectionNeeded, SignInFailed
from outlast.db.database import Database
from outlast.kernel.accounts.tables import users
from outlast.kernel.connections import actions, store
from outlast.kernel.connections.account_tokens import Account, AccountTokens
from outlast.kernel.connections.tables import connections, sign_ins
from outlast.kernel.inbox.actions import read_inbox
from outlast.kernel.mcp import actions as mcp
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.sandboxes.egress.actions import list_secret_uses
from outlast.testing.scripted_model import Call, turn
from tests.factories import join, make_thread, make_user
from tests.flow.connections.test_sign_in import World, world
from tests.flow.harness import told_last
from tests.flow.mcp.test_runs import ALL_USES, allow_all

WHOAMI = Call("tracker__whoami", {})
CREATE = Call("tracker__create_issue", {"title": "No light"})


async def connected(it: World) -> None:
    """The owner is connected, and agents may call all tools."""
    await it.connect()
    await allow_all(it.it, await mcp.list_tools(it.it.services, it.it.owner, it.server_id))


async def lost(it: World) -> None:
    """As `connected`, but the owner has disconnected."""
    await connected(it)
    await actions.disconnect(it.it.services, it.it.owner, it.server_id)


def account_of(it: World) -> Account:
    return Account(it.it.owner.user_id, it.server_id, "tracker")


async def echo(access: str) -> str:
    return access


async def test_each_run_uses_the_account_of_the_person_who_started_it(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, [turn(WHOAMI), turn("Ana."), turn(WHOAMI), turn("Ben.")]) as it:
        await connected(it)
        ben = await db.write(make_user, "Ben")
        await db.write(join, it.it.project_id, ben, "editor")
        await it.connect(ben, user="ben")
        await it.it.ended((await it.it.start()).run_id)
        thread_id = await db.write(make_thread, it.it.project_id, ben)
        await it.it.ended((await it.it.start(actor=ben, target=thread_id)).run_id)
        assert it.server.calls == [("whoami", {"user": "ana"}), ("whoami", {"user": "ben"})]
        assert told_last(it.it.model.requests[3]) == ["You are ben."]
        (mine,) = await it.accounts()
        assert mine.last_used_at is not None
        uses = (await list_secret_uses(it.it.services, it.it.owner, it.it.project_id, **ALL_USES)).items
        assert {(one.secret, one.mcp_server) for one in uses} == {("", "tracker")}
        assert uses[0].user_id == ben.user_id
        assert uses[-1].user_id == it.it.owner.user_id


async def test_a_run_without_an_account_waits_and_goes_on_once_the_person_connects(
    db: Database, tmp_path: Path
) -> None:
    """Two calls of one turn ask once; another run of the same person that waits goes on too."""
    turns = [turn(WHOAMI, Call("tracker__find", {"text": "x"})), turn(WHOAMI), turn("Done."), turn("Done.")]
    async with world(db, tmp_path, turns) as it:
        await lost(it)
        first = await it.it.start()
        asked = (await it.it.until(first.run_id, "question.asked"))["data"]["question"]
        account = {"server_id": it.server_id, "server": "tracker", "host": "127.0.0.1", "user_id": it.it.owner.user_id}
        assert asked["account"] == account
        assert asked["questions"][0]["options"] == ["Continue without it"]
        await it.it.until_status(first.run_id, "awaiting_approval")
        thread_id = await db.write(make_thread, it.it.project_id, it.it.owner)
        second = await it.it.start(target=thread_id)
        await it.it.until_status(second.run_id, "awaiting_approval")
        (one, other) = (await read_inbox(it.it.services, it.it.owner, None, 10, None)).items
        assert {one.run_id, other.run_id} == {first.run_id, second.run_id}
        assert "Connect your account on tracker (127.0.0.1)?" in one.text
        assert it.server.calls == []

        await it.connect()
        assert await it.it.ended(first.run_id) == await it.it.ended(second.run_id) == "completed"
        assert sorted(name for name, _ in it.server.calls) == ["find", "whoami", "whoami"]
        events = await it.it.events(first.run_id)
        (answered,) = [one["data"] for one in events if one["event"] == "question.answered"]
        assert (answered["answers"], answered["by"]) == ({"answer": "Connected"}, it.it.owner.user_id)


async def test_a_person_may_go_on_without_and_the_model_reads_it(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, [turn(WHOAMI), turn("Then not.")]) as it:
        await lost(it)
        started = await it.it.start()
        asked = (await it.it.until(started.run_id, "question.asked"))["data"]["question"]
        await answer_question(it.it.services, it.it.owner, asked["id"], {"answer": "Continue without it"})
        assert await it.it.ended(started.run_id) == "completed"
        (text,) = told_last(it.it.model.requests[1])
        assert text.startswith("The person did not connect their account on tracker, so the tool was not called.")
        assert it.server.calls == []


async def test_an_approval_comes_before_the_account_and_the_call_is_made_once(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path, [turn(CREATE), turn("Created.")]) as it:
        await lost(it)
        started = await it.it.start()
        approval = (await it.it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.it.services, it.it.owner, approval["id"], "approve")
        await it.it.until(started.run_id, "question.asked")
        await it.connect()
        assert await it.it.ended(started.run_id) == "completed"
        assert it.server.calls == [("create_issue", {"title": "No light"})]


async def test_an_account_that_was_revoked_meanwhile_is_asked_for_again_and_no_call_is_made_twice(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path, [turn(WHOAMI), turn("Ana.")]) as it:
        await connected(it)
        it.auth.revoke_all()
        started = await it.it.start()
        await it.it.until(started.run_id, "question.asked")
        assert [one.state for one in await it.accounts()] == ["lost"]
        with pytest.raises(ConnectionNeeded):
            await mcp.refresh_tools(it.it.services, it.it.owner, it.server_id)
        await it.connect()
        assert await it.it.ended(started.run_id) == "completed"
        assert it.server.calls == [("whoami", {"user": "ana"})]


async def test_a_question_asked_while_the_account_is_being_connected_is_answered(db: Database, tmp_path: Path) -> None:
    """The transaction that connects may not see a question that is being asked: the asker looks again."""
    async with world(db, tmp_path, [turn(WHOAMI), turn("Ana.")]) as it:
        await connected(it)
        tokens = it.it.services.accounts
        use = tokens.use

        async def late(account: Account, work: Any) -> Any:
            tokens.use = use  # type: ignore[method-assign]
            raise ConnectionNeeded("not yet")  # it was connected after this

        tokens.use = late  # type: ignore[method-assign]
        assert await it.it.ended((await it.it.start()).run_id) == "completed"
        assert it.server.calls == [("whoami", {"user": "ana"})]


async def test_fifty_calls_renew_an_old_token_once_also_in_two_processes(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        await connected(it)
        it.auth.expire_all()
        services = it.it.services
        other = AccountTokens(db, services.vault, services.accounts.oauth, services.clock)
        await db.write(lambda tx: tx.execute(sa.update(connections).values(expires_at=tx.now)))
        got: list[str] = []

        async def call(tokens: AccountTokens) -> None:
            got.append(await tokens.use(account_of(it), echo))

        async with anyio.create_task_group() as group:
            for _ in range(25):
                group.start_soon(call, services.accounts)
                group.start_soon(call, other)
        assert (len(got), len(set(got)), it.auth.renewals) == (50, 1, 1)
        assert it.auth.subject_of(got[0]) is not None


async def test_a_token_that_the_server_refuses_is_renewed_once_before_the_call_is_made(
    db: Database, tmp_path: Path
) -> None:
    async with world(db, tmp_path, [turn(CREATE), turn("Created.")]) as it:
        await connected(it)
        it.auth.expire_all()
        started = await it.it.start()
        approval = (await it.it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.it.services, it.it.owner, approval["id"], "approve")
        assert await it.it.ended(started.run_id) == "completed"
        assert it.server.calls == [("create_issue", {"title": "No light"})]
        assert it.auth.renewals == 1


async def test_tokens_that_a_crash_lost_after_the_server_gave_them_end_in_connecting_again(
    db: Database, tmp_path: Path
) -> None:
    """The other process died with the answer in its hands: its claim lapses, and the used refresh token is refused."""
    async with world(db, tmp_path) as it:
        await connected(it)
        tokens, account = it.it.services.accounts, account_of(it)
        row = await db.read(store.find, account.user_id, account.server_id)
        assert row is not None
        assert await db.write(store.claim, row, "dead", store.USED_PRECISION)
        await tokens.oauth.renew(tokens.grant_of(row), it.it.services.clock.now())  # never committed
        await db.write(lambda tx: tx.execute(sa.update(connections).values(expires_at=tx.now, claimed_until=tx.now)))
        with pytest.raises(ConnectionNeeded):
            await tokens.use(account, echo)
        asked = len(it.auth.forms)
        with pytest.raises(ConnectionNeeded):
            await tokens.use(account, echo)
        assert len(it.auth.forms) == asked
        await it.connect()
        assert await tokens.use(account, echo)


async def test_a_sign_in_server_that_is_down_loses_no_account(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        await connected(it)
        await db.write(lambda tx: tx.execute(sa.update(connections).values(expires_at=tx.now)))
        it.auth.is_down = True
        with pytest.raises(SignInFailed):
            await it.it.services.accounts.use(account_of(it), echo)
        assert [one.state for one in await it.accounts()] == ["connected"]
        it.auth.is_down = False
        assert await it.it.services.accounts.use(account_of(it), echo)
        assert it.auth.renewals == 1


async def test_a_renewal_that_ends_after_the_person_connected_again_is_not_kept(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        await connected(it)
        tokens, account = it.it.services.accounts, account_of(it)
        row = await db.read(store.find, account.user_id, account.server_id)
        assert row is not None
        assert await db.write(store.claim, row, "slow", store.USED_PRECISION)
        issued = await tokens.oauth.renew(tokens.grant_of(row), it.it.services.clock.now())
        await it.connect()
        assert not await db.write(store.renew, it.it.services.vault, row, "slow", issued)
        assert it.auth.subject_of(await tokens.use(account, echo)) is not None


async def test_a_connection_goes_with_its_server_and_with_its_user(db: Database, tmp_path: Path) -> None:
    async with world(db, tmp_path) as it:
        ben = await db.write(make_user, "Ben")
        await db.write(join, it.it.project_id, ben, "editor")
        await it.connect()
        await it.connect(ben, user="ben")
        await it.begin(ben)
        await db.write(lambda tx: tx.execute(sa.delete(users).where(users.c.id == ben.user_id)))
        rows = await db.read(lambda tx: tx.execute(sa.select(connections.c.user_id)).scalars().all())
        assert rows == [it.it.owner.user_id]
        assert await db.read(lambda tx: tx.execute(sa.select(sign_ins)).all()) == []
        await mcp.remove_server(it.it.services, it.it.owner, it.server_id)
        assert await db.read(lambda tx: tx.execute(sa.select(connections)).all()) == []
