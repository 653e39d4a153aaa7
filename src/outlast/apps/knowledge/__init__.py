"""Documentation that agents look things up in.

A *source* is where text comes from (an address, a file, a package, a person's text). It is fetched, cut into *passages*
and stored in the database, for all projects (from the configuration) or for one. A *hit* is a passage, or a module that
an agent saved, that a search found. Search goes by words (BM25, always there) and by vectors of an *embedder*,
where one is configured: `search.py` says how the two meet. Indexes live in memory, are made from the database, and can
be thrown away at any time.
"""

from outlast.apps.knowledge.settings import KnowledgeSettings, RerankSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"knowledge": KnowledgeSettings, "rerank": RerankSettings}
COMMANDS = (CommandGroup("docs", f"{__name__}.commands", "Documentation that agents search", WORK),)
