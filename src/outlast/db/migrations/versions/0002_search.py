"""the index over the words of search_entries: FTS5 on SQLite, GIN on PostgreSQL

Runs: before deploy
"""

from alembic import op

revision = "0002"
down_revision = "0001"

# Words are cut in kernel/threads/search.py. `ascii` splits at what is neither an ASCII letter or digit nor beyond ASCII,
# which leaves just the spaces between them; the triggers keep the index in step, also when threads are deleted.
SQLITE = (
    """CREATE VIRTUAL TABLE search_words USING fts5(
        words, content='search_entries', content_rowid='id', tokenize='ascii', detail='none', prefix='2 3'
    )""",
    """CREATE TRIGGER search_entries_added AFTER INSERT ON search_entries BEGIN
        INSERT INTO search_words(rowid, words) VALUES (new.id, new.words);
    END""",
    """CREATE TRIGGER search_entries_removed AFTER DELETE ON search_entries BEGIN
        INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words);
    END""",
    """CREATE TRIGGER search_entries_changed AFTER UPDATE OF words ON search_entries BEGIN
        INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words);
        INSERT INTO search_words(rowid, words) VALUES (new.id, new.words);
    END""",
)
POSTGRESQL = (
    """CREATE INDEX ix_search_entries_words ON search_entries
        USING gin (array_to_tsvector(string_to_array(words, ' ')))""",
)


def upgrade() -> None:
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)
