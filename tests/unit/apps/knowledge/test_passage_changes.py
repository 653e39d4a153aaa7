"""Which passages stay, move, come and go when a source is read anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from outlast.apps.knowledge.passage_changes import Contents, exchange
from outlast.apps.knowledge.passages import Cut
from outlast.apps.knowledge.rows import KnowledgePassageRow
from outlast.apps.knowledge.source_documents import Document, Reading

texts = some.lists(some.sampled_from("abcdef"), max_size=12)


def cuts(words: list[str]) -> list[Cut]:
    return [Cut("H", word, f"u#{word}") for word in words]


def stored(words: list[str]) -> list[KnowledgePassageRow]:
    return [
        KnowledgePassageRow(f"psg_{at}", "src_1", "tracker", "1", at, one.heading, one.body, one.url, one.hash)
        for at, one in enumerate(cuts(words))
    ]


def contents(words: list[str]) -> Contents:
    return Contents(Reading(documents=[Document(url="u", text="")]), {"u": cuts(words)}, "1")


@given(texts, texts)
def test_carried_out_it_gives_the_new_passages_with_as_many_old_ids_as_can_stay(
    before: list[str], after: list[str]
) -> None:
    old = stored(before)
    plan = exchange(3, old, contents(after))
    by_id = {one.id: one for one in old if one.id not in plan.removed}
    places = {one.id: one.position for one in by_id.values()} | {one: at for one, at, _ in plan.moved}
    result = {at: by_id[one].body for one, at in places.items()} | {at: cut.body for at, _, cut in plan.added}
    assert [result[at] for at in sorted(result)] == after
    assert sorted(result) == list(range(len(after)))
    assert len(by_id) == sum(min(before.count(word), after.count(word)) for word in set(before))
    assert (plan.revision, plan.passages) == (3, len(after))
    assert plan.changes == (before != after)


def test_a_document_that_was_not_read_anew_keeps_its_passages() -> None:
    old = stored(["a", "b"])
    kept = Contents(Reading(documents=[Document(url="u", text=None)]), {}, "1")
    assert exchange(1, old, kept).changes is False
    gone = Contents(Reading(documents=[Document(url="v", text="")]), {"v": [Cut("H", "a", "v")]}, "1")
    plan = exchange(1, old, gone)
    assert plan.removed == ["psg_1"]
    assert plan.moved == [("psg_0", 0, "v")]
