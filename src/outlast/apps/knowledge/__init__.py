"""Documentation for agents to search.

A *source* is the origin of a text (an address, a file, a package, a person's text). It is fetched, cut into *passages*
and stored in the database, for all projects (from the configuration) or for one. A *hit* is a passage, or a module that
an agent saved, in the result of a search. Search uses words (BM25, always available) and vectors of an *embedder*,
if one is configured: `search.py` combines the two. Indexes are in memory, derived from the database, and can
be dropped at any time.
"""

from outlast.apps.knowledge.settings import KnowledgeSettings, MemorySettings, RerankSettings
from outlast.kernel.cli.command_group import WORK, CommandGroup

SETTINGS = {"knowledge": KnowledgeSettings, "rerank": RerankSettings, "memory": MemorySettings}
COMMANDS = (
    CommandGroup("docs", f"{__name__}.commands", "Documentation that agents search", WORK),
    CommandGroup("memories", f"{__name__}.memories.commands", "What agents remember", WORK),
)
