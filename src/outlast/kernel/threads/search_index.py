"""Full-text search over titles and messages, archived threads included: a derived table that `rebuild` recreates.

Titles and messages are cut into plain words here, in one way for both databases: lower case, without accents, a word
per ideograph. A row of `search_entries` contains the words of one message (its position) or of a title (position 0),
and a mark for the project that no typed word can equal. The index over the words is an FTS5 table on SQLite and a GIN
index over a tsvector on PostgreSQL; `_matches` handles the difference. All words must match, each as a prefix.
"""

import re
import unicodedata
from typing import Final

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.threads.rows import MessageRow, ThreadRow
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.shapes import Match
from outlast.kernel.threads.tables import messages, search_entries, threads

MAX_TEXT_CHARS: Final = 100_000  # of one message; PostgreSQL holds at most 1 MB of words in a row
MAX_WORD_CHARS: Final = 60
MAX_QUERY_WORDS: Final = 12
SNIPPET_BEFORE: Final = 40
SNIPPET_CHARS: Final = 160
TITLE: Final = 0  # the position of a title's row
# Compiled at the first use, which takes milliseconds.
_WORD: Final = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
REBUILD_THREADS: Final = 20  # in one transaction
_REBUILD_PAGE: Final = 500


def words_of(text: str) -> list[str]:
    """The words of a text in reading order, as they are indexed."""
    return [word[:MAX_WORD_CHARS] for word in re.findall(_WORD, _plain(text[:MAX_TEXT_CHARS]))]


def put_words(tx: Tx, thread_id: str, project_id: str, position: int, text: str) -> None:
    """Index a new message, or a new thread's title (position 0)."""
    tx.insert(search_entries, thread_id=thread_id, position=position, words=_entry(project_id, text))


def replace_words(tx: Tx, thread_id: str, project_id: str, position: int, text: str) -> None:
    """Index a message, or a thread's title (position 0), with new words."""
    tx.update(search_entries, {"thread_id": thread_id, "position": position}, words=_entry(project_id, text))


def set_title(tx: Tx, thread_id: str, project_id: str, title: str) -> None:
    """Set a thread's title, and index it."""
    tx.update(threads, {"id": thread_id}, title=title)
    replace_words(tx, thread_id, project_id, TITLE, title)


def move_words(tx: Tx, thread_id: str, position: int, to: int) -> None:
    """Index a message at its new position."""
    tx.update(search_entries, {"thread_id": thread_id, "position": position}, position=to)


def copy_words(tx: Tx, from_thread_id: str, to_thread_id: str, upto: int) -> None:
    """Index a fork's messages with the words of their originals."""
    source = search_entries.alias()
    copied = source.c.thread_id == from_thread_id, source.c.position.between(TITLE + 1, upto)
    rows = sa.select(sa.literal(to_thread_id), source.c.position, source.c.words).where(*copied)
    tx.execute(sa.insert(search_entries).from_select(["thread_id", "position", "words"], rows))


def matching_threads(tx: Tx, project_id: str, query: str) -> sa.Subquery | None:
    """The threads that a query finds: `thread_id`, `first` and `last` position of a hit. None if the query has no
    words."""
    words = words_of(query)[:MAX_QUERY_WORDS]
    if not words:
        return None
    found = sa.select(
        search_entries.c.thread_id,
        sa.func.min(search_entries.c.position).label("first"),
        sa.func.max(search_entries.c.position).label("last"),
    ).where(_matches(tx, project_id, words))
    return found.group_by(search_entries.c.thread_id).subquery("found")


def matches_in_thread(tx: Tx, project_id: str, thread_id: str, words: list[str], first: int, limit: int) -> list[int]:
    """The positions, from `first` on, of the thread's messages with all these words; at most `limit`, the newest."""
    mine = search_entries.c.thread_id == thread_id, search_entries.c.position >= max(first, TITLE + 1)
    found = sa.select(search_entries.c.position).where(*mine, _matches(tx, project_id, words))
    return list(tx.execute(found.order_by(search_entries.c.position.desc()).limit(limit)).scalars())


def match_in(tx: Tx, thread_id: str, title: str, first: int, last: int, query: str) -> Match:
    """The match to show for a found thread: its title if that matched, else the newest matching message."""
    wanted = words_of(query)
    if first == TITLE:
        return Match(snippet=snippet(title, wanted), message_id=None)
    row = tx.find(MessageRow, messages, {"thread_id": thread_id, "position": last})
    if row is None:
        return Match(snippet="", message_id=None)
    return Match(snippet=snippet(text_of(row.parts), wanted), message_id=row.id)


def snippet(text: str, wanted: list[str]) -> str:
    """The text around the first word that begins with a wanted one, on one line, with … where it was cut. Reads at most
    `MAX_TEXT_CHARS` of the text."""
    text = text[:MAX_TEXT_CHARS]
    begins = tuple(wanted)
    words = ((at.start(), words_of(at.group())) for at in re.finditer(r"\w+", text))
    found = (start for start, parts in words if any(part.startswith(begins) for part in parts))
    start = max(next(found, 0) - SNIPPET_BEFORE, 0)
    while start and start < len(text) and not text[start - 1].isspace():
        start += 1
    cut = " ".join(text[start : start + SNIPPET_CHARS].split())
    return ("… " if start else "") + cut + (" …" if start + SNIPPET_CHARS < len(text) else "")


def mend_index(tx: Tx) -> None:
    """Make SQLite's index consistent with `search_entries` again, also after damage; PostgreSQL does this by itself.
    Call it before `rebuild`."""
    if tx.conn.dialect.name == "sqlite":
        tx.execute(sa.text("INSERT INTO search_words(search_words) VALUES ('rebuild')"))


def rebuild(tx: Tx, after: str = "", limit: int = REBUILD_THREADS) -> tuple[str | None, int]:
    """Recreate the entries of the next `limit` threads, in the order of their ids, from their titles and messages.
    Returns the id to continue `after` (None if all are done) and the number of entries. Safe to repeat. Writers wait
    for one such slice only; meanwhile searches find everything."""
    page = tx.rows(
        ThreadRow,
        sa.select(threads)
        .where(threads.c.id > after)
        .order_by(threads.c.id)
        .limit(limit)
        .with_for_update(key_share=True),  # a message that comes during this is indexed afterwards
    )
    count = 0
    for row in page:
        tx.execute(sa.delete(search_entries).where(search_entries.c.thread_id == row.id))
        count += _index_thread(tx, row.id, row.project_id, row.title)
    return (page[-1].id if len(page) == limit else None), count


def _index_thread(tx: Tx, thread_id: str, project_id: str, title: str) -> int:
    put_words(tx, thread_id, project_id, TITLE, title)
    count, last = 1, 0
    while True:
        after = sa.select(messages).where(messages.c.thread_id == thread_id, messages.c.position > last)
        page = tx.rows(MessageRow, after.order_by(messages.c.position).limit(_REBUILD_PAGE))
        if not page:
            return count
        for row in page:
            put_words(tx, thread_id, project_id, row.position, text_of(row.parts))
        count, last = count + len(page), page[-1].position


def _matches(tx: Tx, project_id: str, words: list[str]) -> sa.ColumnElement[bool]:
    """The condition for rows with the project's mark and, for each word, a word that begins with it: the only query
    that differs between the databases. Words contain only letters and digits, so they cannot break either syntax."""
    mark = _mark(project_id)
    if tx.conn.dialect.name == "sqlite":
        asked = " AND ".join([f'"{mark}"', *(f'"{word}"*' for word in words)])
        rows = sa.text("SELECT rowid FROM search_words WHERE search_words MATCH :asked").bindparams(asked=asked)
        return search_entries.c.id.in_(rows.columns(sa.column("rowid", sa.Integer)))
    from sqlalchemy.dialects.postgresql import TSQUERY  # a server on SQLite does not load that dialect

    asked = " & ".join([f"'{mark}'", *(f"'{word}':*" for word in words)])
    vector = sa.func.array_to_tsvector(sa.func.string_to_array(search_entries.c.words, sa.literal_column("' '")))
    return vector.op("@@")(sa.cast(sa.cast(sa.literal(asked), sa.Text), TSQUERY))


def _entry(project_id: str, text: str) -> str:
    return " ".join([_mark(project_id), *sorted(set(words_of(text)))])


def _mark(project_id: str) -> str:
    return "·" + project_id.partition("_")[2]


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(c for c in folded if not "\u0300" <= c <= "\u036f"))
