"""Mentions in both databases."""

from __future__ import annotations

import pytest

from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.mentions import store
from outlast.kernel.mentions.store import Where
from outlast.kernel.projects import store as projects
from outlast.kernel.threads import store as threads
from tests.factories import Team, say


def where(tx: Tx, team: Team, text: str) -> Where:
    """A message of the owner's."""
    message_id = say(tx, team.thread_id, team.owner, text)
    by = team.owner.user_id
    return Where(team.project_id, "message", message_id, text, by, thread_id=team.thread_id)


async def test_members_are_found_by_name_and_only_of_this_project(db: Database) -> None:
    team, other = await db.write(Team), await db.write(Team)
    named = await db.read(store.named_in, team.project_id, "@emil, @Vera and @Sten?", ())
    assert named.users == (team.editor.user_id, team.viewer.user_id)
    picked = [other.editor.user_id, team.editor.user_id]
    assert (await db.read(store.named_in, team.project_id, "hello", picked)).users == (team.editor.user_id,)


async def test_everybody_is_told_once_of_a_place_and_nobody_of_their_own_words(db: Database) -> None:
    def run(tx: Tx) -> tuple[list[str | None], int, list[str]]:
        team = Team(tx)
        here = where(tx, team, "hello\n@all")
        users = [team.editor.user_id, team.owner.user_id, team.editor.user_id]
        first, again = store.tell(tx, here, users), store.tell(tx, here, [*users, team.viewer.user_id])
        ((_, item),) = store.waiting(tx, team.editor.user_id, team.project_id)
        return ([one.user_id for one in first], len(again), [item.text, item.by_name or "", item.thread_title or ""])

    told, again, item = await db.write(run)
    assert (len(told), again) == (1, 1)
    assert item == ["hello @all", "Olga", "first message"]


async def test_what_was_read_waits_no_more_and_is_no_news_twice(db: Database) -> None:
    def run(tx: Tx) -> list[int]:
        team = Team(tx)
        emil = team.editor.user_id
        for text in ("one", "two", "three"):
            store.tell(tx, where(tx, team, text), [emil])
        items = [item for _, item in store.waiting(tx, emil, None)]
        assert store.anything_waits(tx, emil, thread_id=team.thread_id)
        store.mention_of(tx, items[0].id, emil)
        with pytest.raises(NotFound):
            store.mention_of(tx, items[0].id, team.owner.user_id)
        seen = [
            store.read(tx, emil, mention_id=items[0].id),
            store.read(tx, emil, mention_id=items[0].id),
            store.read(tx, team.owner.user_id, thread_id=team.thread_id),
            store.read(tx, emil, thread_id=team.thread_id),
        ]
        assert not store.anything_waits(tx, emil, thread_id=team.thread_id)
        return [len(news) for news in seen]

    assert await db.write(run) == [1, 0, 0, 1]


async def test_whoever_is_no_longer_named_or_no_longer_a_member_has_nothing_waiting(db: Database) -> None:
    def run(tx: Tx) -> list[int]:
        team = Team(tx)
        emil, vera = team.editor.user_id, team.viewer.user_id
        here = where(tx, team, "one")
        store.tell(tx, here, [emil, vera])
        news = store.withdraw(tx, "message", here.source_id, keep=[vera])
        left = [len(store.waiting(tx, user, None)) for user in (emil, vera)]
        projects.remove_member(tx, team.project_id, vera)
        return [len(news), *left, len(store.waiting(tx, vera, None))]

    assert await db.write(run) == [1, 0, 1, 0]


async def test_a_thread_that_is_deleted_takes_its_mentions_along(db: Database) -> None:
    def run(tx: Tx) -> tuple[int, int]:
        team = Team(tx)
        store.tell(tx, where(tx, team, "one"), [team.editor.user_id])
        threads.delete_thread(tx, team.thread_id)
        waiting = [item for _, item in store.waiting(tx, team.editor.user_id, None)]
        return len(waiting), len(store.forget(tx, "thread_id", team.thread_id))

    assert await db.write(run) == (0, 0)
