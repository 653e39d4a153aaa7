"""From an event of a run to the program that receives it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from aiohttp import web

from outlast.base.errors import Forbidden, MalformedInput, NotFound
from outlast.base.webhook_errors import TooManyWebhooks, WebhookOff
from outlast.db.database import Database
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.webhooks import actions
from outlast.kernel.webhooks.shapes import WebhookChanges, WebhookRequest
from outlast.kernel.webhooks.tables import deliveries, webhooks
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, turn
from tests.factories import join, make_user
from tests.flow.webhooks.receiver import Received, receiving
from tests.flow.webhooks.rig import RUN_EVENTS, sending


def names(requests: list[Received]) -> list[str]:
    return [one.event["type"] for one in requests]


async def test_the_events_of_a_run_arrive_signed_and_in_order(db: Database, tmp_path: Path) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [turn("Hello.")], to=[receiver]) as it:
        made = await it.add(receiver.url)
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        received = await receiver.until_accepted(3)
        assert names(received) == RUN_EVENTS
        assert all(one.is_signed_with(made.secret) for one in received)
        assert not received[0].is_signed_with("whsec_bm90IHRoaXMgb25l")
        last = received[-1].event
        assert set(last) == {"type", "timestamp", "data"}
        assert last["data"]["run_id"] == started.run_id
        assert last["data"]["thread_id"] == it.thread_id
        assert last["data"]["link"].endswith(f"/threads/{it.thread_id}")
        found = await it.until_all(made.id, "delivered")
        assert [(one.tries, one.last_status, one.reason) for one in found] == [(1, 204, None)] * 3


async def test_a_project_without_webhooks_and_events_that_were_not_chosen_leave_nothing(
    db: Database, tmp_path: Path
) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [turn("One."), turn("Two.")], to=[receiver]) as it:
        await it.ended((await it.start()).run_id)
        assert await db.read(lambda tx: tx.execute(sa.select(deliveries.c.id)).all()) == []
        made = await it.add(receiver.url, ["run.error"])
        await it.ended((await it.start()).run_id)
        assert await it.deliveries(made.id) == []


async def test_an_approval_is_sent_and_its_decision_too(db: Database, tmp_path: Path) -> None:
    chosen = ["approval.requested", "approval.resolved", "run.completed"]
    turns = [turn(Call("write", {"path": "a" * 50_000})), turn("Done.")]
    async with receiving() as receiver, sending(db, tmp_path, turns, FakeTool("write"), to=[receiver]) as it:
        object.__setattr__(it.services.settings, "policy", (PolicyRule(tool="write", decision="ask"),))
        await it.add(receiver.url, chosen)
        started = await it.start()
        (asked,) = await receiver.until_accepted(1)
        approval = asked.event["data"]["approval"]
        assert approval["tool"] == "write"
        assert len(asked.body) <= 20_000
        assert asked.event["data"]["truncated"] is True
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        await it.ended(started.run_id)
        assert names(await receiver.until_accepted(3)) == chosen


async def test_what_fails_is_tried_again_and_holds_up_only_what_is_about_the_same(db: Database, tmp_path: Path) -> None:
    fails = {"left": 3}

    def reply(request: Received) -> web.Response:
        about = request.event["data"].get("run_id")
        if request.event["type"] == "run.queued" and about == first and fails["left"]:
            fails["left"] -= 1
            return web.Response(status=500)
        return web.Response()

    first = ""
    async with (
        receiving(reply) as receiver,
        sending(db, tmp_path, [turn("One."), turn("Two.")], to=[receiver], first_retry_s=0.3) as it,
    ):
        made = await it.add(receiver.url, RUN_EVENTS)
        first = (await it.start()).run_id
        await it.ended(first)
        await it.ended((await it.start()).run_id)
        await receiver.until_accepted(6)
        order = [one.event["data"]["run_id"] for one in receiver.accepted]
        assert order[0] != first, "another run does not wait"
        mine = [one.event["type"] for one in receiver.accepted if one.event["data"]["run_id"] == first]
        assert mine == RUN_EVENTS
        found = await it.until_all(made.id, "delivered")
        assert max(one.tries for one in found) == 4


async def test_what_is_given_up_has_a_reason_and_can_be_replayed(db: Database, tmp_path: Path) -> None:
    status = {"now": 503}
    async with (
        receiving(lambda _one: web.Response(status=status["now"])) as receiver,
        sending(db, tmp_path, [turn("Hello.")], to=[receiver], give_up_after_s=1, first_retry_s=0.6) as it,
    ):
        made = await it.add(receiver.url)
        await it.ended((await it.start()).run_id)
        found = await it.until_all(made.id, "dead")
        assert {one.reason for one in found} == {"The address answered 503."}
        shown = await actions.read_webhook(it.services, it.owner, made.id)
        assert (shown.dead, shown.enabled) == (3, True)
        status["now"] = 200
        again = await actions.replay_delivery(it.services, it.owner, found[0].id)
        assert again.state == "pending"
        assert [one.id for one in await receiver.until_accepted(1)] == [found[0].id], "with the same id"
        replayed = await actions.replay_dead(it.services, it.owner, made.id)
        assert (replayed.replayed, replayed.more) == (2, False)
        await it.until_all(made.id, "delivered")


async def test_an_address_that_is_gone_turns_its_webhook_off(db: Database, tmp_path: Path) -> None:
    async with (
        receiving(lambda _one: web.Response(status=410)) as receiver,
        sending(db, tmp_path, [turn("One."), turn("Two.")], to=[receiver]) as it,
    ):
        made = await it.add(receiver.url)
        await it.ended((await it.start()).run_id)
        await it.until_all(made.id, "dead")
        assert len(receiver.requests) == 1
        shown = await actions.read_webhook(it.services, it.owner, made.id)
        assert not shown.enabled
        assert shown.stopped_because is not None
        assert "410" in shown.stopped_because
        before = len(await it.deliveries(made.id))
        await it.ended((await it.start()).run_id)
        assert len(await it.deliveries(made.id)) == before
        for refused in (actions.test_webhook, actions.replay_dead):
            with pytest.raises(WebhookOff):
                await refused(it.services, it.owner, made.id)
        on = await actions.change_webhook(it.services, it.owner, made.id, WebhookChanges(enabled=True))
        assert on.stopped_because is None


async def test_a_redirect_is_not_followed(db: Database, tmp_path: Path) -> None:
    async with receiving() as inside:

        def reply(_request: Received) -> web.Response:
            return web.Response(status=301, headers={"Location": inside.url})

        async with receiving(reply) as receiver, sending(db, tmp_path, [], to=[receiver, inside]) as it:
            made = await it.add(receiver.url)
            await actions.test_webhook(it.services, it.owner, made.id)
            (found,) = await it.until(made.id, lambda found: found[0].tries > 1)
            assert found.reason == "The address answered 301, a redirect. Redirects are not followed."
            assert inside.requests == []


async def test_a_slow_address_is_left_in_time_and_its_long_answer_is_not_read(db: Database, tmp_path: Path) -> None:
    async def slow(_request: Received) -> web.Response:
        await anyio.sleep(30)
        return web.Response()

    async with receiving(slow) as receiver, sending(db, tmp_path, [], to=[receiver], timeout_s=0.2) as it:
        made = await it.add(receiver.url)
        await actions.test_webhook(it.services, it.owner, made.id)
        (found,) = await it.until(made.id, lambda found: found[0].reason is not None)
        assert found.reason == "The address did not answer within 0.2 s."
    long = lambda _one: web.Response(body=b"x" * 5_000_000)  # noqa: E731
    async with receiving(long) as receiver, sending(db, tmp_path, [], to=[receiver]) as it:
        made = await it.add(receiver.url)
        await actions.test_webhook(it.services, it.owner, made.id)
        (found,) = await it.until_all(made.id, "delivered")
        assert found.tries == 1


async def test_a_rotated_secret_signs_beside_the_old_one(db: Database, tmp_path: Path) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [], to=[receiver]) as it:
        made = await it.add(receiver.url)
        rotated = await actions.rotate_webhook_secret(it.services, it.owner, made.id)
        assert rotated.secret != made.secret
        await actions.test_webhook(it.services, it.owner, made.id)
        (received,) = await receiver.until_accepted(1)
        assert received.is_signed_with(made.secret)
        assert received.is_signed_with(rotated.secret)
        rows = await db.read(lambda tx: str(tx.execute(sa.select(webhooks)).all()))
        assert made.secret not in rows
        assert rotated.secret not in rows


async def test_a_private_address_is_refused_and_a_name_that_leads_to_one_too(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [], to=[]) as it:
        for url in (
            receiver.url,
            f"http://[::ffff:127.0.0.1]:{receiver.port}/",
            f"http://2130706433:{receiver.port}/",
            f"http://127.1:{receiver.port}/",
            "http://169.254.169.254/latest/meta-data",
            "http://user:word@example.com/",
            "file:///etc/passwd",
            "https://",
        ):
            with pytest.raises(MalformedInput):
                await it.add(url)
        made = await it.add(f"http://localhost:{receiver.port}/hooks")  # a name: judged when it is resolved
        await actions.test_webhook(it.services, it.owner, made.id)
        (found,) = await it.until(made.id, lambda found: found[0].reason is not None)
        assert found.reason == "The address belongs to a private network."
        assert receiver.requests == []


async def test_owners_only_and_within_the_limit(db: Database, tmp_path: Path) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [], to=[receiver], most_per_project=1) as it:
        editor, stranger = await db.write(make_user, "Edda"), await db.write(make_user, "Sten")
        await db.write(join, it.project_id, editor, "editor")
        made = await it.add(receiver.url)
        for actor, error in ((editor, Forbidden), (stranger, NotFound)):
            with pytest.raises(error):
                await actions.read_webhook(it.services, actor, made.id)
        with pytest.raises(TooManyWebhooks):
            await it.add(receiver.url)
        for events in (["run.nothing"], ["text.delta"]):
            wanted = WebhookRequest(url=receiver.url, events=events)
            with pytest.raises(MalformedInput):
                await actions.create_webhook(it.services, it.owner, it.project_id, wanted)
        await actions.test_webhook(it.services, it.owner, made.id)
        await actions.delete_webhook(it.services, it.owner, made.id)
        with pytest.raises(NotFound):
            await actions.read_webhook(it.services, it.owner, made.id)
        assert await db.read(lambda tx: tx.execute(sa.select(deliveries.c.id)).all()) == []
