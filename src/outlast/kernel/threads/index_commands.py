"""`outlast rebuild-search`: the search index, directly in the database."""

from outlast.db.database import Database
from outlast.kernel.cli.admin import in_database
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import ON_DATA
from outlast.kernel.cli.session import read_settings
from outlast.kernel.cli.terminal import print_result
from outlast.kernel.threads import search_index as search

app = Commands(ON_DATA)


@app.verb("rebuild-search", "outlast rebuild-search --data-dir /var/lib/outlast", "rebuild")
def rebuild() -> None:
    """Rebuild the search index of titles and messages.

    Nothing else changes. The server can keep running meanwhile."""
    entries = in_database(read_settings(), _rebuild)
    print_result({"entries": entries}, f"The search index has {entries:,} entries.")


async def _rebuild(database: Database) -> int:
    """Rebuild a few threads at a time; returns the number of entries."""
    await database.write(search.mend_index)
    total, after = 0, ""
    while True:
        next_id, added = await database.write(search.rebuild, after)
        total += added
        if next_id is None:
            return total
        after = next_id
